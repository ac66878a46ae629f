//! The text of an adopted manifest.

use std::fmt::Write as _;

use pto_golden::Expr;
use pto_platform::{Core, Target};

use super::Adopted;
use super::guess::{self, Guess, Role};
use super::macros;
use crate::manifest::{BLOCK_DIM, CORE_COUNTS, Check, Dir, MARK, STREAM, is_identifier};
use crate::source::{Function, Source};

/// Longer names are not kept; expressions have a greatest length.
const LONGEST_NAME: usize = 100;

/// The size of a dynamic dim until its author says better.
const FIRST_SIZE: i64 = 1024;

/// The value of a macro until its author says better: as a tile's extent it fits, and is whole in every dtype.
const FIRST_STATIC: i64 = 64;

pub(super) fn render(source: &Source, file: &str, function: &Function) -> Adopted {
    let is_global = function.is_global;
    let args = arguments(function, guess::roles(source, function, !is_global));
    let mut out = Writer::default();
    kernel(&mut out, source, file, function);
    let macros = static_dims(source);
    dims(&mut out, &args, &macros);
    for arg in &args {
        argument(&mut out, arg, &args);
    }
    launch(&mut out, source, function, &args);
    golden(&mut out, &args);
    cases(&mut out, &args, &macros);
    let checks = Check::all(&out.text);
    Adopted { entry: function.qualified.clone(), is_global, text: out.text, checks }
}

/// A parameter under the name it has in the manifest.
struct Argument {
    name: String,
    role: Role,
}

impl Argument {
    /// The dim that an integer parameter hands over.
    fn dim(&self) -> Option<&str> {
        match &self.role {
            // Sizes do not come in 8 bits; switches do.
            Role::Scalar { dtype } if !dtype.value.is_float() && dtype.value.bits() > 8 => Some(&self.name),
            _ => None,
        }
    }

    fn has_dir(&self, wanted: fn(Dir) -> bool) -> bool {
        matches!(&self.role, Role::Tensor { dir, .. } if wanted(dir.value))
    }
}

fn arguments(function: &Function, roles: Vec<Role>) -> Vec<Argument> {
    let mut args: Vec<Argument> = Vec::with_capacity(roles.len());
    for (index, (param, role)) in function.params.iter().zip(roles).enumerate() {
        let mut name = match (&role, &param.name) {
            (Role::BlockDim, _) => BLOCK_DIM.to_owned(),
            (Role::Stream, _) => STREAM.to_owned(),
            (_, Some(name)) if is_identifier(name) && name.len() <= LONGEST_NAME => name.clone(),
            // Nameless, or named as no expression could name it: no suffix would make that name free.
            _ => format!("arg{index}"),
        };
        if matches!(role, Role::Tensor { .. } | Role::Scalar { .. }) {
            while !is_free(&name) || args.iter().any(|arg| arg.name == name) {
                name.push('_');
            }
        }
        args.push(Argument { name, role });
    }
    args
}

/// Whether a name has no meaning of its own, in the manifest or in expressions.
fn is_free(name: &str) -> bool {
    let reserved = [BLOCK_DIM, STREAM, "targets"].contains(&name) || CORE_COUNTS.contains(&name);
    let is_name = |expr: Expr| expr.names().iter().map(String::as_str).eq([name]);
    !reserved && is_identifier(name) && Expr::parse(name).is_ok_and(is_name)
}

fn kernel(out: &mut Writer, source: &Source, file: &str, function: &Function) {
    out.section("[kernel]");
    out.line("name", &quote(kernel_name(file, function)), None);
    out.line("summary", &quote(""), Some("say in one line what it computes"));
    let core = guess::core(source);
    out.guess("core", &quote(core.value.name()), &core);
    out.line("sources", &format!("[{}]", quote(file)), None);
    if function.is_global {
        let check = (!function.template.is_empty()).then_some("it is a template: add its arguments, `k<half>`");
        out.line("global", &quote(&function.qualified), check);
    } else {
        out.line("entry", &quote(&function.name), None);
    }
    let targets = guess::targets(source);
    let names: Vec<String> = targets.value.iter().copied().map(Target::name).map(quote).collect();
    out.guess("targets", &format!("[{}]", names.join(", ")), &targets);
}

/// The function's name without the verb it begins with; the file's if that says nothing.
fn kernel_name<'a>(file: &'a str, function: &'a Function) -> &'a str {
    let verbs = ["call_", "launch_", "run_", "do_"];
    let name = verbs.iter().find_map(|verb| function.name.strip_prefix(verb)).unwrap_or(&function.name);
    let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let says_something = |name: &&str| !matches!(*name, "" | "call" | "kernel" | "launch" | "run");
    [name, stem, "kernel"]
        .into_iter()
        .map(|name| name.trim_start_matches(|c: char| !c.is_ascii_alphabetic()))
        .filter(|name| is_identifier(name))
        .find(says_something)
        .unwrap_or("kernel")
}

/// The macros that the compiler has to be told, as the dims that stand for them.
fn static_dims(source: &Source) -> Vec<(String, String)> {
    let dim = |name: String| (name.to_ascii_lowercase(), name);
    macros::undefined(source)
        .into_iter()
        .map(dim)
        .filter(|(dim, _)| dim.len() <= LONGEST_NAME && is_free(dim))
        .collect()
}

