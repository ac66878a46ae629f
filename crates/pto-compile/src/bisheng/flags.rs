//! The fixed words of a command line, by target.

use pto_platform::{Core, Target};

use super::options::CheckedOptions;
use super::{BishengError, words};
use crate::cann::Toolchain;

/// Back-end options that PTO's A5 builds pass with `-mllvm`: a larger stack, its overflow recorded, addresses of on-chip
/// memory transformed, no cache maintenance for scalar accesses.
const A5_BACKEND: [&str; 5] = [
    "-cce-aicore-stack-size=0x8000",
    "-cce-aicore-function-stack-size=0x8000",
    "-cce-aicore-record-overflow=true",
    "-cce-aicore-addr-transform",
    "-cce-aicore-dcci-insert-for-scalar=false",
];

/// Host sources are plain C++; CANN's host headers use `uint32_t` and `size_t` without including them.
pub(super) const HOST_LANGUAGE: [&str; 5] = ["-xc++", "-include", "stdint.h", "-include", "stddef.h"];

/// Target and toolchain of one plan.
#[derive(Debug)]
pub(super) struct Flags<'a> {
    target: Target,
    memory_macro: String,
    options: &'a CheckedOptions,
    includes: Vec<String>,
}

impl<'a> Flags<'a> {
    pub(super) fn new(
        target: Target,
        options: &'a CheckedOptions,
        toolchain: &Toolchain,
    ) -> Result<Self, BishengError> {
        let name = target.memory_macro().ok_or(BishengError::NotForBisheng { target })?;
        let includes = toolchain_includes(target, toolchain)?;
        words::path(&toolchain.bisheng.path)?;
        Ok(Self { target, memory_macro: format!("-D{name}"), options, includes })
    }

    /// Words of a compile of kernel sources, before the sources.
    pub(super) fn device(&self, core: Core) -> Result<Vec<String>, BishengError> {
        let arch = self.target.compiler_arch(core).ok_or(BishengError::NotForBisheng { target: self.target })?;
        let arch = format!("--cce-aicore-arch={arch}");
        let options = self.options;
        let mut words = match self.target {
            Target::A5 => self.device_a5(arch),
            _ => self.device_a2a3(arch),
        };
        words.extend(
            [&options.defines, &options.include_dirs, &self.includes, &options.device_flags]
                .into_iter()
                .flatten()
                .cloned(),
        );
        Ok(words)
    }

    fn device_a2a3(&self, arch: String) -> Vec<String> {
        let mut words = strings(["-fPIC", "-shared", "-xcce"]);
        words.push(self.memory_macro.clone());
        words.extend(self.options.optimization.iter().cloned());
        words.extend([self.standard().to_owned(), arch]);
        words
    }

    fn device_a5(&self, arch: String) -> Vec<String> {
        let mut words = strings([self.standard()]);
        words.extend(self.options.optimization.iter().cloned());
        words.extend(strings([
            "-Wno-macro-redefined",
            "-Wno-ignored-attributes",
            "-fPIC",
            "-xcce",
            "-Xhost-start",
            "-Xhost-end",
        ]));
        words.extend(A5_BACKEND.iter().flat_map(|option| strings(["-mllvm", option])));
        words.extend([arch, self.memory_macro.clone()]);
        words
    }

    /// Words of a compile of host sources, before the sources. The memory macro is among them because headers shared
    /// with the kernels test for it.
    pub(super) fn host(&self) -> Vec<String> {
        let options = self.options;
        let mut words = strings(HOST_LANGUAGE);
        words.push("-fPIC".to_owned());
        words.extend(options.optimization.iter().cloned());
        words.extend([self.standard().to_owned(), self.memory_macro.clone()]);
        words.extend(
            [&options.defines, &options.include_dirs, &self.includes, &options.host_flags]
                .into_iter()
                .flatten()
                .cloned(),
        );
        words
    }

    fn standard(&self) -> &'static str {
        match self.target {
            Target::A5 => "-std=gnu++17",
            _ => "-std=c++17",
        }
    }
}

/// PTO headers first, so that a PTO-ISA checkout wins over the copy inside CANN.
fn toolchain_includes(target: Target, toolchain: &Toolchain) -> Result<Vec<String>, BishengError> {
    let cann = &toolchain.cann.path;
    let runtime = if target == Target::A5 { "pkg_inc/runtime/runtime" } else { "pkg_inc/runtime" };
    let dirs = [
        toolchain.pto_headers.path.clone(),
        cann.join("include"),
        cann.join("pkg_inc"),
        cann.join(runtime),
        cann.join("pkg_inc/profiling"),
        toolchain.driver.path.join("kernel/inc"),
    ];
    let mut includes: Vec<String> = Vec::new();
    for dir in dirs {
        let word = format!("-I{}", words::path(&dir)?);
        // The PTO headers may be CANN's own: the same directory twice says nothing.
        if !includes.contains(&word) {
            includes.push(word);
        }
    }
    Ok(includes)
}

pub(super) fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}
