//! Where the steps of publications and rollbacks are recorded.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_images::config::Image;
use pto_images::promote::Records;
use pto_images::registry::Repository;
use pto_process::shell_word;

use crate::exit::Failure;

/// Where the steps are recorded.
#[derive(Debug, Clone, clap::Args)]
pub struct RecordArgs {
    /// The directory of records and manifests, to be kept [default: in $XDG_STATE_HOME/ptokit/images]
    #[arg(long, value_name = "DIR")]
    records: Option<PathBuf>,
}

/// The two kinds of records of an image, each with a directory of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A publication.
    Publication,
    /// A rollback.
    Rollback,
}

impl RecordArgs {
    /// The directory, with records of this image in this repository.
    ///
    /// # Errors
    /// None was named, and there is no home directory.
    pub fn records(
        &self,
        cx: &Context,
        kept: Kept,
        image: &Image,
        repository: &Repository,
    ) -> Result<Records, Failure> {
        let dir = match &self.records {
            Some(named) => named.clone(),
            None => usual_records(cx, kept, image, repository)?,
        };
        Ok(Records::in_dir(dir).about(&image.name, repository, &image.names()))
    }

    /// The records that were named, or all that exist in the usual places.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn existing(&self, cx: &Context, image: &Image, repository: &Repository) -> Result<Vec<Records>, Failure> {
        let places = match (self.named(), usual_records(cx, Kept::Publication, image, repository)) {
            (Some(_), _) => vec![Kept::Publication],
            (None, Ok(_)) => vec![Kept::Publication, Kept::Rollback],
            // Without a home there are none.
            (None, Err(_)) => Vec::new(),
        };
        let mut existing = Vec::new();
        for kept in places {
            let records = self.records(cx, kept, image, repository)?;
            if records.last()?.is_some_and(|record| record.tag == image.tag) {
                existing.push(records);
            }
        }
        Ok(existing)
    }

    /// The usual records of a publication, for a rollback; `None` if `--records` names those of the rollback.
    ///
    /// # Errors
    /// There is no home directory.
    pub fn publication(
        &self,
        cx: &Context,
        image: &Image,
        repository: &Repository,
    ) -> Result<Option<Records>, Failure> {
        let usual = || self.records(cx, Kept::Publication, image, repository);
        self.records.is_none().then(usual).transpose()
    }

    /// The directory, if one was named.
    pub fn named(&self) -> Option<&Path> {
        self.records.as_deref()
    }

    /// As it was typed.
    pub fn typed(&self) -> String {
        self.records
            .as_ref()
            .map(|dir| format!(" --records {}", shell_word(&dir.to_string_lossy())))
            .unwrap_or_default()
    }
}

/// Where records are kept unless a directory is named: not among the generated files of a workspace, which may be deleted at any
/// time.
fn usual_records(cx: &Context, kept: Kept, image: &Image, repository: &Repository) -> Result<PathBuf, Failure> {
    let xdg = cx.var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let state = xdg.or_else(|| cx.var_os("HOME").map(|home| PathBuf::from(home).join(".local/state")));
    let state = state.ok_or_else(|| {
        Failure::blocked("there is no place for records: `HOME` is not set", "name one: `--records DIR`".to_owned())
    })?;
    let what = match kept {
        Kept::Publication => "publication",
        Kept::Rollback => "rollback",
    };
    // No name of a repository has a plus.
    let repository = repository.to_string().replace('/', "+");
    Ok(state.join("ptokit/images").join(repository).join(&image.name).join(what))
}
