//! What PyPTO's checkout will have once it was pulled, as far as that decides how an update goes on.

use std::collections::BTreeMap;

use pto_platform::files::parse_versions_env;
use serde::Serialize;

use super::continuation::{RECIPE, UPDATERS};
use super::incoming::Incoming;
use crate::error::Error;

/// Where a checkout says which assembler it wants.
const VERSIONS: &str = "toolchain/versions.env";

/// Files of the commit that arrives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Arriving {
    /// The assembler that it pins: `v0.61`; `None` if it pins none.
    pub ptoas: Option<String>,
    /// Of the paths that decide who goes on with the update those that it has, with their modes.
    #[serde(skip)]
    pub(super) modes: BTreeMap<String, u32>,
}

impl Arriving {
    pub(super) fn of(incoming: &Incoming<'_>, commit: &str) -> Result<Self, Error> {
        let paths = [&UPDATERS[..], &[RECIPE, VERSIONS]].concat();
        let listing = incoming.ask("list the files that arrive", &[&["ls-tree", commit, "--"], &paths[..]].concat())?;
        let modes: BTreeMap<String, u32> = listing.lines().filter_map(mode_and_path).collect();
        let versions = match modes.contains_key(VERSIONS) {
            true => Some(incoming.ask("read what arrives", &["show", &format!("{commit}:{VERSIONS}")])?),
            false => None,
        };
        let ptoas = versions.and_then(|text| Some(parse_versions_env(&text).ptoas?.as_str().to_owned()));
        Ok(Self { ptoas, modes })
    }
}

/// Of a line of `git ls-tree`: `100755 blob 0123...<tab>docker/scripts/pypto-update`.
fn mode_and_path(line: &str) -> Option<(String, u32)> {
    let (facts, path) = line.split_once('\t')?;
    Some((path.to_owned(), u32::from_str_radix(facts.split(' ').next()?, 8).ok()?))
}
