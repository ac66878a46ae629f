//! What a simulator leaves: files, and words that explain.

use std::path::{Path, PathBuf};

/// What the model says when a program submits a task that it has no model of.
const UNSUPPORTED_TASK: &str = "unsupported task type: ";

/// What a line of the model tells of a failure, for people.
pub(super) fn explained(said: &str) -> Option<String> {
    let rest = said.split_once(UNSUPPORTED_TASK)?.1;
    let task = rest.split([',', ' ', '\n']).next().filter(|task| !task.is_empty())?;
    Some(format!(
        "the CA model has no `{task}` tasks, only AIC, AIV, place holders and notifications: move host-side tensor operations \
         and copies within the device to the CPU"
    ))
}

/// More files than these nobody reads in a list.
const MOST_TRACES: usize = 200;

/// The files below a directory, relative to it, in order.
pub(super) fn traces(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs_err::read_dir(&next).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(entry.path()),
                Ok(_) => found.extend(entry.path().strip_prefix(dir).ok().map(Path::to_owned)),
                Err(_) => {}
            }
        }
    }
    found.sort();
    found.truncate(MOST_TRACES);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_the_model_does_not_have_is_named() {
        let line = "[DRVSTUB_WARN] driver_queue.c:163 checkSqeSupported:RTSQ_2 sqe_payload[0]: 0xb, unsupported task type: \
                    SDMA, camodel only supports AIC/AIV/PLACE_HOLDER/NOTIFY_REC/NOTIFY_WAIT";
        assert!(explained(line).unwrap().contains("no `SDMA` tasks"));
        assert_eq!(explained("unsupported task type: "), None);
        assert_eq!(explained("all is well"), None);
    }

    #[test]
    fn traces_are_found_wherever_they_lie() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["b/dump/core0.dump", "a/trace.json"] {
            let file = dir.path().join(file);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, "").unwrap();
        }
        assert_eq!(traces(dir.path()), ["a/trace.json", "b/dump/core0.dump"].map(PathBuf::from));
        assert!(traces(&dir.path().join("none")).is_empty());
    }
}
