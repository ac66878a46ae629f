//! Whether a built library may be launched where it is going to be.

use pto_compile::artifact::{Artifact, DeviceArch};
use pto_launch::LaunchPath;
use pto_platform::{Arch, Target};

use super::build::Built;
use super::error::RunError;

/// Refuses device code of another architecture than the target's: it may launch, and then faults or computes nonsense. A
/// library in which no device code is found says nothing of it.
///
/// # Errors
/// The architectures differ, or the library brings a simulator of its own along and is not meant to.
pub(crate) fn check(built: &Built, target: Target, path: LaunchPath) -> Result<(), RunError> {
    let Some(expected) = target.arch() else { return Ok(()) };
    let artifact = Artifact::read(&built.library)
        .map_err(|error| RunError::Unreadable { library: built.library.clone(), reason: error.to_string() })?;
    if let Some(found) = other_arch(&artifact.device_arch(), expected) {
        return Err(RunError::OtherArch { library: built.library.clone(), found, target });
    }
    if artifact.links_ca_model() && path != LaunchPath::Linked {
        return Err(RunError::LinkedWithModel { library: built.library.clone(), path });
    }
    Ok(())
}

/// What the device code is for, where that is not what is expected.
fn other_arch(found: &DeviceArch, expected: Arch) -> Option<String> {
    let other = match found {
        DeviceArch::None | DeviceArch::Unknown(_) => return None,
        DeviceArch::One(arch) => vec![*arch],
        DeviceArch::Several(archs) => archs.clone(),
    };
    let named = other.iter().map(|arch| format!("`{}`", arch.compiler_name())).collect::<Vec<_>>().join(", ");
    other.iter().any(|arch| *arch != expected).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_another_generation_is_named() {
        let a2a3 = Arch::DAV_2201;
        let a5 = Arch::DAV_3510;
        assert_eq!(other_arch(&DeviceArch::One(a2a3), a2a3), None);
        assert_eq!(other_arch(&DeviceArch::None, a5), None);
        assert_eq!(other_arch(&DeviceArch::One(a2a3), a5).as_deref(), Some("`dav-c220`"));
        let both = DeviceArch::Several(vec![a2a3, a5]);
        assert_eq!(other_arch(&both, a5).as_deref(), Some("`dav-c220`, `dav-c310`"));
    }
}
