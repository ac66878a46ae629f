//! The command that makes a container.

use pto_docker::Docker;
use pto_process::Invocation;

use crate::access::DeviceAccess;
use crate::configuration::Configuration;
use crate::mount::Mount;
use crate::series::Series;
use crate::settings::Settings;
use crate::sources::Sources;

/// Where images keep caches.
const CACHE: &str = "/opt/pypto/cache";

/// `docker create` with everything that is asked for. Proxies are named, and their values come from the client's
/// environment.
pub(crate) fn create(
    docker: &Docker,
    (series, terminal): (Series, bool),
    settings: &Settings,
    sources: &Sources,
    access: &DeviceAccess,
    configuration: &Configuration,
) -> Invocation {
    let mut args = vec!["create".to_owned(), "--name".to_owned(), settings.name.clone(), "--interactive".to_owned()];
    args.extend(terminal.then(|| "--tty".to_owned()));
    // What is missing is fetched before, where its size can be compared with the room there is.
    args.push("--pull=never".to_owned());
    args.extend(access.options());
    args.push(format!("--shm-size={}", settings.shm_size));
    let cache = Mount::volume(&settings.cache_volume, CACHE);
    let mounts = sources.mounts.iter().chain([&cache]).chain(&access.mounts);
    args.extend(mounts.flat_map(|mount| ["--mount".to_owned(), mount.option()]));
    args.push(format!("--workdir={}", sources.pypto.display()));
    args.extend(env(series, sources, access).into_iter().flat_map(|pair| ["--env".to_owned(), pair]));
    args.extend(settings.proxies.names().flat_map(|name| ["--env".to_owned(), name.to_owned()]));
    args.extend(configuration.labels().flat_map(|label| ["--label".to_owned(), label]));
    args.extend(["--".to_owned(), settings.image.clone()]);
    settings.proxies.hand_on(docker.question(args))
}

/// What PyPTO reads, and which trees of the host git may trust in here: root of the container is not their owner.
fn env(series: Series, sources: &Sources, access: &DeviceAccess) -> Vec<String> {
    let mut env = vec![
        format!("PYPTO_PLATFORM={}", series.platform()),
        format!("PYPTO_DEVICE={}", access.device),
        format!("PYPTO_SRC={}", sources.pypto.display()),
        format!("PYPTO_LIB_SRC={}", sources.pypto_lib.display()),
    ];
    if !sources.trusted.is_empty() {
        env.push(format!("GIT_CONFIG_COUNT={}", sources.trusted.len()));
    }
    for (index, tree) in sources.trusted.iter().enumerate() {
        env.push(format!("GIT_CONFIG_KEY_{index}=safe.directory"));
        env.push(format!("GIT_CONFIG_VALUE_{index}={}", tree.display()));
    }
    env
}
