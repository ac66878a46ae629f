//! The two halves of a core group, and what makes a compilation be one of them.

use pto_platform::{Core, Target};

use super::request::KernelRequest;
use super::toolchain::Toolchain;

/// Which half of a core group a library plays. The numbers are those of the runtime's C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Vector = 0,
    Cube = 1,
}

/// One compilation's side, and the flags that tell the prelude what to be.
#[derive(Debug)]
pub(super) struct SideFlags {
    pub(super) side: Side,
    /// Whether the kernel has the other side too.
    pub(super) mix: bool,
    args: Vec<String>,
}

impl SideFlags {
    /// The sides that a kernel is compiled for.
    pub(super) fn of(request: &KernelRequest, toolchain: &Toolchain) -> Vec<Self> {
        let sides: &[Side] = match request.core {
            Core::Vec => &[Side::Vector],
            Core::Cube => &[Side::Cube],
            Core::Mix => &[Side::Vector, Side::Cube],
        };
        sides.iter().map(|side| Self::new(*side, request, toolchain)).collect()
    }

    fn new(side: Side, request: &KernelRequest, toolchain: &Toolchain) -> Self {
        let mix = request.core == Core::Mix;
        let a5 = request.soc.target() == Some(Target::A5);
        let mut args = vec![
            format!("-O{}", request.opt_level),
            format!("-DPTOCPU_SIDE={}", side as u8),
            format!("-DPTOCPU_MIX={}", u8::from(mix)),
            format!("-DPTOCPU_A5={}", u8::from(a5)),
            format!("-DPTOCPU_UB_BYTES={}", request.soc.ub_bytes),
            format!("-DPTOCPU_L0C_BYTES={}", request.soc.l0c_bytes),
        ];
        args.extend(toolchain.features.defines());
        // Flags such as `-fsanitize` or `-ffast-math` must be the same in the precompiled prelude.
        args.extend(request.extra_flags.iter().cloned());
        Self { side, mix, args }
    }

    pub(super) fn args(&self) -> &[String] {
        &self.args
    }

    /// For people.
    pub(super) fn name(&self) -> &'static str {
        match (self.side, self.mix) {
            (Side::Vector, false) => "vector cores",
            (Side::Cube, false) => "cube cores",
            (Side::Vector, true) => "vector side of mix kernels",
            (Side::Cube, true) => "cube side of mix kernels",
        }
    }

    /// The launcher is called in the cube side of a mix kernel; that one brings the vector side along.
    pub(super) fn library(&self, kernel: &str) -> String {
        match (self.side, self.mix) {
            (Side::Vector, true) => format!("lib{kernel}.vec.so"),
            _ => format!("lib{kernel}.so"),
        }
    }

    /// The library to load along with this one.
    pub(super) fn sibling(&self, kernel: &str) -> Option<String> {
        let loads = self.mix && self.side == Side::Cube;
        loads.then(|| format!("lib{kernel}.vec.so"))
    }
}
