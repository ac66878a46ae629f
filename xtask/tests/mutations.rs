//! A wrong kernel never passes: each example is broken in the ways its `mutations.toml` lists, and each time rejected.

mod scratch;

use scratch::{Ran, Scratch, examples};

/// As an A5 runs them; without it, as an A2 does.
const A5: &[&str] = &["--soc", "Ascend950PR_9599"];

#[derive(Debug, serde::Deserialize)]
struct Mutations {
    mutation: Vec<Mutation>,
}

#[derive(Debug, serde::Deserialize)]
struct Mutation {
    name: String,
    find: String,
    replace: String,
}

macro_rules! example {
    ($($name:ident),*) => {
        /// One test for each, so that they run beside each other.
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            rejects_its_mutations(stringify!($name));
        })*
    };
}
example!(add_matmul, matmul, matmul_add, silu, softmax, static_add, vec_add);

#[test]
fn every_example_is_tested() {
    let mut names: Vec<String> = fs_err::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("kernel.toml").is_file())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, TESTED);
}

fn rejects_its_mutations(name: &str) {
    let Some(scratch) = Scratch::new() else { return };
    scratch.example(name);
    passes(&scratch, name, &[]);
    passes(&scratch, name, A5);
    if let Some(second) = pto_test::second_headers() {
        let scratch = Scratch::new().unwrap().with_headers(second);
        scratch.example(name);
        passes(&scratch, name, &[]);
        passes(&scratch, name, A5);
    }
    let text = fs_err::read_to_string(examples().join(name).join("mutations.toml")).unwrap();
    let Mutations { mutation: mutations } = toml::from_str(&text).unwrap();
    assert!(mutations.len() >= 3, "{name} is broken in too few ways");
    for mutation in mutations {
        rejects(&scratch, name, &mutation);
    }
}

fn passes(scratch: &Scratch, name: &str, options: &[&str]) {
    let ran = test(scratch, name, options).expect(0);
    let report = ran.json();
    assert_eq!(report["passed"], true, "{ran}");
    assert!(report["totals"]["cases"].as_u64() >= Some(1), "{ran}");
}

fn rejects(scratch: &Scratch, name: &str, mutation: &Mutation) {
    scratch.example(name);
    let source = format!("{name}/{name}.cpp");
    let text = fs_err::read_to_string(scratch.path().join(&source)).unwrap();
    assert_eq!(text.matches(&mutation.find).count(), 1, "{name}, {}: `{}`", mutation.name, mutation.find);
    scratch.edit(&source, &mutation.find, &mutation.replace);
    // Exit code 1 is also a kernel that does not compile, which would prove nothing.
    let ran = test(scratch, name, &[]).expect(1);
    assert_eq!(ran.json()["kernels"][0]["status"], "failed", "{name}, {}: {ran}", mutation.name);
}

fn test(scratch: &Scratch, name: &str, options: &[&str]) -> Ran {
    let dir = format!("./{name}");
    let args = [&["kernel", "test", &dir, "--offline", "--json"], options].concat();
    scratch.command(&args).env("PTO_SYNC_TIMEOUT_S", "20").output().unwrap().into()
}
