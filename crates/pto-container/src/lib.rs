//! The development container: its image built, the container created, compared with what is asked for, and re-entered.
//!
//! This crate must not know kernels, registries, nor the command line.
