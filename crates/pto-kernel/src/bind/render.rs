//! From a manifest to the text of a package.

use std::fmt::Write as _;
use std::path::PathBuf;

use pto_golden::DType;

use super::BindRequest;
use super::error::BindError;
use crate::manifest::{Arg, ArgKind, Dim, Manifest, ScalarFormula, ScalarType, SignatureItem};

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../templates/bind/", $name))
    };
}

/// Replaces the marks of the templates.
pub(super) struct Render<'a> {
    request: &'a BindRequest<'a>,
    /// The kernel's name as Python can import it.
    pub(super) module: String,
}

impl<'a> Render<'a> {
    pub(super) fn new(request: &'a BindRequest<'a>) -> Result<Self, BindError> {
        for (arg, tensor) in request.manifest.tensors() {
            if numpy_name(tensor.dtype).is_none() {
                return Err(BindError::NoType { arg: arg.name.clone(), dtype: tensor.dtype });
            }
        }
        Ok(Self { request, module: module_name(&request.manifest.name) })
    }

    /// All files with their text.
    pub(super) fn files(&self) -> Vec<(PathBuf, String)> {
        let module = PathBuf::from(&self.module);
        vec![
            ("CMakeLists.txt".into(), self.fill(template!("CMakeLists.txt"))),
            ("src/binding.cpp".into(), self.fill(template!("binding.cpp"))),
            (module.join("__init__.py"), self.fill(template!("init.py"))),
            (module.join("_spec.py"), self.data() + template!("spec.py")),
            (module.join("_acl.py"), self.fill(template!("acl.py"))),
            (format!("run_{}.py", self.module).into(), self.fill(template!("run.py"))),
        ]
    }

    fn manifest(&self) -> &Manifest {
        self.request.manifest
    }

    fn library(&self) -> String {
        self.request.library.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn fill(&self, template: &str) -> String {
        let manifest = self.manifest();
        let summary = manifest.summary.as_deref().unwrap_or(&manifest.name).replace(['\\', '"'], "'");
        let inputs = manifest.tensors().filter(|(_, tensor)| tensor.dir.is_input()).map(|(arg, _)| arg.name.as_str());
        let sizes = manifest.dynamic_dims().map(|dim| format!("{dim}=100")).collect::<Vec<_>>();
        let marks = [
            ("@NAME@", self.module.clone()),
            ("@TARGET@", self.request.target.to_string()),
            ("@SYMBOL@", self.request.symbol.to_owned()),
            ("@LIBRARY@", self.library()),
            ("@SUMMARY@", summary),
            ("@EXAMPLE@", inputs.collect::<Vec<_>>().join(", ")),
            ("@RUN@", sizes.join(" ")),
            ("@DECLARATION@", self.declaration()),
            ("@PARAMETERS@", self.each(parameter)),
            ("@TENSORS@", self.tensors()),
            ("@CALL@", self.call()),
            ("@ARGUMENTS@", self.each(|name, _| format!(", py::arg(\"{name}\")"))),
        ];
        marks.iter().fold(template.to_owned(), |text, (mark, value)| text.replace(mark, value))
    }

    /// Something for each parameter of the launcher but the stream.
    fn each(&self, make: impl Fn(&str, Kind) -> String) -> String {
        let items = self.manifest().launch.signature.iter().filter(|item| **item != SignatureItem::Stream);
        items.map(|item| make(self.manifest().item_name(item), self.kind(item))).collect()
    }

    fn kind(&self, item: &SignatureItem) -> Kind {
        match item {
            SignatureItem::BlockDim => Kind::Scalar(ScalarType::U32),
            SignatureItem::Stream => Kind::Tensor,
            SignatureItem::Arg(index) => match &self.manifest().args[*index].kind {
                ArgKind::Tensor(_) => Kind::Tensor,
                ArgKind::Scalar(scalar) => Kind::Scalar(scalar.dtype),
            },
        }
    }

    /// The launcher as C declares it.
    fn declaration(&self) -> String {
        let parameter = |item: &SignatureItem| match self.kind(item) {
            Kind::Tensor => "void *".to_owned(),
            Kind::Scalar(dtype) => c_type(dtype).to_owned(),
        };
        let parameters: Vec<String> = self.manifest().launch.signature.iter().map(parameter).collect();
        format!("void {}({});", self.request.symbol, parameters.join(", "))
    }

    /// One line for each tensor, in the order in which the launcher takes them.
    fn tensors(&self) -> String {
        let mut text = String::new();
        for (arg, tensor) in self.passed_tensors() {
            let _ = writeln!(
                text,
                "        tensor_of(Spec{{\"{0}\", \"{1}\", {2}, {3}, {4}}}, arg_{0}),",
                arg.name,
                numpy_name(tensor.dtype).unwrap_or_default(),
                tensor.dtype.size(),
                tensor.shape.len(),
                tensor.dir != crate::manifest::Dir::In
            );
        }
        text
    }

    fn passed_tensors(&self) -> impl Iterator<Item = (&Arg, &crate::manifest::TensorArg)> {
        self.manifest().launch.signature.iter().filter_map(|item| match item {
            SignatureItem::Arg(index) => {
                let arg = &self.manifest().args[*index];
                let ArgKind::Tensor(tensor) = &arg.kind else { return None };
                Some((arg, tensor))
            }
            _ => None,
        })
    }

    fn call(&self) -> String {
        let mut tensors = 0;
        let argument = |item: &SignatureItem| match (item, self.kind(item)) {
            (SignatureItem::Stream, _) => "stream".to_owned(),
            (_, Kind::Tensor) => {
                tensors += 1;
                format!("tensors[{}].device", tensors - 1)
            }
            (item, Kind::Scalar(_)) => format!("arg_{}", self.manifest().item_name(item)),
        };
        self.manifest().launch.signature.iter().map(argument).collect::<Vec<_>>().join(", ")
    }

    /// What the package knows of the kernel, as Python has it.
    fn data(&self) -> String {
        let manifest = self.manifest();
        let fixed = manifest.dims.iter().filter_map(|(name, dim)| match dim {
            Dim::Static(length) => Some(format!("\"{name}\": {length}")),
            Dim::Dynamic => None,
        });
        let fixed = fixed.collect::<Vec<_>>().join(", ");
        let dynamic = manifest.dynamic_dims().map(|dim| format!("\"{dim}\"")).collect::<Vec<_>>().join(", ");
        let mut text =
            format!("\"\"\"What kernel.toml says of {}, and how it is computed with.\"\"\"\n\n", manifest.name);
        text += "import ast\nimport math\nfrom fractions import Fraction\n\n";
        let soc = self.request.soc;
        let (symbol, target, library) = (self.request.symbol, self.request.target, self.library());
        let _ = writeln!(
            text,
            "NAME = \"{}\"\nTARGET = \"{target}\"\nLIBRARY = \"{library}\"\nSYMBOL = \"{symbol}\"",
            manifest.name
        );
        let _ =
            writeln!(text, "CORES = {{\"vector_cores\": {}, \"cube_cores\": {}}}", soc.vector_cores, soc.cube_cores);
        let _ = writeln!(text, "STATIC = {{{fixed}}}\nDYNAMIC = [{dynamic}]");
        let _ = writeln!(text, "BLOCK_DIM = {}", quoted(manifest.launch.block_dim.source()));
        text += "# name, direction, type of the elements, extents\nTENSORS = [\n";
        for (arg, tensor) in manifest.tensors() {
            let extents: String = tensor.shape.iter().map(|extent| quoted(extent.source()) + ", ").collect();
            let dtype = numpy_name(tensor.dtype).unwrap_or_default();
            let _ =
                writeln!(text, "    (\"{}\", \"{}\", \"{dtype}\", ({})),", arg.name, tensor.dir, extents.trim_end());
        }
        text += "]\n# name, type, value: a number, or an expression over dims\nSCALARS = [\n";
        for arg in &manifest.args {
            if let ArgKind::Scalar(scalar) = &arg.kind {
                let value = match &scalar.value {
                    ScalarFormula::Expr(expr) => quoted(expr.source()),
                    ScalarFormula::Number(number) => {
                        format!("{number:?}").replace("inf", "math.inf").replace("NaN", "math.nan")
                    }
                };
                let _ = writeln!(text, "    (\"{}\", \"{}\", {value}),", arg.name, scalar.dtype);
            }
        }
        let items = manifest.launch.signature.iter().map(|item| format!("\"{}\"", manifest.item_name(item)));
        let _ = writeln!(text, "]\nSIGNATURE = [{}]", items.collect::<Vec<_>>().join(", "));
        text
    }
}

/// What a parameter of the launcher is.
#[derive(Clone, Copy)]
enum Kind {
    Tensor,
    Scalar(ScalarType),
}

fn parameter(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Tensor => format!(", const py::object &arg_{name}"),
        Kind::Scalar(dtype) => format!(", {} arg_{name}", c_type(dtype)),
    }
}

