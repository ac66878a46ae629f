//! Setting a home up, with the real `uv` and real environments.

mod helpers;
mod python;
mod rough;
mod support;
mod uv;
mod whole;
