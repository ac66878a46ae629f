//! What is needed of `docker info` and `docker inspect`. Secrets do not get in: of a container's environment only the
//! variables that matter for NPUs are kept, and proxies lose user and password.

mod info;
mod inspect;
mod json;
mod proxy;
mod visible;

pub use info::{DockerInfo, DockerProxies, parse_docker_info};
pub use inspect::{Container, ContainerDevice, Image, Inspection, Mount, parse_docker_inspect};
pub use proxy::mask_proxy;
pub use visible::{VisibleDevices, parse_visible_devices};