fn dims(out: &mut Writer, args: &[Argument], macros: &[(String, String)]) {
    out.section("[dims]");
    for (dim, name) in macros {
        out.line(dim, &FIRST_STATIC.to_string(), Some(&format!("the source uses {name}, which it does not define")));
    }
    for dim in args.iter().filter_map(Argument::dim).filter(|dim| !is_static(macros, dim)) {
        out.line(dim, "\"dynamic\"", Some("write a number if the source needs a fixed one"));
    }
}

fn is_static(macros: &[(String, String)], dim: &str) -> bool {
    macros.iter().any(|(name, _)| name == dim)
}

fn argument(out: &mut Writer, arg: &Argument, args: &[Argument]) {
    match &arg.role {
        Role::BlockDim | Role::Stream => {}
        Role::Tensor { dir, dtype } => {
            out.section("[[arg]]");
            out.line("name", &quote(&arg.name), None);
            out.guess("dir", &quote(dir.value.name()), dir);
            out.guess("dtype", &quote(dtype.value.name()), dtype);
            let extent = args.iter().find_map(Argument::dim).map_or_else(|| FIRST_SIZE.to_string(), quote);
            out.line("shape", &format!("[{extent}]"), Some("nothing in the source says the shape"));
        }
        Role::Scalar { dtype } => {
            out.section("[[arg]]");
            out.line("name", &quote(&arg.name), None);
            out.guess("scalar", &quote(dtype.value.name()), dtype);
            match (arg.dim(), dtype.value.is_float()) {
                (Some(dim), _) => out.line("value", &quote(dim), None),
                (None, true) => out.line("value", "1.0", Some("which number it gets")),
                (None, false) => out.line("value", "0", Some("which number it gets")),
            }
        }
    }
}

fn launch(out: &mut Writer, source: &Source, function: &Function, args: &[Argument]) {
    out.section("[launch]");
    let cores = match guess::core(source).value {
        Core::Vec => "vector_cores",
        Core::Cube | Core::Mix => "cube_cores",
    };
    let grids: Vec<&str> =
        function.launches.iter().filter_map(|site| site.config.first()).map(String::as_str).collect();
    match grids.as_slice() {
        [grid] if grid.parse::<u32>().is_ok() => {
            out.line("block_dim", grid, None); // the launcher always launches this many
        }
        [grid] if !is_identifier(grid) => {
            let check = format!("the launcher launches `{grid}` blocks");
            out.line("block_dim", &quote(cores), Some(&check));
        }
        _ if !function.is_global && !args.iter().any(|arg| arg.role == Role::BlockDim) => {
            out.line("block_dim", "1", None);
            out.comment("the launcher does not take a number of blocks, it chooses its own");
        }
        _ => out.line("block_dim", &quote(cores), Some("how many blocks the kernel is meant for")),
    }
    let names: Vec<&str> = args.iter().map(|arg| arg.name.as_str()).collect();
    if !function.is_global && !names.starts_with(&[BLOCK_DIM, STREAM]) {
        let quoted: Vec<String> = names.iter().copied().map(quote).collect();
        out.line("signature", &format!("[{}]", quoted.join(", ")), None);
    }
}

fn golden(out: &mut Writer, args: &[Argument]) {
    let input = args.iter().find(|arg| arg.has_dir(Dir::is_input)).map_or("0", |arg| arg.name.as_str());
    let outputs = args.iter().filter(|arg| arg.has_dir(Dir::is_output));
    let entries: Vec<String> = outputs.map(|arg| format!("{} = {}", arg.name, quote(input))).collect();
    out.section("[golden]");
    let check = "what the outputs have to be; or `command = [...]`, or `files = \"...\"`";
    out.line("expr", &format!("{{ {} }}", entries.join(", ")), Some(check));
}

fn cases(out: &mut Writer, args: &[Argument], macros: &[(String, String)]) {
    let dynamic = args.iter().filter_map(Argument::dim).filter(|dim| !is_static(macros, dim));
    let sizes: Vec<String> = dynamic.map(|dim| format!("{dim} = {FIRST_SIZE}")).collect();
    if sizes.is_empty() {
        return;
    }
    out.section("[cases]");
    out.line("list", &format!("[{{ {} }}]", sizes.join(", ")), Some("sizes the kernel is meant for"));
    out.comment("edges = [\"...\"] adds one tile, two tiles, a tail, more tiles than cores, one element");
}

fn quote(text: impl AsRef<str>) -> String {
    toml::Value::from(text.as_ref()).to_string()
}

/// Collects lines.
#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn section(&mut self, header: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(header);
        self.text.push('\n');
    }

    fn guess<T>(&mut self, key: &str, value: &str, guess: &Guess<T>) {
        self.line(key, value, guess.check.as_deref());
    }

    fn line(&mut self, key: &str, value: &str, check: Option<&str>) {
        let _ = write!(self.text, "{key} = {value}");
        if let Some(check) = check {
            let check = check.replace(['\n', '\r'], " ");
            let _ = write!(self.text, "{MARK}{check}");
        }
        self.text.push('\n');
    }

    fn comment(&mut self, text: &str) {
        let _ = writeln!(self.text, "# {text}");
    }
}
