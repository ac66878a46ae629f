//! Updates of real repositories with real remotes.

mod moves;
mod rough;
mod states;
mod support;
