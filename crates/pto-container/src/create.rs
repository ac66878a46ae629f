//! The commands that create a container.

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

/// The file that tells git which trees it may trust. Before 2.38, and Ubuntu 22.04 has an older one, git takes that only from files
/// and not from `GIT_CONFIG_COUNT`. Since 2.32 the file can be named.
const TRUST_DIR: &str = "/etc";
const TRUST: &str = "ptokit-gitconfig";
/// The file that git would read instead.
const SYSTEM_CONFIGURATION: &str = "/etc/gitconfig";

/// When git forgets a linked worktree whose directory it does not find: inside, that is every one which is not mounted.
const PRUNE: [&str; 2] = ["gc", "worktreePruneExpire"];

/// What a container is created with.
pub(crate) struct Creation<'a> {
    pub(crate) series: Series,
    /// Whether its main shell gets a terminal.
    pub(crate) terminal: bool,
    pub(crate) settings: &'a Settings,
    pub(crate) sources: &'a Sources,
    pub(crate) access: &'a DeviceAccess,
    pub(crate) configuration: &'a Configuration,
}

/// `docker create` with everything that is asked for. It only names proxies: their values come from the client's environment.
pub(crate) fn create(docker: &Docker, with: Creation<'_>) -> Invocation {
    let Creation { series, terminal, settings, sources, access, configuration } = with;
    let mut args = vec!["create".to_owned(), "--name".to_owned(), settings.name.clone(), "--interactive".to_owned()];
    args.extend(terminal.then(|| "--tty".to_owned()));
    // A missing image is fetched in a step before, after the check for room.
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
    // Without a deadline: it fills new volumes with what the image has there, which may be gigabytes.
    settings.proxies.hand_on(docker.command(args))
}

/// The command that copies the file with the trusted trees into a container that has not run yet; `None` if there are none.
pub(crate) fn trust(docker: &Docker, name: &str, sources: &Sources) -> Result<Option<Invocation>, Error> {
    if sources.trusted.is_empty() {
        return Ok(None);
    }
    let copy = docker.question(["cp".to_owned(), "-".to_owned(), format!("{name}:{TRUST_DIR}")]);
    let archive = archive(TRUST, &trust_text(&sources.trusted)).map_err(Error::Archive)?;
    Ok(Some(copy.stdin(Stdin::Bytes(archive))))
}

/// The same as a line for a shell, which also makes the archive that the client gets on standard input.
pub(crate) fn trust_line(copy: &Invocation, trees: &[PathBuf]) -> String {
    let text = shell_word(&trust_text(trees));
    let make = format!("printf %s {text} > \"$d/{TRUST}\" && chmod 644 \"$d/{TRUST}\"");
    let pack = format!("tar --directory \"$d\" --owner=0 --group=0 --create --file=- {TRUST}");
    format!("d=$(mktemp -d) && {make} && {pack} | {}; rm -r \"$d\"", copy.to_shell_line())
}

fn trust_text(trees: &[PathBuf]) -> String {
    let value = |tree: &PathBuf| config_value(&tree.to_string_lossy());
    let trees = trees.iter().map(|tree| format!("[safe]\n\tdirectory = {}\n", value(tree)));
    let [section, key] = PRUNE;
    format!("[include]\n\tpath = {SYSTEM_CONFIGURATION}\n[{section}]\n\t{key} = never\n") + &trees.collect::<String>()
}

/// A tar archive with one file that belongs to root and that everybody may read.
fn archive(name: &str, text: &str) -> std::io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_data(&mut header, name, text.as_bytes())?;
    archive.into_inner()
}

/// The variables that PyPTO reads, and those that tell git to trust the host's trees, which do not belong to the container's root.
fn env(series: Series, sources: &Sources, access: &DeviceAccess) -> Vec<String> {
    let mut env = vec![format!("PYPTO_PLATFORM={}", series.platform())];
    env.extend(access.device.map(|device| format!("PYPTO_DEVICE={device}")));
    env.push(format!("PYPTO_SRC={}", sources.pypto.display()));
    env.push(format!("PYPTO_LIB_SRC={}", sources.pypto_lib.display()));
    if sources.trusted.is_empty() {
        return env;
    }
    let trees = sources.trusted.iter().map(|tree| ("safe.directory".to_owned(), tree.display().to_string()));
    let settings: Vec<_> = trees.chain([(PRUNE.join("."), "never".to_owned())]).collect();
    env.push(format!("GIT_CONFIG_SYSTEM={TRUST_DIR}/{TRUST}"));
    env.push(format!("GIT_CONFIG_COUNT={}", settings.len()));
    for (index, (key, value)) in settings.into_iter().enumerate() {
        env.push(format!("GIT_CONFIG_KEY_{index}={key}"));
        env.push(format!("GIT_CONFIG_VALUE_{index}={value}"));
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
            "[include]\n\tpath = /etc/gitconfig\n[gc]\n\tworktreePruneExpire = never\n[safe]\n\tdirectory = \"/a \\\"b\\\"\\\\c\"\n[safe]\n\tdirectory = \"/d\"\n"
        );
        assert!(archive(TRUST, &text).unwrap().len() > text.len());
    }
}
