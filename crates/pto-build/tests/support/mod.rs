//! A project with a home in which it can be built.

use std::path::PathBuf;

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
        Self::with(binding, &Python::find()?)
    }

    /// With a Python of one's own choice.
    pub(crate) fn with(binding: Binding, python: &Python) -> Option<Self> {
        let project = Project::new(binding);
        project.install(python);
        Some(Self { project })
    }

    pub(crate) fn cx(&self) -> Context {
        self.project.cx()
    }

    /// As a user types none, with PTO-ISA from its remote here.
    pub(crate) fn options(&self) -> BuildOptions {
        let url = self.project.remote("pto-isa").display().to_string();
        BuildOptions { pto_isa: PtoIsaSources { mirror: url.clone(), url }, ..BuildOptions::default() }
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.project.checkout().join("runtime")
    }
}
