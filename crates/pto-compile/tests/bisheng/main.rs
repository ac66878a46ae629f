//! bisheng plans from the outside: what is found, what is planned, what the compiler is really asked.

mod cann;
mod diagnose;
mod options;
mod plans;
mod stand_in;
mod stored;
mod support;
