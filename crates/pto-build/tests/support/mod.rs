//! A project with a home in which it can be built.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_build::{BuildOptions, PtoIsaSources};
use pto_context::Context;
use pto_test::pypto::{Binding, Project, Python};

/// The project and its surroundings.
pub(crate) struct Site {
    pub(crate) project: Project,
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
        Self { project }
    }

    pub(crate) fn cx(&self) -> Context {
        self.project.cx()
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
