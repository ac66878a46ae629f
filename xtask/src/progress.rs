//! Events of the libraries, rendered on stderr: bars on a terminal, plain lines in a pipe.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use pto_context::{Event, EventSink};

use crate::out::{say, visible};
use crate::style;

/// A step that takes less than this is not worth a line of its own, unless it moves bytes.
const QUIET: Duration = Duration::from_secs(1);
/// In a pipe, a download says where it is this often.
const EVERY: Duration = Duration::from_secs(5);

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Steps.
    Normal,
    /// Steps and every command that is run.
    Verbose,
    /// Warnings only.
    Quiet,
}

/// The sink for this run.
pub fn sink(verbosity: Verbosity) -> Arc<dyn EventSink> {
    if std::io::stderr().is_terminal() && verbosity != Verbosity::Quiet {
        let multi = SCREEN.get_or_init(MultiProgress::new).clone();
        return Arc::new(Bars { verbosity, multi, bars: Mutex::default() });
    }
    Arc::new(Lines { verbosity, steps: Mutex::default() })
}

/// A terminal: one line per step at work, kept when it is done.
struct Bars {
    verbosity: Verbosity,
    multi: MultiProgress,
    bars: Mutex<HashMap<String, ProgressBar>>,
}

/// The bars of this process, which has one terminal.
static SCREEN: OnceLock<MultiProgress> = OnceLock::new();

/// Takes what still moves off the screen. Before anything else is printed: a step that failed has not finished.
pub fn end() {
    if let Some(multi) = SCREEN.get() {
        let _ = multi.clear();
        multi.set_draw_target(ProgressDrawTarget::hidden());
    }
}

impl EventSink for Bars {
    fn event(&self, event: Event) {
        let Ok(mut bars) = self.bars.lock() else { return };
        match event {
            Event::Started { task, message, total_bytes } => {
                let bar = self.multi.add(bar(total_bytes));
                bar.set_message(visible(&message));
                bar.enable_steady_tick(Duration::from_millis(100));
                bars.insert(task, bar);
            }
            Event::Progress { task, done_bytes } => {
                if let Some(bar) = bars.get(&task) {
                    bar.set_position(done_bytes);
                }
            }
            Event::Steps { task, done, total } => {
                if let Some(bar) = bars.get(&task) {
                    if bar.length() != Some(total) {
                        bar.set_length(total);
                        bar.set_style(counting());
                    }
                    bar.set_position(done);
                }
            }
            Event::Finished { task, message } => {
                let bar = bars.remove(&task);
                let worth_a_line = bar.as_ref().is_none_or(|bar| bar.length().is_some() || bar.elapsed() > QUIET);
                if let Some(bar) = bar {
                    bar.finish_and_clear();
                }
                if worth_a_line {
                    let _ = self.multi.println(visible(&message));
                }
            }
            Event::Command { line } if self.verbosity == Verbosity::Verbose => {
                let _ = self.multi.println(visible(&style::dim(format!("$ {line}"))));
            }
            Event::Warning { message } => {
                let _ = self.multi.println(visible(&format!("{} {message}", style::warning("warning:"))));
            }
            _ => {}
        }
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => ProgressBar::new(total).with_style(
            ProgressStyle::with_template("{spinner} {msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        ),
        None => ProgressBar::new_spinner(),
    }
}

/// Of a step that counts something else than bytes.
fn counting() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg} [{bar:30}] {pos}/{len}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A pipe or a log: one line when a long step starts, moves and ends.
struct Lines {
    verbosity: Verbosity,
    steps: Mutex<HashMap<String, Step>>,
}

struct Step {
    started: Instant,
    said: Instant,
    total: Option<u64>,
}

impl EventSink for Lines {
    fn event(&self, event: Event) {
        let quiet = self.verbosity == Verbosity::Quiet;
        let Ok(mut steps) = self.steps.lock() else { return };
        match event {
            Event::Started { task, message, total_bytes } => {
                // A step that works says so in the end; one that waits for somebody else may not end for long.
                if (total_bytes.is_some() || task.starts_with("wait:")) && !quiet {
                    say(&message);
                }
                let now = Instant::now();
                steps.insert(task, Step { started: now, said: now, total: total_bytes });
            }
            Event::Progress { task, done_bytes } => {
                if let Some(step) = steps.get_mut(&task).filter(|step| step.said.elapsed() > EVERY)
                    && !quiet
                {
                    step.said = Instant::now();
                    say(&format!("  {}", share(done_bytes, step.total)));
                }
            }
            Event::Steps { task, done, total } => {
                if let Some(step) = steps.get_mut(&task).filter(|step| step.said.elapsed() > EVERY)
                    && !quiet
                {
                    step.said = Instant::now();
                    anstream::eprintln!("  {done} of {total}");
                }
            }
            Event::Finished { task, message } => {
                let step = steps.remove(&task);
                if step.is_none_or(|step| step.total.is_some() || step.started.elapsed() > QUIET) && !quiet {
                    say(&message);
                }
            }
            Event::Command { line } if self.verbosity == Verbosity::Verbose => {
                say(&style::dim(format!("$ {line}")));
            }
            Event::Warning { message } => say(&format!("{} {message}", style::warning("warning:"))),
            _ => {}
        }
    }
}

fn share(done: u64, total: Option<u64>) -> String {
    let mb = |bytes: u64| bytes as f64 / 1e6;
    match total {
        Some(total) => format!("{:.1} of {:.1} MB", mb(done), mb(total)),
        None => format!("{:.1} MB", mb(done)),
    }
}
