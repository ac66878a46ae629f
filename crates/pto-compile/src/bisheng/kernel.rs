//! Kernel sources to a library that callers load.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::{Core, Target};

use super::flags::{Flags, strings};
use super::options::{CheckedOptions, CompileOptions};
use super::{BishengError, words};
use crate::cann::Toolchain;
use crate::plan::{GeneratedFile, Plan, Purpose, Step};

/// A kernel to be built with bisheng.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BishengRequest {
    /// `a2a3` or `a5`.
    pub target: Target,
    /// Which cores the kernel runs on.
    pub core: Core,
    /// The library becomes `lib<name>.so`.
    pub name: String,
    /// Kernel sources. With the generated ones at least one.
    pub sources: Vec<PathBuf>,
    /// Generated kernel sources, compiled as well: a file name in `out_dir`, and the text.
    pub generated: Vec<(String, String)>,
    /// A source of the host side that launches the kernels, where it is a file of its own; mix kernels often have one.
    pub launcher: Option<PathBuf>,
    /// Where outputs go.
    pub out_dir: PathBuf,
    /// What holds for every compile.
    pub options: CompileOptions,
}

/// A kernel library as the linker sees it: `-L<dir> -l<name>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLibrary {
    /// The directory it lies in.
    pub dir: PathBuf,
    /// Its name without `lib` and `.so`.
    pub name: String,
}

impl KernelLibrary {
    /// `lib<name>.so`.
    pub fn file_name(&self) -> String {
        format!("lib{}.so", self.name)
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.dir.join(self.file_name())
    }

    pub(super) fn link_words(&self) -> Result<[String; 2], BishengError> {
        words::check_name(&self.name)?;
        Ok([format!("-L{}", words::path(&self.dir)?), format!("-l{}", self.name)])
    }
}

impl BishengRequest {
    /// The library that the plan ends with, and that callers load.
    pub fn library(&self) -> KernelLibrary {
        KernelLibrary { dir: self.out_dir.clone(), name: self.name.clone() }
    }

    fn generated_files(&self) -> Vec<GeneratedFile> {
        let file =
            |(name, text): &(String, String)| GeneratedFile { path: self.out_dir.join(name), text: text.clone() };
        self.generated.iter().map(file).collect()
    }

    /// The library with the kernels alone: another one only if a launcher is linked to it.
    fn kernels(&self) -> KernelLibrary {
        let name = if self.launcher.is_some() { format!("{}_kernels", self.name) } else { self.name.clone() };
        KernelLibrary { dir: self.out_dir.clone(), name }
    }
}

/// The commands that build the kernel.
///
/// # Errors
/// The target is not built with bisheng, there is nothing to build, or a name, path or definition cannot be passed.
pub fn kernel_plan(cx: &Context, request: &BishengRequest, toolchain: &Toolchain) -> Result<Plan, BishengError> {
    let options = request.options.checked(request.target)?;
    let flags = Flags::new(request.target, &options, toolchain)?;
    words::check_name(&request.name)?;
    let generated = request.generated_files();
    let sources: Vec<PathBuf> =
        request.sources.iter().chain(generated.iter().map(|file| &file.path)).cloned().collect();
    if sources.is_empty() {
        return Err(BishengError::NoSources { name: request.name.clone() });
    }
    let builder =
        Builder { request, sources: &sources, options: &options, flags: &flags, program: &toolchain.bisheng.path };
    let mut steps = match request.target {
        Target::A5 => builder.objects_then_link()?,
        _ => vec![builder.one_step()?],
    };
    if let Some(launcher) = &request.launcher {
        steps.extend(builder.launcher(cx, launcher)?);
    }
    Ok(Plan { generated, steps, notes: toolchain.notes() })
}

struct Builder<'a> {
    request: &'a BishengRequest,
    /// The user's and the generated ones.
    sources: &'a [PathBuf],
    options: &'a CheckedOptions,
    flags: &'a Flags<'a>,
    program: &'a Path,
}

impl Builder<'_> {
    fn one_step(&self) -> Result<Step, BishengError> {
        let mut args = self.flags.device(self.request.core)?;
        for source in self.sources {
            args.push(words::input(source)?);
        }
        let library = self.request.kernels().path();
        args.extend(["-o".to_owned(), words::path(&library)?]);
        args.extend(self.options.link_words_after_sources());
        Ok(self.step(Purpose::KernelLibrary, args, self.sources.to_vec(), library))
    }

    fn objects_then_link(&self) -> Result<Vec<Step>, BishengError> {
        let mut steps = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            // The index keeps two sources of one name in two directories apart.
            let object = self.request.out_dir.join(format!("{}.{index}.o", self.request.name));
            let args = compile_words(self.flags.device(self.request.core)?, source, &object)?;
            steps.push(self.step(Purpose::KernelObject, args, vec![source.clone()], object));
        }
        let objects = steps.iter().flat_map(|step| step.outputs.clone()).collect();
        steps.push(self.link_kernels(objects)?);
        Ok(steps)
    }

    fn link_kernels(&self, objects: Vec<PathBuf>) -> Result<Step, BishengError> {
        let library = self.request.kernels();
        let mut args = strings(["-fPIC", "-shared", "--cce-fatobj-link"]);
        args.push(format!("-Wl,-soname,{}", library.file_name()));
        for object in &objects {
            args.push(words::input(object)?);
        }
        args.extend(["-o".to_owned(), words::path(&library.path())?]);
        args.extend(self.options.link_words());
        Ok(self.step(Purpose::LinkKernels, args, objects, library.path()))
    }

    fn launcher(&self, cx: &Context, source: &Path) -> Result<[Step; 2], BishengError> {
        let object = self.request.out_dir.join(format!("{}.launcher.o", self.request.name));
        let args = compile_words(self.flags.host(), source, &object)?;
        let compile = self.step(Purpose::LauncherObject, args, vec![source.to_path_buf()], object.clone());

        let (kernels, library) = (self.request.kernels(), self.request.library().path());
        let mut args = strings(["-shared"]);
        args.push(words::input(&object)?);
        args.extend(["-o".to_owned(), words::path(&library)?]);
        args.extend(kernels.link_words()?);
        args.push("-lstdc++".to_owned());
        args.extend(words::rpath(cx, &[&kernels.dir])?);
        args.extend(self.options.link_words());
        Ok([compile, self.step(Purpose::LinkLauncher, args, vec![object, kernels.path()], library)])
    }

    fn step(&self, purpose: Purpose, args: Vec<String>, inputs: Vec<PathBuf>, output: PathBuf) -> Step {
        let (program, env) = (self.program.to_path_buf(), Default::default());
        Step { purpose, program, args, env, inputs, outputs: vec![output] }
    }
}

/// `... -c source -o object`.
pub(super) fn compile_words(mut words: Vec<String>, source: &Path, object: &Path) -> Result<Vec<String>, BishengError> {
    words.extend(["-c".to_owned(), words::input(source)?, "-o".to_owned(), words::path(object)?]);
    Ok(words)
}
