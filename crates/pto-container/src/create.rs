//! The command that makes a container.

use std::path::PathBuf;

use pto_checkout::config_value;
use pto_docker::Docker;
use pto_process::{Invocation, Stdin, shell_word};

use crate::access::DeviceAccess;
use crate::configuration::Configuration;
use crate::error::Error;
use crate::mount::Mount;
use crate::series::Series;
use crate::settings::Settings;
use crate::sources::Sources;

/// Where images keep caches.
const CACHE: &str = "/opt/pypto/cache";

/// Where git finds which trees it may trust. Versions before 2.38, as Ubuntu 22.04 has one, take that from files alone and not
/// from `GIT_CONFIG_COUNT`; those since 2.32 let the file be named.
const TRUST_DIR: &str = "/etc";
const TRUST: &str = "ptokit-gitconfig";
/// The file that it takes the place of.
const SYSTEM_CONFIGURATION: &str = "/etc/gitconfig";

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

/// What puts the file with the trusted trees into a container that was made and has not run; `None` if there are none.
pub(crate) fn trust(docker: &Docker, name: &str, sources: &Sources) -> Result<Option<Invocation>, Error> {
    if sources.trusted.is_empty() {
        return Ok(None);
    }
    let copy = docker.question(["cp".to_owned(), "-".to_owned(), format!("{name}:{TRUST_DIR}")]);
    let archive = archive(TRUST, &trust_text(&sources.trusted)).map_err(Error::Archive)?;
    Ok(Some(copy.stdin(Stdin::Bytes(archive))))
}

/// The same for a shell, which has no archive at hand.
pub(crate) fn trust_line(copy: &Invocation, trees: &[PathBuf]) -> String {
    let text = shell_word(&trust_text(trees));
    let make = format!("printf %s {text} > \"$d/{TRUST}\" && chmod 644 \"$d/{TRUST}\"");
    let pack = format!("tar --directory \"$d\" --owner=0 --group=0 --create --file=- {TRUST}");
    format!("d=$(mktemp -d) && {make} && {pack} | {}; rm -r \"$d\"", copy.to_shell_line())
}

fn trust_text(trees: &[PathBuf]) -> String {
    let value = |tree: &PathBuf| config_value(&tree.to_string_lossy());
    let trees = trees.iter().map(|tree| format!("[safe]\n\tdirectory = {}\n", value(tree)));
    format!("[include]\n\tpath = {SYSTEM_CONFIGURATION}\n") + &trees.collect::<String>()
}

/// A tar archive of one file, which is root's and everybody may read.
fn archive(name: &str, text: &str) -> std::io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_data(&mut header, name, text.as_bytes())?;
    archive.into_inner()
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
        env.push(format!("GIT_CONFIG_SYSTEM={TRUST_DIR}/{TRUST}"));
        env.push(format!("GIT_CONFIG_COUNT={}", sources.trusted.len()));
    }
    for (index, tree) in sources.trusted.iter().enumerate() {
        env.push(format!("GIT_CONFIG_KEY_{index}=safe.directory"));
        env.push(format!("GIT_CONFIG_VALUE_{index}={}", tree.display()));
    }
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_stay_one_value() {
        let text = trust_text(&[PathBuf::from("/a \"b\"\\c"), PathBuf::from("/d")]);
        assert_eq!(
            text,
            "[include]\n\tpath = /etc/gitconfig\n[safe]\n\tdirectory = \"/a \\\"b\\\"\\\\c\"\n[safe]\n\tdirectory = \"/d\"\n"
        );
        assert!(archive(TRUST, &text).unwrap().len() > text.len());
    }
}
