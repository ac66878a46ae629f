//! What the ELF files of device code say of themselves. The container is ordinary ELF; machine, flags and the notes of
//! each kernel are the vendor's.

use crate::{Arch, Core};

/// `e_machine` of code for AI cores; readers that do not know it say "unknown arch 0x1029".
pub const MACHINE: u16 = 0x1029;

/// Where a section that describes one kernel begins; the kernel's symbol follows.
pub const META_PREFIX: &str = ".ascend.meta.";

/// What the symbol of a mix kernel's vector side ends in.
pub const VECTOR_SIDE: &str = "_mix_aiv";
/// What the symbol of a mix kernel's cube side ends in.
pub const CUBE_SIDE: &str = "_mix_aic";

/// The architecture that `e_flags` names, if it is one that PTO kernels are built for.
///
/// Bits 16 to 23 tell the generation, and nothing tells vector from cube: read off the device code of the published
/// `pto-kernels` package (built for A2/A3, `0x940000`) and off what two compilers made for A5 (`0x990000`).
pub const fn arch(flags: u32) -> Option<Arch> {
    match flags >> 16 & 0xff {
        0x94 => Some(Arch::DAV_2201),
        0x99 => Some(Arch::DAV_3510),
        _ => None,
    }
}

/// What the section of one kernel says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KernelMeta {
    /// The number of the kernel's type: 2 and 6 are cube, 3 and 7 vector, 4 and 5 mix kernels.
    pub kind: Option<u32>,
    /// Cube cores and vector cores of one block of a mix kernel.
    pub ratio: Option<(u16, u16)>,
}

impl KernelMeta {
    const KIND: u16 = 1;
    const RATIO: u16 = 3;

    /// Reads the section's records: a type and a length in two bytes each, and so many bytes. What is cut off or unknown is
    /// left out.
    pub fn parse(mut section: &[u8]) -> Self {
        let mut meta = Self::default();
        while let Some((kind, value, rest)) = record(section) {
            match (kind, value) {
                (Self::KIND, &[a, b, c, d]) => meta.kind = Some(u32::from_le_bytes([a, b, c, d])),
                (Self::RATIO, &[a, b, c, d]) => {
                    meta.ratio = Some((u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])));
                }
                _ => {}
            }
            section = rest;
        }
        meta
    }

    /// The cores that the kernel runs on. A mix kernel whose blocks have none of one sort is a kernel of the other sort.
    pub const fn core(self) -> Option<Core> {
        match (self.kind, self.ratio) {
            (Some(2 | 6), _) | (Some(4 | 5), Some((1.., 0))) => Some(Core::Cube),
            (Some(3 | 7), _) | (Some(4 | 5), Some((0, 1..))) => Some(Core::Vec),
            (Some(4 | 5), _) => Some(Core::Mix),
            _ => None,
        }
    }
}

fn record(section: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let ([a, b, c, d], rest) = section.split_first_chunk()?;
    let (value, rest) = rest.split_at_checked(u16::from_le_bytes([*c, *d]).into())?;
    Some((u16::from_le_bytes([*a, *b]), value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_tell_the_generation() {
        assert_eq!(arch(0x94_0000), Some(Arch::DAV_2201));
        assert_eq!(arch(0x99_0000), Some(Arch::DAV_3510));
        assert_eq!(arch(0), None);
    }

    /// As in a kernel of the published package.
    #[test]
    fn a_kernels_section_tells_its_cores() {
        let mix = [1, 0, 4, 0, 4, 0, 0, 0, 2, 0, 4, 0, 1, 0, 0, 0, 3, 0, 4, 0, 1, 0, 2, 0];
        let meta = KernelMeta::parse(&mix);
        assert_eq!((meta.kind, meta.ratio, meta.core()), (Some(4), Some((1, 2)), Some(Core::Mix)));
        assert_eq!(KernelMeta::parse(&[1, 0, 4, 0, 7, 0, 0, 0]).core(), Some(Core::Vec));
        assert_eq!(KernelMeta::parse(&[1, 0, 4, 0, 6, 0, 0, 0]).core(), Some(Core::Cube));
    }

    #[test]
    fn a_mix_kernel_without_cube_cores_is_a_vector_kernel() {
        let meta = KernelMeta { kind: Some(5), ratio: Some((0, 1)) };
        assert_eq!(meta.core(), Some(Core::Vec));
    }

    #[test]
    fn what_is_cut_off_is_left_out() {
        assert_eq!(KernelMeta::parse(&[1, 0, 4, 0, 4]), KernelMeta::default());
        assert_eq!(KernelMeta::parse(&[1]), KernelMeta::default());
        assert_eq!(KernelMeta::parse(&[1, 0, 0, 0]), KernelMeta::default());
    }
}
