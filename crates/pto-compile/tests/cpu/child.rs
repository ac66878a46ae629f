//! A test that is a process: it loads a built kernel and calls its `test` function.

use std::ffi::c_char;

use libloading::Library;

pub(crate) const LIBRARY: &str = "PTOCPU_TEST_LIBRARY";
pub(crate) const WHICH: &str = "PTOCPU_TEST_WHICH";
pub(crate) const RESULTS: &str = "PTOCPU RESULTS ";
pub(crate) const REPORT: &str = "PTOCPU REPORT ";
/// How many numbers a test function may give back.
const ROOM: usize = 1024;

#[test]
#[ignore = "started by the other tests, in a process of its own"]
fn run_kernel() {
    let cx = pto_test::machine();
    let Some(path) = cx.var(LIBRARY) else { return };
    let which = cx.var(WHICH).and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut results = vec![0.0; ROOM];
    // SAFETY: the library was built by our tests, and its `test` has this signature (tests/kernels/support.hpp).
    let count = unsafe {
        let library = Library::new(path).unwrap();
        let count =
            library.get::<unsafe extern "C" fn(i32, *mut f64) -> i32>(b"test").unwrap()(which, results.as_mut_ptr());
        let report = library.get::<unsafe extern "C" fn(*mut c_char, usize) -> usize>(b"ptocpu_report").unwrap();
        let mut text = vec![0u8; 1 << 16];
        report(text.as_mut_ptr().cast(), text.len());
        let end = text.iter().position(|byte| *byte == 0).unwrap();
        println!("\n{REPORT}{}", String::from_utf8_lossy(&text[..end]));
        // Threads of the runtime may still be in it.
        std::mem::forget(library);
        usize::try_from(count).unwrap()
    };
    let results: Vec<String> = results[..count].iter().map(f64::to_string).collect();
    println!("{RESULTS}{}", results.join(" "));
}
