//! Updates of real repositories with real remotes.

mod clones;
mod moved_remote;
mod moves;
mod patched;
mod remedies;
mod rough;
mod states;
mod support;
