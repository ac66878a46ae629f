//! What a compiler and PTO-ISA's headers have to do with what is built again, and whose fault a failure is. With a
//! stand-in that writes what a compiler writes: a real one takes a minute for each set of headers that it is tried with.

use std::os::unix::fs::PermissionsExt as _;

use pto_compile::DEADLINE_VARIABLE;
use pto_compile::cpu::{CpuError, KernelRequest, Toolchain, ToolchainRequest, build};
use pto_context::Context;
use pto_platform::{Core, Soc};
use pto_store::Store;

use crate::bench::tree;

/// Writes a program that ends well, and says that it read one header of PTO-ISA. Where an object is asked for and `full`
/// lies beside it, it says what LLVM says on a full disk.
const STAND_IN: &str = r#"#!/bin/sh
here="$(dirname "$0")"
case "$*" in
    *--version*) echo "stand-in clang version 19.0.0"; exit 0 ;;
    *source-0*) if [ -e "$here/full" ]; then
        echo "LLVM ERROR: IO failure on output stream: No space left on device" >&2; exit 1
    fi ;;
esac
while [ $# -gt 0 ]; do
    case "$1" in
        -MF) printf 'out: %s\n' "$here/headers/pto/cpu/TAdd.hpp" > "$2"; shift ;;
        -o) printf '#!/bin/sh\n' > "$2"; chmod +x "$2"; shift ;;
    esac
    shift
done
"#;

struct Place {
    dir: tempfile::TempDir,
    cx: Context,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let dir = tree(&[
            ("k.cpp", "extern \"C\" void call() {}\n"),
            ("headers/pto/pto-inst.hpp", ""),
            ("headers/pto/cpu/TAdd.hpp", ""),
            ("cxx", STAND_IN),
        ]);
        fs_err::set_permissions(dir.path().join("cxx"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let cx = Context::fake(dir.path(), [("PATH", "/usr/bin:/bin")]);
        Self { store: Store::open(dir.path().join("store")), cx, dir }
    }

    fn write(&self, file: &str, text: &str) {
        fs_err::write(self.dir.path().join(file), text).unwrap();
    }

    /// Whether the kernel was in the store.
    fn build(&self) -> Result<bool, CpuError> {
        let cxx = self.dir.path().join("cxx").display().to_string();
        let wanted = ToolchainRequest { headers: self.dir.path().join("headers"), cxx: Some(cxx), fallback: None };
        let toolchain = Toolchain::configure(&self.cx, &self.store, &wanted)?;
        let soc = Soc::by_name("Ascend910B2").unwrap();
        let request = KernelRequest::new("k", vec!["k.cpp".into()], Core::Vec, soc);
        Ok(build(&self.cx, &self.store, &self.store, &toolchain, &request)?.cached)
    }
}

#[test]
fn a_pto_header_and_the_compiler_count() {
    let place = Place::new();
    assert!(!place.build().unwrap());
    assert!(place.build().unwrap());
    place.write("headers/pto/cpu/TAdd.hpp", "// changed\n");
    assert!(!place.build().unwrap(), "a PTO header");
    assert!(place.build().unwrap());
    place.write("cxx", &format!("{STAND_IN}# another build of it\n"));
    assert!(!place.build().unwrap(), "the compiler");
    assert!(place.build().unwrap());
}

#[test]
fn a_full_disk_is_not_the_kernels_fault() {
    let place = Place::new();
    place.write("full", "");
    let error = place.build().unwrap_err();
    assert!(matches!(error, CpuError::Write(_)) && !error.is_the_kernels(), "{error}");
    assert!(error.hint().unwrap().contains("PTOKIT_HOME"));
    fs_err::remove_file(place.dir.path().join("full")).unwrap();
    assert!(!place.build().unwrap(), "nothing was left");
}

#[test]
fn a_deadline_that_is_none_is_said_and_one_that_passes_is_not_the_kernels_fault() {
    let mut place = Place::new();
    place.cx = place.cx.with_var(DEADLINE_VARIABLE, "soon");
    let error = place.build().unwrap_err();
    assert_eq!(error.to_string(), "`PTO_COMPILE_TIMEOUT_S` is `soon`; expected a number of seconds above 0");
    place.cx = place.cx.with_var(DEADLINE_VARIABLE, "60");
    assert!(!place.build().unwrap());
    place.write("k.cpp", "extern \"C\" void call() { }\n");
    place.cx = place.cx.with_var(DEADLINE_VARIABLE, "0.000001");
    let error = place.build().unwrap_err();
    assert!(matches!(error, CpuError::Process(_)) && !error.is_the_kernels(), "{error}");
}
