//! What tests will find on this machine: `cargo run -p pto-test --example found`.
#![expect(clippy::print_stdout, reason = "an example's result")]

fn main() {
    let shown =
        |headers: Option<std::path::PathBuf>| headers.map_or("none".to_owned(), |dir| dir.display().to_string());
    println!("PTO-ISA's headers: {}", shown(pto_test::headers()));
    println!("a second set: {}", shown(pto_test::second_headers()));
}
