//! The triage over logs in the formats of all tools.

mod fixtures;
mod properties;
mod samples;
mod support;
