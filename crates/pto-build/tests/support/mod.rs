//! A project with a home in which it can be built.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_build::{BuildOptions, PtoIsaSources};
use pto_context::{Context, Event, Recorder};
use pto_test::pypto::{Binding, Project, Python};

/// The project and its surroundings.
pub(crate) struct Site {
    pub(crate) project: Project,
    /// Variables besides the project's.
    more: Vec<(&'static str, OsString)>,
}

impl Site {
    /// `None`, said on stderr, where this machine cannot build it.
    pub(crate) fn new(binding: Binding) -> Option<Self> {
        Some(Self::with(binding, &Python::find()?))
    }

    /// With a Python of one's own choice.
    pub(crate) fn with(binding: Binding, python: &Python) -> Self {
        let project = Project::new(binding);
        project.install(python);
        Self::of(project)
    }

    /// Of a project whose Python is there.
    pub(crate) fn of(project: Project) -> Self {
        Self { project, more: Vec::new() }
    }

    pub(crate) fn cx(&self) -> Context {
        self.more.iter().fold(self.project.cx(), |cx, (name, value)| cx.with_var(*name, value))
    }

    /// Sets a variable for all builds from now on.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.more.push((name, value.into()));
    }

    /// As a user types none, with PTO-ISA from its remote here.
    pub(crate) fn options(&self) -> BuildOptions {
        BuildOptions { pto_isa: sources(&self.remote("pto-isa"), &self.remote("pto-isa")), ..BuildOptions::default() }
    }

    pub(crate) fn remote(&self, name: &str) -> String {
        self.project.remote(name).display().to_string()
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.project.checkout().join("runtime")
    }

    /// A program of the home, which is before those of the machine.
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.project.home().join("bin").join(name);
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

/// Whether this machine has Make; said on stderr if not.
pub(crate) fn has_make(cx: &Context) -> bool {
    let found = pto_process::Invocation::new("make").arg("--version").run(cx).is_ok();
    if !found {
        pto_test::skip("`make` is not here");
    }
    found
}

/// Sources that are asked without a pause.
pub(crate) fn sources(url: &str, mirror: &str) -> PtoIsaSources {
    PtoIsaSources { url: url.to_owned(), mirror: mirror.to_owned(), pause: Duration::ZERO }
}

/// Changes the one place where a text stands in a file.
pub(crate) fn edit(file: &Path, from: &str, to: &str) {
    let text = fs_err::read_to_string(file).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from} in {}", file.display());
    fs_err::write(file, text.replace(from, to)).unwrap();
}

/// The objects that a build made anew, as Ninja counts them.
pub(crate) fn steps(events: &Recorder, task: &str) -> u64 {
    let total = |event| match event {
        Event::Steps { task: of, total, .. } if of == task => Some(total),
        _ => None,
    };
    events.events().into_iter().filter_map(total).next_back().unwrap_or(0)
}