const fn c_type(dtype: ScalarType) -> &'static str {
    match dtype {
        ScalarType::I8 => "std::int8_t",
        ScalarType::I16 => "std::int16_t",
        ScalarType::I32 => "std::int32_t",
        ScalarType::I64 => "std::int64_t",
        ScalarType::U8 => "std::uint8_t",
        ScalarType::U16 => "std::uint16_t",
        ScalarType::U32 => "std::uint32_t",
        ScalarType::U64 => "std::uint64_t",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
    }
}

/// What NumPy, `ml_dtypes` and torch call a type; all three agree. `None` for types that two of them lack.
const fn numpy_name(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::F16 => "float16",
        DType::Bf16 => "bfloat16",
        DType::F32 | DType::Hf32 => "float32",
        DType::F64 => "float64",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::U32 => "uint32",
        DType::U64 => "uint64",
        DType::Bool => "bool",
        DType::F8E4M3 => "float8_e4m3fn",
        DType::F8E5M2 => "float8_e5m2",
        DType::F8E8M0 | DType::HiF8 | DType::F4E2M1 | DType::F4E1M2 | DType::I4 => return None,
    })
}

/// An expression holds names, numbers and operators, none of which Python or JSON would escape.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Names that a package cannot have: keywords of Python, and modules that Python or NumPy would take for their own (of
/// Python 3.11: `sys.stdlib_module_names`).
const TAKEN: &str = include_str!("taken.txt");

/// The kernel's name as Python can import it.
fn module_name(kernel: &str) -> String {
    let name = kernel.replace('-', "_");
    if TAKEN.split_whitespace().any(|taken| taken == name) { name + "_kernel" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_package_has_a_name_that_python_needs() {
        for (kernel, module) in [
            ("vec-add", "vec_add"),
            ("lambda", "lambda_kernel"),
            ("None", "None_kernel"),
            ("select", "select_kernel"),
            ("numpy", "numpy_kernel"),
            ("Select", "Select"),
        ] {
            assert_eq!(module_name(kernel), module);
        }
    }
}
