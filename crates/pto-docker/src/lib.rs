//! The Docker engine through its own client: command lines as values, credentials on stdin alone, a private configuration
//! directory that is gone on every exit, images and containers as facts.
//!
//! This crate must not know what an image holds, nor PyPTO.
