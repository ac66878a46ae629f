//! A PyPTO checkout as git and the file system show it: primary checkout and linked worktrees, submodules, pins, who owns
//! it, and how many jobs its machine may run.
//!
//! This crate must not know what is built from a checkout, nor containers.
