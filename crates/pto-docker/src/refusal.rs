//! Recognizing why the client failed by what it says: its exit code is 1 for nearly everything.

/// A kind of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    NoPermission,
    NoDaemon,
    NoRuntime,
    NameTaken,
    NoSuchContainer,
    NoSuchImage,
    Unauthorized,
    DiskFull,
}

/// Texts, in lower case, by which each kind is recognized; the first that fits counts, since "permission denied while trying to
/// connect to the docker daemon" is not a missing daemon. From clients and engines 20.10 to 29, and from Podman.
const WORDS: &[(Refusal, &[&str])] = &[
    (Refusal::NoPermission, &["permission denied while trying to connect", "connect: permission denied"]),
    (
        Refusal::NoDaemon,
        &[
            "cannot connect to the docker daemon",
            "failed to connect to the docker api",
            "error during connect",
            "is the docker daemon running",
            "unable to resolve docker endpoint",
            "cannot connect to podman",
        ],
    ),
    (Refusal::NoRuntime, &["unknown or invalid runtime name", "unknown runtime specified"]),
    (Refusal::NameTaken, &["is already in use by container", "container name is already in use"]),
    (Refusal::NoSuchContainer, &["no such container"]),
    (Refusal::NoSuchImage, &["no such image", "no such object", "manifest unknown", "repository does not exist"]),
    (
        Refusal::Unauthorized,
        &[
            "unauthorized",
            "authentication required",
            "incorrect username or password",
            "requested access to the resource is denied",
            "no basic auth credentials",
        ],
    ),
    (Refusal::DiskFull, &["no space left on device", "disk quota exceeded"]),
];

/// The kind of a message, if it is a known one.
pub(crate) fn classify(said: &str) -> Option<Refusal> {
    let said = said.to_lowercase();
    WORDS.iter().find(|(_, words)| words.iter().any(|word| said.contains(word))).map(|(refusal, _)| *refusal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_clients_and_engines_say() {
        for (said, expected) in [
            (
                "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
                Some(Refusal::NoDaemon),
            ),
            (
                "failed to connect to the docker API at unix:///x.sock; check if the path is correct and if the daemon is running: dial unix /x.sock: connect: no such file or directory",
                Some(Refusal::NoDaemon),
            ),
            (
                "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \"http://%2Fvar%2Frun\": dial unix /var/run/docker.sock: connect: permission denied",
                Some(Refusal::NoPermission),
            ),
            ("Error response from daemon: No such image: a:b", Some(Refusal::NoSuchImage)),
            ("Error: No such object: a", Some(Refusal::NoSuchImage)),
            ("Error response from daemon: No such container: x1", Some(Refusal::NoSuchContainer)),
            ("docker: Error response from daemon: Unknown runtime specified ascend", Some(Refusal::NoRuntime)),
            ("docker: Error response from daemon: unknown or invalid runtime name: ascend", Some(Refusal::NoRuntime)),
            (
                "Error response from daemon: Conflict. The container name \"/x1\" is already in use by container \"8a\". You have to remove",
                Some(Refusal::NameTaken),
            ),
            (
                "Error response from daemon: Get \"https://h/v2/\": unauthorized: Authentication is required",
                Some(Refusal::Unauthorized),
            ),
            ("write /var/lib/docker/tmp/GetImageBlob1: no space left on device", Some(Refusal::DiskFull)),
            ("Error response from daemon: driver failed programming external connectivity", None),
        ] {
            assert_eq!(classify(said), expected, "{said}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(said in "\\PC{0,200}") {
            classify(&said);
        }
    }
}
