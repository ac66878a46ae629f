//! What to do about it.

use super::Error;
use crate::arguments::is_proxy_variable;
use crate::checks::Finding;
use crate::name::IMAGE_NAME;

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoCards => "`npu-smi info` shows which cards are free; for a container without NPUs: `--device-access none`".to_owned(),
            Self::CardsWithoutAccess { .. } => {
                "leave the cards out, or `--device-access none` and `PYPTO_DEVICE_ACCESS`".to_owned()
            }
            Self::CardTwice { .. } | Self::BadSize { .. } | Self::Archive(_) | Self::Dockerfile(_) | Self::Interrupted => return None,
            Self::BadProxy => "give it with `--proxy`, or with `PYPTO_DOCKER_PROXY` if a password is in it".to_owned(),
            Self::NotText { .. } => "rename it, or use a checkout elsewhere".to_owned(),
            Self::BadVariable { variable, .. } => format!("`unset {variable}`, or give it one of these values"),
            Self::CacheOfSources { .. } => "name another one: `--cache-volume VOLUME`".to_owned(),
            Self::LeadsOut { .. } => "move it there, or name the checkouts one by one: `--pypto-src`, `--pypto-lib-src`".to_owned(),
            Self::SecretArgument { name } if is_proxy_variable(name) => {
                "set `PYPTO_DOCKER_PROXY`, or the variable of that name: it is handed on without being shown".to_owned()
            }
            Self::SecretArgument { .. } => {
                "leave it out of the address: git asks its credential helper, and an image keeps its arguments".to_owned()
            }
            Self::NotAProgram { .. } => "build it again: `cargo build --release -p xtask`".to_owned(),
            Self::BadName { what, .. } if *what == IMAGE_NAME => {
                "`[HOST/]PATH[:TAG]` or `[HOST/]PATH@sha256:...`, the path in lower case".to_owned()
            }
            Self::BadName { .. } => "letters, digits, `_`, `.` and `-`, the first a letter or a digit, at most 240 of them".to_owned(),
            Self::NotAWorkspace { instead: Some(dir), .. } => format!("probably meant: `{}`", dir.display()),
            Self::NotAWorkspace { instead: None, .. } => {
                "name the directory that contains `pypto` and `pypto-lib`, neither its parent nor one of them".to_owned()
            }
            Self::NoAscendRuntime { .. } => {
                "install Ascend Docker Runtime, then `sudo systemctl daemon-reload && sudo systemctl restart docker`, which \
                 ends every running container; or choose `privileged`, which exposes all devices of this host"
                    .to_owned()
            }
            Self::NoImage { build: Some(build), .. } => {
                format!("build it: `{build}`; or name a published one: `--image HOST/PATH:TAG`")
            }
            Self::NoImage { build: None, .. } => {
                "`docker images` lists those that are here; a published one is named `HOST/PATH:TAG`".to_owned()
            }
            Self::UnknownArgument { known, .. } => format!("it has {}", known.join(", ")),
            Self::Unfit { findings } => remedies(findings),
            Self::Differs { has_image: false, image, differences, .. } => {
                let own = differences.iter().find(|difference| difference.what == "image");
                let own = own.and_then(|image| image.recorded.as_deref());
                let own = own.map(|own| format!("name that of the container, `--image {own}`, or ")).unwrap_or_default();
                format!(
                    "the image `{image}` that is asked for is not on this machine, so that no container could be made of it: \
                     {own}build or pull it first"
                )
            }
            Self::Differs { .. } | Self::NoRecord { .. } => {
                self.removal().map(|(keep, remove)| format!("{keep}, then: {remove}"))?
            }
            Self::NotEnterable { name, status } if status == "paused" => format!("`docker unpause {name}`"),
            Self::NotEnterable { .. } => "wait until it has come to rest, and run again".to_owned(),
            Self::Ended { name, .. } => {
                let (keep, kept) = (keep_command(name), kept(name));
                format!(
                    "`docker logs {name}` shows what it said. To go on with its files in a container that can be entered: \
                     `{keep}`, then `docker run --interactive --tty {kept} bash`; its volumes are named again with \
                     `--volumes-from {name}`"
                )
            }
            Self::NoContainer { .. } => "`cargo xtask container run` makes one; `docker ps -a` lists those there are".to_owned(),
            Self::NeverRun { .. } => "`cargo xtask container run`, with the words that it was made with, finishes it".to_owned(),
            Self::NoBuildFile { what, .. } => (*what).to_owned(),
            Self::BadDigest { .. } => "`docker manifest inspect` and a registry's own pages show it".to_owned(),
            Self::OtherArgument { .. } => {
                "leave it out; `--cann-repository`, `--cann-tag`, `--cann-digest`, `--binary` and the series say it".to_owned()
            }
            Self::NotSent { .. } => {
                "name a file below that directory which its `.dockerignore` lets through: `target/release/xtask`, or one in \
                 `docker`"
                    .to_owned()
            }
            Self::OldProgram { .. } => "build it again: `cargo build --release -p xtask`".to_owned(),
            Self::NoDigest { .. } => "name a repository in a registry, or the digest itself".to_owned(),
            Self::Checkout(error) => return error.hint(),
            Self::Docker(error) => return error.hint(),
            Self::Claim(error) => return error.hint(),
            Self::Process(error) => return error.hint(),
        })
    }

    /// What to save, and the command that removes a container which differs, so that the same request can create a new one.
    pub fn removal(&self) -> Option<(String, String)> {
        match self {
            Self::Differs { name, status, has_image: true, goes_at_its_end, .. }
            | Self::NoRecord { name, status, goes_at_its_end } => {
                Some((keep_first(name), remove(name, status.as_deref(), *goes_at_its_end)))
            }
            _ => None,
        }
    }
}

fn remedies(findings: &[Finding]) -> String {
    let remedy = |finding: &Finding| match finding.check.may_be_skipped() {
        true => format!("{} (to go on anyway: `--skip-check {}`)", finding.remedy, finding.check),
        false => finding.remedy.clone(),
    };
    findings.iter().map(remedy).collect::<Vec<_>>().join("; ")
}

fn keep_first(name: &str) -> String {
    format!(
        "what was changed inside and lies in no mount or volume is lost with the container: keep it first \
         (`docker cp {name}:PATH DIR`, or `{}`)",
        keep_command(name)
    )
}

/// The command that keeps a container's files as an image. Not `docker commit`: that would keep the container's environment, with
/// the passwords of proxies, and its labels, by which it counts as having the cards.
fn keep_command(name: &str) -> String {
    format!("docker export {name} | docker import - {}", kept(name))
}

/// A name for an image that keeps a container's files. It has no capitals, which a container's name may have.
fn kept(name: &str) -> String {
    format!("{}:kept", name.to_ascii_lowercase())
}

/// The command that removes a container. Docker does not stop a paused one, and removes a living one only with `--force`.
fn remove(name: &str, status: Option<&str>, goes_at_its_end: bool) -> String {
    match status {
        _ if goes_at_its_end => format!("docker rm --force {name}"),
        Some("running") => format!("docker stop {name} && docker rm {name}"),
        Some("paused" | "restarting") => format!("docker rm --force {name}"),
        _ => format!("docker rm {name}"),
    }
}
