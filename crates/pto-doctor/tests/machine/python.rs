//! What a real Python says of its modules, through the question that doctor asks.

use std::path::Path;
use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_doctor::{BuildCommit, ModuleOrigin, ProbeOptions, Probes, PythonFacts, Source};

use crate::support::PATIENCE;

/// The facts with these files on `PYTHONPATH`.
fn facts(files: &[(&str, &str)]) -> (tempfile::TempDir, PythonFacts) {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let file = dir.path().join(file);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
    }
    // The Python of this machine, and nothing else of it.
    let cx = Context::from_process(Arc::new(Silent)).unwrap().with_var("PYTHONPATH", dir.path());
    let options = ProbeOptions { worker: None, deadline: PATIENCE };
    let probes = Probes::gather(&cx, &[Source::Python].into(), &options);
    let said = probes.python.said().unwrap_or_else(|| panic!("python3 is needed for this test: {:?}", probes.python));
    let answer = said.stdout.lines().rev().find_map(|line| line.strip_prefix("ptokit-facts:"));
    let answer = answer.unwrap_or_else(|| panic!("{said:?}"));
    let facts = serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
    (dir, facts)
}

fn found<'a>(facts: &'a PythonFacts, name: &str) -> &'a ModuleOrigin {
    facts.modules[name].as_ref().unwrap_or_else(|| panic!("`{name}` was not found: {facts:?}"))
}

#[test]
fn modules_are_found_as_an_import_would_find_them() {
    // A name that JSON and Python spell differently, and a module that must not be imported.
    let (dir, facts) =
        facts(&[("pypto/__init__.py", "raise SystemExit('imported')"), ("ptoas/x \"ü\\n\".py", ""), ("acl.py", "")]);
    let origin = |name| match found(&facts, name) {
        ModuleOrigin::Found { origin, namespace, .. } => (origin.clone(), *namespace),
        ModuleOrigin::Broken { error } => panic!("{error}"),
    };
    let path = |file: &str| Some(dir.path().join(file).display().to_string());
    assert_eq!(origin("pypto"), (path("pypto/__init__.py"), false));
    assert_eq!(origin("ptoas"), (None, true));
    assert_eq!(origin("acl"), (path("acl.py"), false));
    assert_eq!((&facts.modules["simpler"], &facts.build_commit), (&None, &BuildCommit::NotAsked));
    assert!(Path::new(&facts.executable).is_absolute() && !facts.version.is_empty());
}

#[test]
fn the_stamp_of_an_extension_survives_what_the_extension_does() {
    let stamp = |text: &str| facts(&[("simpler/__init__.py", ""), ("_task_interface.py", text)]).1.build_commit;
    let BuildCommit::Stamped { commit, file } = stamp("print('noise')\n__build_commit__ = '0123'") else { panic!() };
    assert!(commit == "0123" && file.is_some_and(|file| file.ends_with("_task_interface.py")));
    assert_eq!(stamp(""), BuildCommit::Unstamped);
    let BuildCommit::Broken { why } = stamp("raise RuntimeError('\"no\"\\n\\udcff')") else { panic!() };
    assert!(why.starts_with("RuntimeError: \"no\""), "{why}");
    assert_eq!(stamp("import os; os._exit(3)"), BuildCommit::NotAsked, "a crash costs the stamp alone");
    let inside = facts(&[("simpler/__init__.py", ""), ("simpler/_task_interface.py", "__build_commit__ = ''")]).1;
    assert!(matches!(inside.build_commit, BuildCommit::Stamped { commit, .. } if commit.is_empty()));
}
