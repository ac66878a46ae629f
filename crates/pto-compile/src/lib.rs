//! Kernel source to shared object.
