//! Linker arguments of the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A program linked against the library asks for it by the name the real one has.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libascendcl.so");
    // Stream threads and the signal handler outlive any `dlclose`.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
