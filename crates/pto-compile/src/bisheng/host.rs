//! Host programs: a `main` that launches kernels through ACL, on a device or on the CA model.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::Target;

use super::camodel::Simulator;
use super::flags::Flags;
use super::kernel::{KernelLibrary, compile_words};
use super::options::{CheckedOptions, CompileOptions};
use super::{BishengError, words};
use crate::cann::Toolchain;
use crate::plan::{Plan, Purpose, Step};

/// Libraries behind `-L<cann>/lib64` for a program that runs on a device.
const ACL_LIBRARIES: [&str; 4] = ["-lascendcl", "-ldl", "-lstdc++", "-lpthread"];
/// The same for the CA model: its runtime stands before `libascendcl`, whose calls it has to answer.
const MODEL_LIBRARIES: [&str; 7] =
    ["-lruntime_camodel", "-lstdc++", "-lascendcl", "-lm", "-lc_sec", "-ldl", "-lpthread"];

/// A host program to be built with bisheng.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProgramRequest {
    /// The target of the kernels it launches: headers differ.
    pub target: Target,
    /// The program's file name.
    pub name: String,
    /// Host sources, at least one.
    pub sources: Vec<PathBuf>,
    /// The kernel library to link; `None` for a program that loads it while it runs.
    pub kernel: Option<KernelLibrary>,
    /// What it runs on.
    pub runtime: HostRuntime,
    /// Where outputs go.
    pub out_dir: PathBuf,
    /// What holds for every compile.
    pub options: CompileOptions,
}

/// What a host program runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostRuntime {
    /// A device, through CANN's `libascendcl`.
    Acl,
    /// The cycle-accurate model, linked in; A5 only.
    CaModel(Simulator),
}

/// The commands that build the host program. The kernel library it links is built by a plan of its own: chain them
/// with [`Plan::then`].
///
/// # Errors
/// As for [`super::kernel_plan`], and for the CA model of another target than A5.
pub fn host_program_plan(
    cx: &Context,
    request: &HostProgramRequest,
    toolchain: &Toolchain,
) -> Result<Plan, BishengError> {
    let options = request.options.checked(request.target)?;
    let flags = Flags::new(request.target, &options, toolchain)?;
    words::check_name(&request.name)?;
    if request.sources.is_empty() {
        return Err(BishengError::NoSources { name: request.name.clone() });
    }
    let builder = Builder { cx, request, options: &options, flags: &flags, toolchain };
    let mut notes = toolchain.notes();
    let steps = match &request.runtime {
        HostRuntime::Acl => vec![builder.acl()?],
        HostRuntime::CaModel(_) if request.target != Target::A5 => {
            return Err(BishengError::NoLinkedModel { target: request.target });
        }
        HostRuntime::CaModel(simulator) => {
            notes.extend(simulator.note());
            builder.camodel(simulator)?
        }
    };
    Ok(Plan { steps, notes, ..Plan::default() })
}

struct Builder<'a> {
    cx: &'a Context,
    request: &'a HostProgramRequest,
    options: &'a CheckedOptions,
    flags: &'a Flags<'a>,
    toolchain: &'a Toolchain,
}

impl Builder<'_> {
    fn acl(&self) -> Result<Step, BishengError> {
        let mut args = self.flags.host();
        for source in &self.request.sources {
            args.push(words::input(source)?);
        }
        args.extend(self.link_words(&[], &ACL_LIBRARIES)?);
        args.extend(self.options.link_words_after_sources());
        Ok(self.program(args, self.request.sources.clone()))
    }

    fn camodel(&self, simulator: &Simulator) -> Result<Vec<Step>, BishengError> {
        let mut steps = Vec::new();
        for (index, source) in self.request.sources.iter().enumerate() {
            let object = self.request.out_dir.join(format!("{}.host.{index}.o", self.request.name));
            let args = compile_words(self.flags.host(), source, &object)?;
            steps.push(self.step(Purpose::HostObject, args, vec![source.clone()], object));
        }
        let objects: Vec<PathBuf> = steps.iter().flat_map(|step| step.outputs.clone()).collect();
        let mut args = objects.iter().map(|object| words::input(object)).collect::<Result<Vec<_>, _>>()?;
        args.extend(self.link_words(&[simulator.dir()], &MODEL_LIBRARIES)?);
        args.extend(self.options.link_words());
        steps.push(self.program(args, objects));
        Ok(steps)
    }

    /// `-o program -L... -l... -Wl,-rpath,...`: kernel library, CANN, then `further` directories.
    fn link_words(&self, further: &[&Path], libraries: &[&str]) -> Result<Vec<String>, BishengError> {
        let lib64 = self.toolchain.cann.path.join("lib64");
        let kernel = self.request.kernel.as_ref();
        let mut args = vec!["-o".to_owned(), words::path(&self.request.out_dir.join(&self.request.name))?];
        if let Some(kernel) = kernel {
            args.extend(kernel.link_words()?);
        }
        let dirs: Vec<_> = [lib64.as_path()].into_iter().chain(further.iter().copied()).collect();
        for dir in &dirs {
            args.push(format!("-L{}", words::path(dir)?));
        }
        args.extend(libraries.iter().map(|library| (*library).to_owned()));
        let run_dirs: Vec<_> = kernel.map(|kernel| kernel.dir.as_path()).into_iter().chain(dirs).collect();
        args.extend(words::rpath(self.cx, &run_dirs)?);
        Ok(args)
    }

    fn program(&self, args: Vec<String>, mut inputs: Vec<PathBuf>) -> Step {
        inputs.extend(self.request.kernel.as_ref().map(KernelLibrary::path));
        self.step(Purpose::HostProgram, args, inputs, self.request.out_dir.join(&self.request.name))
    }

    fn step(&self, purpose: Purpose, args: Vec<String>, inputs: Vec<PathBuf>, output: PathBuf) -> Step {
        let (program, env) = (self.toolchain.bisheng.path.clone(), Default::default());
        Step { purpose, program, args, env, inputs, outputs: vec![output] }
    }
}
