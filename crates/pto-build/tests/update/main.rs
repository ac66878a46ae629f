//! Updates of real repositories with real remotes.

mod moves;
mod patched;
mod rough;
mod states;
mod support;
