//! Small kernels, built for the CPU with each set of PTO-ISA headers at hand and run in a process of their own.

mod bench;
mod child;

mod cache;
mod deadlocks;
mod faults;
mod flags;
mod instructions;
mod launches;
mod mistakes;
mod stand_in;
