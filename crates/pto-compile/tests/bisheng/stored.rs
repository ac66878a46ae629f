//! What is in the store is not built again, and what has changed is.

use std::path::PathBuf;

use pto_compile::bisheng::{BishengRequest, CompileOptions, build};
use pto_compile::cann::{Toolchain, ToolchainOptions};
use pto_compile::plan::RunError;
use pto_platform::{Core, Target};
use pto_store::Store;

use crate::support::{calls, cann_below, request};
use pto_test::cann::StandInCann;

struct Place {
    fake: StandInCann,
    store: Store,
    source: PathBuf,
}

impl Place {
    fn new() -> Self {
        let fake = cann_below("cann");
        let source = fake.source("k.cpp");
        fs_err::write(&source, "#include \"part.hpp\"\n").unwrap();
        fs_err::write(fake.source("part.hpp"), "int part;\n").unwrap();
        Self { store: Store::open(fake.out_dir()), source, fake }
    }

    fn request(&self) -> BishengRequest {
        BishengRequest { sources: vec![self.source.clone()], ..request(Target::A5, Core::Vec) }
    }

    /// Whether the library was in the store.
    fn cached(&self, request: &BishengRequest) -> Result<bool, RunError> {
        let cx = self.fake.context();
        let toolchain = Toolchain::find(&cx, &ToolchainOptions::default()).unwrap();
        let built = build(&cx, &self.store, &toolchain, request)?;
        assert!(built.library.starts_with(self.store.root()) && built.library.ends_with("libvec_add.so"));
        assert!(built.library.is_file());
        Ok(built.cached)
    }
}

#[test]
fn exactly_what_has_changed_is_built_again() {
    let place = Place::new();
    let first = place.request();
    assert!(!place.cached(&first).unwrap());
    let before = calls(&place.fake).len();
    assert!(place.cached(&first).unwrap());
    assert_eq!(calls(&place.fake).len(), before, "nothing is run for what is there");
    fs_err::write(&place.source, "#include \"part.hpp\"\nint more;\n").unwrap();
    assert!(!place.cached(&first).unwrap(), "the source");
    fs_err::write(place.source.with_file_name("part.hpp"), "int other;\n").unwrap();
    assert!(!place.cached(&first).unwrap(), "a header of the user");
    fs_err::write(place.fake.root.join("include/pto/pto-inst.hpp"), "// changed\n").unwrap();
    assert!(!place.cached(&first).unwrap(), "a header of PTO-ISA");
    let options = CompileOptions { defines: vec![("N".to_owned(), None)], ..CompileOptions::default() };
    assert!(!place.cached(&BishengRequest { options, ..first.clone() }).unwrap(), "a flag");
    let generated = vec![("call.cpp".to_owned(), "void call() {}\n".to_owned())];
    assert!(!place.cached(&BishengRequest { generated, ..first.clone() }).unwrap(), "a generated source");
    assert!(place.cached(&first).unwrap());
    let bisheng = place.fake.root.join("bin/bisheng");
    let script = fs_err::read_to_string(&bisheng).unwrap();
    fs_err::write(bisheng, script + "# another build of it\n").unwrap();
    assert!(!place.cached(&first).unwrap(), "the compiler");
}

#[test]
fn a_build_that_fails_leaves_nothing() {
    let place = Place::new();
    let bisheng = place.fake.root.join("bin/bisheng");
    let script = fs_err::read_to_string(&bisheng).unwrap();
    fs_err::write(&bisheng, script.replace("echo built > \"$out\"", "fail 'no such type'")).unwrap();
    let error = place.cached(&place.request()).unwrap_err();
    assert!(error.is_the_kernels(), "{error}");
    fs_err::write(&bisheng, script).unwrap();
    assert!(!place.cached(&place.request()).unwrap());
}

#[test]
fn a_source_that_is_missing_is_named() {
    let place = Place::new();
    fs_err::remove_file(&place.source).unwrap();
    let RunError::Read(source) = place.cached(&place.request()).unwrap_err() else { panic!() };
    assert!(source.to_string().contains("k.cpp"), "{source}");
}
