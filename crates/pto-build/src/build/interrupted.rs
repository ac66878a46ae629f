//! Whether what an interrupted build has left can be gone on with.
//!
//! What can be half written is what a program was writing that got the signal too: an object, a library, a generated
//! source. Ninja waits for the programs that it has started, deletes what they were writing, and logs an output when its
//! program has ended well. One that is killed before it has deleted anything still knows: an output is stale for it if its
//! log has no entry that is newer than what it is made of, whatever time the file itself has. So it is enough that nobody
//! writes any more.
//!
//! Make goes by the times of files alone. It deletes what was being written as well, but `cmake --build`, which has started
//! it, is gone at once and does not say whether Make got that far: what Make was at begins from scratch.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::process::Process;

/// How long compilers may take to die of the signal that they got. Whoever asks for the end waits for this.
const DYING: Duration = Duration::from_secs(5);
/// How often is looked whether they have.
const POLL: Duration = Duration::from_millis(20);

/// Waits until nobody works in the build directory any more. Whether the next build can go on from there.
pub(super) fn is_gone_on_with(generator: &str, build: &Path) -> bool {
    if !generator.contains("Ninja") {
        return false;
    }
    let me = Process::of(std::process::id()).start();
    // Not the shell that this program was started from.
    let is_of_the_build = |process: Process| process.start() > me && process.is_in(build);
    let until = Instant::now() + DYING;
    while Process::all().any(is_of_the_build) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(POLL);
    }
    true
}
