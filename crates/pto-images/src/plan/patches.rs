//! The patch that a build on some bases is known to need: its absence is reported before hours of build.

use std::path::Path;

use crate::config::Image;

/// The CANN release whose GNU compiler warns about the runtime's AICPU sources.
const CANN: &str = "9.2";

/// What to say if the patch that an image's CANN needs is not among those of its platform in `patches`.
pub fn missing_patch(image: &Image, patches: &Path) -> Option<String> {
    let (platform, cann) = (&image.validation_platform, &image.cann_version);
    let needed = patches.join(platform).join(format!("cann92-{platform}-aicpu-class-memaccess.patch"));
    if !cann.starts_with(CANN) || needed.is_file() {
        return None;
    }
    Some(format!(
        "`{}` is built on CANN {cann}, and there is no `{}`: without that patch, which exempts one warning of the compiler, the \
         runtime is known not to build there, unless upstream has the change by now",
        image.name,
        needed.display()
    ))
}
