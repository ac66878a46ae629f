//! The launcher of a `__global__` function, generated: `global = "vec_add_kernel"` in place of `entry`.
//!
//! It takes what the manifest's signature says in that order, by default `block_dim`, `stream`, then the arguments, so a
//! generated launcher and a user's own are called in the same way. The kernel gets the arguments alone. Buffers arrive as
//! `void *` and are cast to the kernel's own parameter types, which are read from its declaration. One extra kernel
//! parameter whose name contains `ffts` is the address that cores of a mix kernel synchronize through on A2 and A3; the
//! launcher asks the runtime for it. All three targets compile the same text.

use std::fmt::Write as _;
use std::path::Path;

use crate::KernelError;
use crate::manifest::{Entry, Manifest, SignatureItem};
use crate::signature::{LauncherDecl, compare};
use crate::source::{Function, Param, Source, TypeClass};

/// A generated launcher.
#[derive(Debug, Clone)]
pub struct GeneratedLauncher<'a> {
    /// Its symbol: `call_` and the kernel's name.
    pub symbol: String,
    /// The source that defines the kernel.
    pub source: &'a Source,
    /// Lines that have to stand before the kernel's source.
    pub prologue: String,
    /// The launcher's definition, to stand after the kernel's source.
    pub definition: String,
}

impl GeneratedLauncher<'_> {
    /// A source that includes the kernel's own and adds the launcher. Messages of the compiler keep pointing into the
    /// user's file. For compilers that know `<<<...>>>`, as an included file is compiled as it is.
    pub fn including(&self, absolute: &Path) -> String {
        format!("{}#include {}\n\n{}", self.prologue, quote(absolute), self.definition)
    }

    /// The kernel's source text with the launcher behind it, for a compiler to which launches are rewritten first.
    /// `#line` keeps messages pointing into the user's file.
    pub fn appended_to_source(&self) -> String {
        let (file, text) = (quote(self.source.path()), self.source.text());
        format!("{}#line 1 {file}\n{text}\n#line 1 \"launcher of {}\"\n{}", self.prologue, self.symbol, self.definition)
    }
}

/// A path as a C string literal.
fn quote(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

/// Generates the launcher of the manifest's `global`, which one of `sources` has to define.
///
/// # Errors
/// No source defines the kernel; its parameters do not fit the manifest's arguments; it is a template and its arguments
/// are not given; a parameter is neither a pointer nor a number.
pub fn generate<'a>(manifest: &Manifest, sources: &'a [Source]) -> Result<Option<GeneratedLauncher<'a>>, KernelError> {
    let Entry::Global(written) = &manifest.entry else { return Ok(None) };
    let (source, kernel) = find(manifest, written, sources)?;
    let instance = instantiate(written, source, kernel)?;
    if !manifest.launch.signature.contains(&SignatureItem::BlockDim) {
        let problem = "`signature` lacks `block_dim`".to_owned();
        return Err(refuse(source, kernel, problem, "add `block_dim` to `signature`, or leave `signature` out"));
    }
    let call = call_arguments(manifest, source, &instance)?;
    let symbol = symbol(kernel, sources);
    Ok(Some(GeneratedLauncher {
        definition: definition(manifest, &symbol, &instance, &call),
        prologue: prologue(&call),
        source,
        symbol,
    }))
}

/// A kernel with its template parameters replaced.
struct Instance {
    /// What is launched, `ns::k<half>`.
    callee: String,
    decl: LauncherDecl,
}

fn find<'a>(
    manifest: &Manifest,
    written: &str,
    sources: &'a [Source],
) -> Result<(&'a Source, &'a Function), KernelError> {
    let path = written.split('<').next().unwrap_or(written).trim().trim_start_matches("::");
    let kernels = || sources.iter().flat_map(|source| source.kernels().map(move |kernel| (source, kernel)));
    // A definition tells more than a declaration before it; an exact path is better than the bare name.
    let rank = |kernel: &Function| (kernel.qualified == path, kernel.body.is_some());
    let named = kernels().filter(|(_, kernel)| kernel.qualified == path || kernel.name == path);
    named.max_by_key(|(_, kernel)| rank(kernel)).ok_or_else(|| KernelError::NoFunction {
        what: "`__global__` function",
        name: path.to_owned(),
        sources: manifest.sources.first().cloned().unwrap_or_default(),
        known: kernels().map(|(_, kernel)| kernel.qualified.clone()).collect(),
    })
}

fn instantiate(written: &str, source: &Source, kernel: &Function) -> Result<Instance, KernelError> {
    let given = template_arguments(written);
    let required = kernel.template.iter().filter(|param| !param.has_default).count();
    if given.len() < required || given.len() > kernel.template.len() {
        let list: Vec<&str> = kernel.template.iter().map(|param| param.text.as_str()).collect();
        let problem = match list.as_slice() {
            [] => format!("it is no template, and `global` gives {} arguments", given.len()),
            list => format!("it is a template of `{}`, and `global` gives {} arguments", list.join(", "), given.len()),
        };
        let help = format!("write for example `global = \"{}<half>\"` for a kernel over one type", kernel.name);
        return Err(refuse(source, kernel, problem, &help));
    }
    let replacements: Vec<(&str, &str)> =
        kernel.template.iter().zip(&given).map(|(param, arg)| (param.name.as_str(), arg.as_str())).collect();
    let params = kernel.params.iter().map(|param| param.substituted(&replacements)).collect();
    let arguments = if given.is_empty() { String::new() } else { format!("<{}>", given.join(", ")) };
    let decl = LauncherDecl { name: kernel.name.clone(), path: source.path().to_path_buf(), line: kernel.line, params };
    Ok(Instance { callee: format!("{}{arguments}", kernel.qualified), decl })
}

