//! The cases of a validation, as values: each is a `docker run` in the script of a reservation.

use std::path::Path;
use std::time::Duration;

use pto_context::counted;
use pto_context::places::DRIVER_ROOT;
use pto_docker::PROXY_VARIABLES;
use pto_process::{Invocation, shell_word};

use super::run::Run;
use crate::config::{Config, Image};
use crate::registry::Digest;

/// The queue's client.
pub(super) const QUEUE: &str = "task-submit";
/// How much longer than the queue's own limit its client may take.
const CLIENT: Duration = Duration::from_secs(30);
/// The label of every container of a run; its value is the run's mark.
pub(super) const LABEL: &str = "ptokit.images.run";
/// The file of a driver with its version.
pub(super) const VERSION: &str = "version.info";
/// What a model prints when its outputs match its golden.
pub(super) const PASS: &str = "[RUN] PASS";

/// Older versions ignore `--strict`, so that their pass would mean nothing.
const DOCTOR: &str = "pypto-doctor --help 2>&1 | grep -q -e --strict || { echo 'this pypto-doctor does not know --strict'; exit 96; }; \
                      exec pypto-doctor --strict";

/// One container.
pub(super) struct Case {
    /// `doctor`, `single`, `distributed`.
    pub(super) name: &'static str,
    /// Whether it also has to print [`PASS`]; every case has to end with 0.
    pub(super) says_pass: bool,
    /// What the container's shell runs.
    pub(super) script: String,
}

/// Cases that use the same cards, one after the other. A case is not run if one before it failed.
pub(super) struct Reservation {
    /// How many cards.
    pub(super) cards: u32,
    /// In the order in which they run.
    pub(super) cases: Vec<Case>,
}

/// The reservations of an image, in the order in which they run.
pub(super) fn reservations(image: &Image) -> [Reservation; 2] {
    let case = |name, says_pass, script| Case { name, says_pass, script };
    let single = model(image, &image.single_script, "0", &image.single_args);
    let distributed = model(image, &image.distributed_script, "0,1", &image.distributed_args);
    [
        Reservation { cards: 1, cases: vec![case("doctor", false, DOCTOR.to_owned()), case("single", true, single)] },
        Reservation { cards: 2, cases: vec![case("distributed", true, distributed)] },
    ]
}

/// The command of a model. `devices` count from 0 among the cards that the container sees; which cards of the host those are is
/// up to the reservation.
fn model(image: &Image, script: &str, devices: &str, args: &[String]) -> String {
    let words = [script, "-p", &image.validation_platform, "-d", devices];
    let words = words.into_iter().chain(args.iter().map(String::as_str)).map(shell_word).collect::<Vec<_>>();
    let path = "PYTHONPATH=\"$PWD${PYTHONPATH:+:$PYTHONPATH}\"";
    format!("cd \"$PYPTO_LIB_SRC\" && {path} exec python {}", words.join(" "))
}

impl Case {
    /// The file for its output.
    pub(super) fn log(&self) -> String {
        format!("{}.log", self.name)
    }

    /// The file for its exit code.
    pub(super) fn code(&self) -> String {
        format!("{}.code", self.name)
    }

    /// The command that runs it: a fresh container, without volumes, with the cards of the reservation.
    fn container(&self, image: &Image, id: &Digest, run: &Run, driver: &Path) -> String {
        let name = format!("{}-{}", run.mark(), self.name);
        let version = format!("{}:{DRIVER_ROOT}/{VERSION}:ro", driver.join(VERSION).display());
        let mut words = vec!["docker".to_owned(), "run".to_owned(), "--rm".to_owned(), "--name".to_owned(), name];
        let label = format!("{LABEL}={}", run.mark());
        words.extend(["--label", &label, "--runtime=ascend", "--shm-size=16g"].map(str::to_owned));
        words.extend(["--env", "PYPTO_BENCH=0", "--volume", &version].map(str::to_owned));
        // The client's own configuration may name proxies, with passwords that a log would keep.
        words.extend(PROXY_VARIABLES.iter().flat_map(|name| ["--env".to_owned(), format!("{name}=")]));
        for device in &image.devices {
            words.extend(["--device".to_owned(), device.clone()]);
        }
        words.extend(["--entrypoint", "/bin/bash", id.as_str(), "-c", &self.script].map(str::to_owned));
        let mut words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        // Inserted after the quoting: the shell of the reservation has to expand it.
        words.insert(2, "--env ASCEND_VISIBLE_DEVICES=\"$TASK_DEVICE\"".to_owned());
        words.join(" ")
    }
}

impl Reservation {
    /// The script that the reservation runs. Each case writes its output and its exit code to its own files.
    pub(super) fn script(&self, image: &Image, id: &Digest, run: &Run, driver: &Path, output: &Path) -> String {
        let cards = self.cards;
        let file = |name: String| shell_word(&output.join(name).display().to_string());
        let mut lines = vec![
            // Does nothing. The queue finds a run's tasks by the mark in their scripts.
            format!(": {}", run.mark()),
            format!(
                "if [ \"$(printf '%s\\n' \"$TASK_DEVICE\" | tr ',' '\\n' | grep -c '^[0-9][0-9]*$')\" != {cards} ]; then \
                 echo \"expected {} in TASK_DEVICE, found '$TASK_DEVICE'\"; exit 97; fi",
                counted(cards, "card")
            ),
        ];
        for case in &self.cases {
            let (log, code) = (file(case.log()), file(case.code()));
            lines.push(format!("{} >{log} 2>&1; rc=$?", case.container(image, id, run, driver)));
            lines.push(format!("echo $rc >{code}; if [ $rc != 0 ]; then exit $rc; fi"));
        }
        lines.join("\n")
    }

    /// The command that asks the queue for it and waits until it is over.
    pub(super) fn invocation(&self, config: &Config, script: &str) -> Invocation {
        let (total, cap) = (config.task_timeout_seconds, config.task_max_seconds);
        Invocation::new(QUEUE)
            .args(["--timeout".to_owned(), total.to_string(), "--max-time".to_owned(), cap.to_string()])
            .args(["--device", "auto", "--device-num", &self.cards.to_string(), "--run", script])
            .deadline(Duration::from_secs(total.into()) + CLIENT)
    }
}
