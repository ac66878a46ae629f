//! Why a container is not created or entered, with whose fault that is in `fault.rs` and what to do about it in `hint.rs`.

mod fault;
mod hint;

use std::path::PathBuf;

use pto_context::counted;

use crate::checks::Finding;
use crate::configuration::Difference;

/// Why there is no session. The container that is there, if there is one, is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No card was named.
    #[error("no card is named; expected at least one physical card of this host")]
    NoCards,
    /// Cards for a container that is to have no NPU.
    #[error("device access is `none`, and {} named as well", counted(.cards.len(), "card"))]
    CardsWithoutAccess {
        /// The cards.
        cards: Vec<u32>,
    },
    /// A card was named twice.
    #[error("card {card} is named twice")]
    CardTwice {
        /// The card.
        card: u32,
    },
    /// A variable does not have one of the values that it may have.
    #[error("`{variable}` is `{value}`; {expected}")]
    BadVariable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// A name that Docker does not take.
    #[error("`{name}` is not a name for {what}")]
    BadName {
        /// What it is to name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A text that is not a size.
    #[error("`{size}` is not a size for `/dev/shm`; expected a number above 0 and a unit, as in `16g`")]
    BadSize {
        /// What was given.
        size: String,
    },
    /// The volume for caches is one for sources.
    #[error("the volume `{volume}` holds the sources of this container, so it cannot hold caches too")]
    CacheOfSources {
        /// The volume.
        volume: String,
    },
    /// A text that is not the address of a proxy. It may hold a password, so it is not shown.
    #[error("the proxy that was given is not an address; expected `http://HOST:PORT`")]
    BadProxy,
    /// A path that cannot be handed to Docker's client as it is.
    #[error("the path `{}` is not UTF-8, which Docker does not mount", .path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// A directory that does not hold what a workspace holds.
    #[error("there is no directory `{}`; a workspace holds `pypto` and `pypto-lib`", .missing.display())]
    NotAWorkspace {
        /// What is missing.
        missing: PathBuf,
        /// The directory that is probably meant.
        instead: Option<PathBuf>,
    },
    /// A part of a workspace that lies elsewhere and is no checkout.
    #[error("`{}` leads out of the workspace, to `{}`, which is not a checkout", .place.display(), .target.display())]
    LeadsOut {
        /// The symbolic link.
        place: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// The engine has no `ascend` runtime.
    #[error("the Docker engine knows no runtime `ascend`; it knows {}", .known.join(", "))]
    NoAscendRuntime {
        /// Those it knows.
        known: Vec<String>,
    },
    /// The image is not here and no registry has it.
    #[error("there is no image `{image}` on this machine, and its name leads to no registry")]
    NoImage {
        /// The image.
        image: String,
        /// The command that builds it, if it is one that is built here.
        build: Option<String>,
    },
    /// Checks of the host failed.
    #[error("this host is not fit for it: {}", found(.findings))]
    Unfit {
        /// Which.
        findings: Vec<Finding>,
    },
    /// The container has another configuration than the one that is asked for.
    #[error("container `{name}` is not as it is asked for:{}", listed(.differences))]
    Differs {
        /// The container.
        name: String,
        /// Docker's word for what it does: `running`, `paused`.
        status: Option<String>,
        /// In what.
        differences: Vec<Difference>,
        /// The image that is asked for.
        image: String,
        /// Whether it is on this machine.
        has_image: bool,
        /// Whether Docker removes the container as soon as it ends.
        goes_at_its_end: bool,
    },
    /// The container did not record its configuration.
    #[error("container `{name}` has no record of its configuration: it is older, or somebody else's")]
    NoRecord {
        /// The container.
        name: String,
        /// Docker's word for what it does: `running`, `paused`.
        status: Option<String>,
        /// Whether Docker removes the container as soon as it ends.
        goes_at_its_end: bool,
    },
    /// The container exists and cannot be entered in its present state.
    #[error("container `{name}` is {status}")]
    NotEnterable {
        /// The container.
        name: String,
        /// Docker's word: `paused`, `restarting`.
        status: String,
    },
    /// The container was started, and its main program ended at once.
    #[error("container `{name}` was started and has ended at once{}{}", with_code(*.exit_code), without_input(*.takes_input))]
    Ended {
        /// The container.
        name: String,
        /// Its main program's.
        exit_code: Option<i64>,
        /// Whether its main program reads what is typed.
        takes_input: bool,
    },
    /// There is no such container.
    #[error("there is no container `{name}`")]
    NoContainer {
        /// The name.
        name: String,
    },
    /// Its maker was interrupted before it was started.
    #[error("container `{name}` was made and never started")]
    NeverRun {
        /// The container.
        name: String,
    },
    /// The program for the image is older than its sources.
    #[error("`{}` is older than `{}`, which it was built from", .program.display(), .source_file.display())]
    OldProgram {
        /// The program.
        program: PathBuf,
        /// A source that was changed or removed since.
        source_file: PathBuf,
    },
    /// Our own program is not among what the engine is sent.
    #[error("`{}` is not sent to the engine from `{}`", .program.display(), .context.display())]
    NotSent {
        /// The program, below the directory.
        program: PathBuf,
        /// The directory that is sent.
        context: PathBuf,
    },
    /// A text that is not a digest.
    #[error("`{digest}` is not a digest of an image, expected `sha256:` and 64 hexadecimal digits")]
    BadDigest {
        /// What was given.
        digest: String,
    },
    /// A build argument that the Dockerfile does not have.
    #[error("the image has no build argument `{name}`")]
    UnknownArgument {
        /// Its name.
        name: String,
        /// Those of the Dockerfile.
        known: Vec<String>,
    },
    /// A build argument with a password. All users of the host see it in the client's command line, and the image may keep it.
    #[error("the build argument `{name}` holds a user or a password")]
    SecretArgument {
        /// Its name.
        name: String,
    },
    /// The program for the image cannot be run.
    #[error("`{}` is not a program: it {why}", .program.display())]
    NotAProgram {
        /// The program.
        program: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The Dockerfile cannot be read.
    #[error("cannot read the Dockerfile")]
    Dockerfile(#[source] std::io::Error),
    /// A build argument contradicts the option that sets it.
    #[error("the build argument `{name}` is `{asked}` and has to be `{needed}`")]
    OtherArgument {
        /// The argument.
        name: String,
        /// What was asked for.
        asked: String,
        /// What the build is given.
        needed: String,
    },
    /// A file that a build needs is not there.
    #[error("there is no `{}`", .file.display())]
    NoBuildFile {
        /// The file.
        file: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The base image was fetched and has no digest.
    #[error("the base image `{base}` has no digest: it comes from no registry")]
    NoDigest {
        /// The image.
        base: String,
    },
    /// The file with the trusted trees could not be packed.
    #[error("cannot pack the list of trees that git may trust inside")]
    Archive(#[source] std::io::Error),
    /// A checkout could not be read.
    #[error(transparent)]
    Checkout(#[from] pto_checkout::Error),
    /// Docker did not do its work.
    #[error(transparent)]
    Docker(#[from] pto_docker::Error),
    /// A container's name or a card could not be claimed.
    #[error(transparent)]
    Claim(#[from] pto_quarantine::Error),
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The client could not be started.
    #[error(transparent)]
    Process(#[from] pto_process::Error),
}

fn found(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{}: {}", finding.check, finding.found)).collect::<Vec<_>>().join("; ")
}

fn listed(differences: &[Difference]) -> String {
    differences.iter().map(|difference| format!("\n  {}", difference.text())).collect()
}

fn with_code(code: Option<i64>) -> String {
    code.map(|code| format!(" with exit code {code}")).unwrap_or_default()
}

fn without_input(takes_input: bool) -> &'static str {
    if takes_input { "" } else { ": it was made without `--interactive`, so a shell in it has nothing to read" }
}
