//! Docker and registries.

use super::super::rule::{CauseRule, Clue, Family, FieldRule, Rule, StepRule};

const BASE: Rule = Rule { family: Family::Docker, ..Rule::BASE };

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "ascend-runtime-missing",
        title: "Docker does not know the runtime `ascend`",
        docs: "Ascend Docker Runtime is not installed, not registered, or Docker was not restarted after it was. Restarting \
               Docker interrupts every running container of the host. Without it, a privileged container sees all devices; \
               passing a few device nodes alone is not a portable substitute.",
        patterns: &[&["unknown or invalid runtime name: ascend"], &["Unknown runtime specified ascend"]],
        causes: &[CauseRule {
            text: "Ascend Docker Runtime is missing or not registered",
            clues: &[],
            check: "docker info --format '{{json .Runtimes}}'",
        }],
        guide: &[
            StepRule {
                why: "See what is registered; `ascend` must be there.",
                command: "docker info --format '{{json .Runtimes}}'",
            },
            StepRule {
                why: "After an installation Docker must read its configuration again. This interrupts every running container.",
                command: "sudo systemctl daemon-reload && sudo systemctl restart docker",
            },
            StepRule {
                why: "Or do without it, where a privileged container is acceptable: it sees all devices of the host.",
                command: "PYPTO_DEVICE_ACCESS=privileged cargo xtask container run a3 {device}",
            },
        ],
        ..BASE
    },
    Rule {
        id: "image-for-another-machine",
        title: "the image is for another machine type",
        docs: "`exec format error`: the programs in the image are for another processor, as an ARM64 image on an x86_64 host. \
               There is no way around it: use a host or an image of the other type.",
        patterns: &[&["exec format error"], &["does not match the detected host platform"]],
        causes: &[CauseRule {
            text: "host and image have different machine types",
            clues: &[],
            check: "uname -m; docker image inspect \"{image}\" --format '{{.Os}}/{{.Architecture}}'",
        }],
        ..BASE
    },
    Rule {
        id: "docker-unreachable",
        title: "the Docker daemon cannot be reached",
        docs: "The daemon does not run, or this user may not talk to it.",
        patterns: &[
            &["Cannot connect to the Docker daemon"],
            &["permission denied", "docker.sock"],
            &["permission denied", "Docker daemon socket"],
        ],
        causes: &[
            CauseRule {
                text: "this user is not in the group `docker`",
                clues: &[Clue::Text(&["permission denied", "ocker"])],
                check: "id -nG; stat -c '%U:%G %a' /var/run/docker.sock",
            },
            CauseRule { text: "the daemon does not run", clues: &[], check: "systemctl status docker --no-pager" },
        ],
        ..BASE
    },
    Rule {
        id: "registry-unreachable",
        title: "a registry or proxy cannot be reached",
        docs: "A download timed out or its proxy refused. The Docker daemon has proxy settings of its own, which the shell's \
               do not change: `curl` may reach a registry that `docker pull` does not. `registry-mirrors` apply to Docker Hub \
               only.",
        patterns: &[
            &["proxyconnect tcp"],
            &["net/http: TLS handshake timeout"],
            &["Client.Timeout exceeded while awaiting headers"],
            &["dial tcp", "i/o timeout"],
        ],
        causes: &[
            CauseRule {
                text: "the daemon's proxy is dead",
                clues: &[Clue::Text(&["proxyconnect tcp"])],
                check: "docker info --format '{{.HTTPProxy}} {{.HTTPSProxy}} {{.NoProxy}}'",
            },
            CauseRule {
                text: "the network does not let the registry through",
                clues: &[],
                check: "curl -sSI https://REGISTRY/v2/ | head -1",
            },
        ],
        ..BASE
    },
    Rule {
        id: "registry-denied",
        title: "the registry does not give the image",
        docs: "The image or tag does not exist, or is private: packages of some registries are private after their first push.",
        patterns: &[
            &["pull access denied"],
            &["manifest unknown"],
            &["unauthorized: authentication required"],
            &["denied: requested access to the resource is denied"],
        ],
        fields: &[FieldRule { name: "image", after: "pull access denied for ", until: &[','] }],
        causes: &[
            CauseRule {
                text: "the tag does not exist",
                clues: &[Clue::Text(&["manifest unknown"])],
                check: "docker manifest inspect \"{image}\"",
            },
            CauseRule {
                text: "the image is private",
                clues: &[Clue::Text(&["unauthorized"]), Clue::Text(&["denied"])],
                check: "docker logout REGISTRY && docker manifest inspect \"{image}\"",
            },
        ],
        ..BASE
    },
    Rule {
        id: "no-space",
        title: "the disk is full",
        docs: "Something could not be written. An image with the whole tool chain takes about 17 GB unpacked; with its layers \
               and build caches 30 GB should be free.",
        patterns: &[&["no space left on device"], &["No space left on device"]],
        explains: &["compile-error"],
        causes: &[CauseRule {
            text: "the file system of images, caches or temporary files is full",
            clues: &[],
            check: "df -h / /tmp /var/lib/docker \"$HOME\"; docker system df",
        }],
        ..BASE
    },
    Rule {
        id: "workspace-mounted-too-high",
        title: "the checkout is not where the container expects it",
        docs: "`/workspace/pypto` does not exist: the bind mount is one directory too high. Mount the directory that contains \
               `pypto/` and `pypto-lib/`.",
        patterns: &[&["/workspace/pypto", "No such file or directory"], &["/workspace/pypto", "does not exist"]],
        causes: &[CauseRule {
            text: "the parent of the directory that holds `pypto/` is mounted",
            clues: &[],
            check: "ls /workspace # must list pypto and pypto-lib",
        }],
        ..BASE
    },
];
