//! New kernels, and kernels found again.

mod common;

use common::GOOD;
use pto_kernel::cases::{Cores, bind, derive};
use pto_kernel::discover::discover;
use pto_kernel::scaffold::create;
use pto_kernel::signature::{check_signature, declared_launchers};
use pto_kernel::source::Source;
use pto_kernel::{KernelError, Manifest};
use pto_platform::Target;

#[test]
fn a_new_kernel_is_complete() {
    let parent = tempfile::tempdir().unwrap();
    let dir = create(parent.path(), "my_kernel").unwrap();
    assert_eq!(dir, parent.path().join("my_kernel"));
    let manifest = Manifest::load(&dir.join("kernel.toml")).unwrap();
    assert!(manifest.warnings.is_empty(), "{:?}", manifest.warnings);
    assert_eq!((manifest.name.as_str(), manifest.sources.as_slice()), ("my_kernel", &[dir.join("my_kernel.cpp")][..]));
    let source = Source::read(&manifest.sources[0]).unwrap();
    let launchers = declared_launchers(&source);
    assert_eq!(launchers.len(), 1);
    check_signature(&manifest, &launchers).unwrap();
    let cores = Cores { vector: 48, cube: 24 };
    for case in derive(&manifest, Target::A2a3, cores, 1) {
        bind(&manifest, &case, cores).unwrap();
    }
    for file in ["kernel.toml", "my_kernel.cpp", "README.md"] {
        let text = fs_err::read_to_string(dir.join(file)).unwrap();
        assert!(text.contains("my_kernel") && !text.contains('@'), "{file}");
    }
}

#[test]
fn a_name_has_to_be_usable_and_free() {
    let parent = tempfile::tempdir().unwrap();
    for name in ["", "2d", "a-b", "a b", "../a", "_a", "float", "half", "target", "\u{e4}"] {
        assert!(matches!(create(parent.path(), name), Err(KernelError::Name { .. })), "{name}");
    }
    assert_eq!(fs_err::read_dir(parent.path()).unwrap().count(), 0);
    create(parent.path(), "a").unwrap();
    let error = create(parent.path(), "a").unwrap_err();
    assert!(matches!(error, KernelError::Exists { .. }), "{error}");
    assert!(matches!(create("/nowhere".as_ref(), "a"), Err(KernelError::Write { .. })));
}

#[test]
fn every_manifest_is_found_and_bad_ones_hide_none() {
    let root = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    };
    for dir in ["b", "a/deep", "c"] {
        put(&format!("{dir}/kernel.toml"), &GOOD.replace("name = \"vec_add\"", &format!("name = \"k_{}\"", &dir[..1])));
        put(&format!("{dir}/vec_add.cpp"), "");
    }
    put("bad/kernel.toml", "[kernel]\n");
    put("target/kernel.toml", GOOD);
    put(".git/kernel.toml", GOOD);
    put("d/kernel.toml", &GOOD.replace("name = \"vec_add\"", "name = \"k_c\""));
    put("d/vec_add.cpp", "");

    let found = discover(root.path());
    let names: Vec<&str> = found.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["k_a", "k_b", "k_c", "k_c"]);
    assert_eq!(found.failures.len(), 1);
    assert_eq!(found.failures[0].0, root.path().join("bad/kernel.toml"));
    let collisions: Vec<String> = found.collisions.iter().map(ToString::to_string).collect();
    let root = root.path().display();
    assert_eq!(collisions, [format!("kernel `k_c` is defined by {root}/c/kernel.toml and by {root}/d/kernel.toml")]);
    assert_eq!(found.by_name("k_a").map(|kernel| kernel.name.as_str()), Some("k_a"));
    assert!(found.by_name("k_c").is_none(), "an ambiguous name means neither");
}

#[test]
fn a_directory_that_is_not_there_is_a_failure() {
    let found = discover("/nowhere".as_ref());
    assert!(found.kernels.is_empty());
    assert!(matches!(found.failures[0].1, KernelError::Read { .. }));
}

#[test]
fn one_manifest_can_be_named_directly() {
    let parent = tempfile::tempdir().unwrap();
    let dir = create(parent.path(), "one").unwrap();
    assert_eq!(discover(&dir.join("kernel.toml")).kernels.len(), 1);
}
