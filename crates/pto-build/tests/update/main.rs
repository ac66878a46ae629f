//! Updates of real repositories with real remotes.

mod clones;
mod moves;
mod remedies;
mod rough;
mod states;
mod support;
