//! A pinned file over HTTP: mirrors, tries, and what is kept between them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pto_context::{Context, Event};
use pto_store::{Error as StoreError, Store, stop_if_interrupted};

use super::failure::{Failure, HttpProblem};
use super::transfer::{End, Observer, transfer};
use super::{Http, Limits};
use crate::error::Error;
use crate::file::FilePin;
use crate::wheel::DOWNLOADS;

/// How often progress is told.
const TELL: Duration = Duration::from_millis(100);

/// A file that has been fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The file in the store.
    pub path: PathBuf,
    /// The URL that delivered it in the end, secrets masked; `None` if it was in the store already.
    pub url: Option<String>,
}

impl FilePin {
    /// The file, from the store or from the first of the URLs that delivers it.
    ///
    /// # Errors
    /// [`Error::Download`] with what each URL did; [`Error::Checksum`] if one of them delivered another file and none the
    /// right one. Nothing half done is left that could be taken for the file; what came of it is continued by the next call.
    pub fn download(&self, cx: &Context, store: &Store, http: &Http, urls: &[String]) -> Result<Fetched, Error> {
        if let Some(path) = self.find(cx, store)? {
            return Ok(Fetched { path, url: None });
        }
        let entry = self.entry(store)?;
        let downloads = store.root().join(DOWNLOADS).join(self.key());
        let mut url = None;
        let dir = entry.get_or_build_summed(cx, |target| {
            let download = Download { cx, http, pin: self, part: downloads.join("part") };
            fs_err::create_dir_all(&downloads)
                .map_err(|e| StoreError::write("cannot write to the store", &downloads, e))?;
            url = Some(download.ask_all(urls)?);
            fs_err::rename(&download.part, target.join(&self.file))
                .map_err(|e| StoreError::write("cannot move what was fetched into the store", target, e))?;
            let _ = std::fs::remove_dir_all(&downloads);
            Ok::<_, Error>(self.sums())
        })?;
        Ok(Fetched { path: dir.join(&self.file), url })
    }
}

struct Download<'a> {
    cx: &'a Context,
    http: &'a Http,
    pin: &'a FilePin,
    part: PathBuf,
}

impl Download<'_> {
    /// Asks one URL after the other. Returns the one that delivered.
    fn ask_all(&self, urls: &[String]) -> Result<String, Error> {
        let mut failures = Vec::new();
        for url in urls {
            match self.ask(url)? {
                Ok(url) => return Ok(url),
                Err(failure) => {
                    if urls.len() > 1 {
                        self.cx.emit(Event::Warning { message: format!("{failure}; asking the next place") });
                    }
                    failures.push(failure);
                }
            }
        }
        let other = failures.iter().find_map(|failure| match &failure.problem {
            HttpProblem::OtherFile { found } => Some((found, failure.final_url.as_ref().unwrap_or(&failure.url))),
            _ => None,
        });
        match other {
            Some((found, url)) => Err(Error::Checksum {
                file: self.pin.file.clone(),
                origin: format!("`{url}`"),
                expected: self.pin.sha256.clone(),
                found: found.clone(),
            }),
            None => Err(Error::Download { file: self.pin.file.clone(), failures }),
        }
    }

    /// Asks one URL until it delivers, or until it is clear that it will not.
    fn ask(&self, url: &str) -> Result<Result<String, Failure>, Error> {
        let limits = self.http.limits;
        let mut told = Told::new(self.cx, self.pin);
        let (mut fruitless, mut tries) = (0, 0);
        loop {
            tries += 1;
            let continued = std::fs::metadata(&self.part).is_ok_and(|meta| meta.len() > 0);
            let (problem, led) = match transfer(self.http, url, &self.part, &mut told)? {
                End::Complete { sum, url } if sum == self.pin.sha256 => {
                    told.finish();
                    return Ok(Ok(url));
                }
                End::Complete { sum, url } => {
                    self.forget()?;
                    if continued {
                        // What an earlier run left may have been of another file: once more from the start.
                        continue;
                    }
                    (HttpProblem::OtherFile { found: sum }, Some(url))
                }
                End::Failed { problem, url, moved } => {
                    fruitless = if moved { 0 } else { fruitless + 1 };
                    (problem, url)
                }
            };
            if !problem.may_pass() || fruitless >= limits.attempts {
                let url = pto_process::masked(url);
                let final_url = led.filter(|led| *led != url);
                return Ok(Err(Failure { url, final_url, tries, problem }));
            }
            wait(pause(&limits, fruitless, &problem))?;
        }
    }

    fn forget(&self) -> Result<(), Error> {
        fs_err::remove_file(&self.part)
            .map_err(|e| StoreError::io("cannot delete a file that is not the pinned one", e).into())
    }
}

/// How long to wait before the next try: doubled each time, or as the server asks, never longer than is bearable.
fn pause(limits: &Limits, fruitless: u32, problem: &HttpProblem) -> Duration {
    let own = limits.first_pause.saturating_mul(1 << fruitless.saturating_sub(1).min(16));
    let asked = match problem {
        HttpProblem::Status { retry_after, .. } => retry_after.unwrap_or_default(),
        _ => Duration::ZERO,
    };
    own.max(asked).min(Limits::LONGEST_PAUSE)
}

fn wait(time: Duration) -> Result<(), Error> {
    const STEP: Duration = Duration::from_millis(50);
    let start = Instant::now();
    while let Some(left) = time.checked_sub(start.elapsed()) {
        stop_if_interrupted()?;
        std::thread::sleep(left.min(STEP));
    }
    Ok(())
}

/// Tells the caller how far it is.
struct Told<'a> {
    cx: &'a Context,
    pin: &'a FilePin,
    started: bool,
    last: Instant,
}

impl<'a> Told<'a> {
    fn new(cx: &'a Context, pin: &'a FilePin) -> Self {
        Self { cx, pin, started: false, last: Instant::now() }
    }

    fn task(&self) -> String {
        format!("fetch:{}", self.pin.file)
    }

    fn finish(&self) {
        if self.started {
            self.cx.emit(Event::Finished { task: self.task(), message: format!("{} fetched", self.pin.file) });
        }
    }
}

impl Observer for Told<'_> {
    fn size(&mut self, bytes: u64) {
        if !self.started {
            self.started = true;
            let message = format!("Fetching {} ({})", self.pin.file, crate::pin::megabytes(bytes));
            self.cx.emit(Event::Started { task: self.task(), message, total_bytes: Some(bytes) });
        }
    }

    fn done(&mut self, bytes: u64) {
        if self.last.elapsed() >= TELL {
            self.last = Instant::now();
            self.cx.emit(Event::Progress { task: self.task(), done_bytes: bytes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let limits = Limits::default();
        let cut = HttpProblem::Cut { got: 1, expected: 2 };
        let pauses: Vec<_> = (0..8).map(|fruitless| pause(&limits, fruitless, &cut).as_millis()).collect();
        assert_eq!(pauses, [500, 500, 1000, 2000, 4000, 8000, 16000, 20000]);
        let busy = |seconds| HttpProblem::Status { status: 503, retry_after: Some(Duration::from_secs(seconds)) };
        assert_eq!(pause(&limits, 1, &busy(3)), Duration::from_secs(3));
        assert_eq!(pause(&limits, 1, &busy(3600)), Limits::LONGEST_PAUSE);
    }
}
