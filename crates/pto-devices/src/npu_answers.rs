//! What `npu-smi` says.

use std::time::Duration;

use pto_context::Context;
use pto_platform::npu_smi::{self, Board};
use pto_process::Invocation;

use crate::ask::{Answer, ask};
use crate::nodes::driver_library_path;

/// What `npu-smi` said.
#[derive(Debug)]
pub struct NpuAnswers {
    /// `npu-smi info`.
    pub info: Answer,
    /// Whether it answered only after the driver's directories were put on `LD_LIBRARY_PATH`.
    pub needs_path: bool,
    /// `npu-smi info -t board` for one device of each name that does not decide the SoC, by that name.
    pub boards: Vec<(String, Board)>,
}

impl NpuAnswers {
    /// Asks for the table, and then for the boards of those names in it that do not decide the SoC. A shell without the
    /// driver's directories on `LD_LIBRARY_PATH` is helped out, so that it is not mistaken for a machine without NPUs.
    pub fn ask(cx: &Context, deadline: Duration) -> Self {
        let plain = ask(cx, Invocation::new("npu-smi").arg("info"), deadline);
        let helped =
            lacks_library(&plain).then(|| ask(cx, with_driver(cx, Invocation::new("npu-smi").arg("info")), deadline));
        let (info, needs_path) = match helped {
            Some(answer) if answer.said().is_some() && !lacks_library(&answer) => (answer, true),
            _ => (plain, false),
        };
        let boards = boards(cx, &info, deadline);
        Self { info, needs_path, boards }
    }
}

fn lacks_library(answer: &Answer) -> bool {
    let failures = answer.said().map(|said| npu_smi::parse_failures(&said.text())).unwrap_or_default();
    failures.iter().any(|failure| matches!(failure.kind, npu_smi::FailureKind::MissingLibrary(_)))
}

fn with_driver(cx: &Context, invocation: Invocation) -> Invocation {
    let mut path = driver_library_path(cx);
    if let Some(old) = cx.var("LD_LIBRARY_PATH") {
        path = format!("{path}:{old}");
    }
    invocation.env("LD_LIBRARY_PATH", path)
}

/// All cards of one name in one host are of one kind, so one question per name will do.
fn boards(cx: &Context, info: &Answer, deadline: Duration) -> Vec<(String, Board)> {
    let Some(said) = info.said() else { return Vec::new() };
    let table = npu_smi::parse_info(&said.text());
    let mut boards: Vec<(String, Board)> = Vec::new();
    for device in table.devices.iter().filter(|device| device.identity().soc.is_none()) {
        if boards.iter().any(|(name, _)| *name == device.name) {
            continue;
        }
        let question = Invocation::new("npu-smi").args(["info", "-t", "board"]).args(device.query_options());
        let answer = ask(cx, with_driver(cx, question), deadline);
        let board = answer.said().and_then(|said| npu_smi::parse_board(&said.text()).entries.into_iter().next());
        boards.extend(board.map(|board| (device.name.clone(), board)));
    }
    boards
}