/// The template arguments of `k<half, f<1, 2>>`, split at the outer commas.
fn template_arguments(written: &str) -> Vec<String> {
    let Some((_, list)) = written.split_once('<') else { return Vec::new() };
    let list = list.trim().strip_suffix('>').unwrap_or(list);
    let (mut depth, mut args) = (0_i32, vec![String::new()]);
    for c in list.chars() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        match args.last_mut() {
            Some(last) if c != ',' || depth != 0 => last.push(c),
            _ => args.push(String::new()),
        }
    }
    args.iter().map(|arg| arg.trim().to_owned()).filter(|arg| !arg.is_empty()).collect()
}

/// What the kernel is called with, in its order.
enum CallArgument {
    Item(SignatureItem, Param),
    Ffts(Param),
}

fn call_arguments(manifest: &Manifest, source: &Source, instance: &Instance) -> Result<Vec<CallArgument>, KernelError> {
    let passed = |item: &&SignatureItem| matches!(item, SignatureItem::Arg(_));
    let mut items: Vec<SignatureItem> = manifest.launch.signature.iter().filter(passed).cloned().collect();
    let mut decl = instance.decl.clone();
    let ffts = (decl.params.len() == items.len() + 1).then(|| decl.params.iter().position(is_ffts)).flatten();
    let ffts = ffts.map(|index| (index, decl.params.remove(index)));
    compare(manifest, &items, &decl)?;
    let mut call: Vec<CallArgument> =
        items.drain(..).zip(decl.params).map(|(item, param)| CallArgument::Item(item, param)).collect();
    for argument in &call {
        let CallArgument::Item(_, param) = argument else { continue };
        if param.class == TypeClass::Other {
            return Err(KernelError::Launcher {
                path: source.path().to_path_buf(),
                line: instance.decl.line,
                kernel: instance.decl.name.clone(),
                problem: format!("its parameter `{}` is neither a pointer nor a number", param.ty),
                help: "write an `extern \"C\"` launcher and name it as `entry`".to_owned(),
            });
        }
    }
    if let Some((index, param)) = ffts {
        call.insert(index, CallArgument::Ffts(param));
    }
    Ok(call)
}

fn is_ffts(param: &Param) -> bool {
    param.name.as_deref().is_some_and(|name| name.to_ascii_lowercase().contains("ffts"))
}

/// `call_` and the kernel's name, unless the user has a function of that name already.
fn symbol(kernel: &Function, sources: &[Source]) -> String {
    let taken = |name: &str| sources.iter().flat_map(Source::functions).any(|function| function.name == name);
    let mut symbol = format!("call_{}", kernel.name);
    while taken(&symbol) {
        symbol.insert_str(0, "ptokit_");
    }
    symbol
}

fn prologue(call: &[CallArgument]) -> String {
    let mut text = "#include <stdint.h>\n".to_owned();
    if call.iter().any(|argument| matches!(argument, CallArgument::Ffts(_))) {
        text.push_str("#include \"runtime/rt_ffts.h\"\n");
    }
    text
}

fn definition(manifest: &Manifest, symbol: &str, instance: &Instance, call: &[CallArgument]) -> String {
    let type_of = |item: &SignatureItem| {
        call.iter().find_map(|argument| match argument {
            CallArgument::Item(found, param) if found == item => Some(param),
            _ => None,
        })
    };
    let params = manifest.launch.signature.iter().map(|item| match (item, type_of(item)) {
        (SignatureItem::BlockDim, _) => "uint32_t block_dim".to_owned(),
        (SignatureItem::Stream, _) => "void *stream".to_owned(),
        (item, Some(Param { class: TypeClass::Integer { .. } | TypeClass::Float { .. }, ty, .. })) => {
            format!("{ty} {}", argument_name(manifest, item))
        }
        (item, _) => format!("void *{}", argument_name(manifest, item)),
    });
    let mut text = format!("extern \"C\" void {symbol}({})\n{{\n", params.collect::<Vec<_>>().join(", "));
    if call.iter().any(|argument| matches!(argument, CallArgument::Ffts(_))) {
        text.push_str("    uint64_t ffts = 0;\n    uint32_t ffts_length = 0;\n");
        text.push_str("    rtGetC2cCtrlAddr(&ffts, &ffts_length);\n");
    }
    let args = call.iter().map(|argument| match argument {
        CallArgument::Ffts(param) => format!("({})ffts", param.ty),
        CallArgument::Item(item, Param { class: TypeClass::Pointer { .. }, ty, .. }) => {
            format!("({ty}){}", argument_name(manifest, item))
        }
        CallArgument::Item(item, _) => argument_name(manifest, item),
    });
    let args = args.collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "    {}<<<block_dim, nullptr, stream>>>({args});\n}}", instance.callee);
    text
}

/// The prefix keeps an argument from hiding the kernel, and from being a keyword.
fn argument_name(manifest: &Manifest, item: &SignatureItem) -> String {
    format!("arg_{}", manifest.item_name(item))
}

fn refuse(source: &Source, kernel: &Function, problem: String, help: &str) -> KernelError {
    KernelError::Launcher {
        path: source.path().to_path_buf(),
        line: kernel.line,
        kernel: kernel.qualified.clone(),
        problem,
        help: help.to_owned(),
    }
}
