//! Records: kept, found again, and held against what a kernel has to have been through.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{GOOD, manifest_dir};
use pto_context::Context;
use pto_kernel::Manifest;
use pto_kernel::record::{
    BlockDim, Commands, Digests, Dims, Entry, FileDigest, Freshness, ItemStatus, Logbook, Record, RecordedCase,
    TreeDigest, Versions, definition_of_done, place,
};
use pto_platform::{RanOn, Target};

fn context(dir: &Path) -> Context {
    Context::fake(dir, [("PATH", "/usr/bin")])
}

fn case(n: i64) -> RecordedCase {
    RecordedCase {
        case: format!("n={n}"),
        dims: BTreeMap::from([("n".to_owned(), n)]),
        origin: "listed".into(),
        seed: 1,
        block_dim: 1,
        shapes: BTreeMap::new(),
        status: "passed".into(),
        message: String::new(),
        worst_abs: None,
        relative_rmse: None,
        r2: None,
        device_seconds: None,
    }
}

/// A run on silicon that passed.
fn record(cx: &Context, manifest: &Manifest, target: Target, lengths: &[i64]) -> Record {
    Record {
        schema: Record::SCHEMA.into(),
        kernel: manifest.name.clone(),
        manifest: place(cx, &manifest.path),
        verb: "test".into(),
        written_at: "2026-01-01T00:00:00Z".into(),
        target,
        soc: Some("Ascend910B2".into()),
        usual_soc: true,
        mode: Some(RanOn::Silicon),
        path: Some("direct".into()),
        device: Some(3),
        status: "passed".into(),
        passed: true,
        complete: true,
        commands: Commands::default(),
        versions: Versions::default(),
        dims: Dims::default(),
        block_dim: BlockDim::default(),
        tolerances: Vec::new(),
        repeats: 5,
        cases: lengths.iter().map(|n| case(*n)).collect(),
        blockers: Vec::new(),
        digests: Digests::default(),
        git: None,
        bench: None,
    }
}

fn load(dir: &Path) -> Manifest {
    fs_err::write(dir.join("kernel.toml"), GOOD).unwrap();
    Manifest::load(&dir.join("kernel.toml")).unwrap()
}

fn status(cx: &Context, manifest: &Manifest, records: &[Record], id: &str) -> (ItemStatus, String) {
    let entry = |record: &Record| Entry { path: "record.json".into(), record: record.clone() };
    let entries: Vec<Entry> = records.iter().map(entry).collect();
    let report = definition_of_done(cx, manifest, &entries);
    let item = report.items.into_iter().find(|item| item.id == id).unwrap();
    (item.status, item.evidence)
}

#[test]
fn edges_are_covered_by_sizes_and_not_by_names() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let with =
        |lengths: &[i64], id: &str| status(&cx, &manifest, &[record(&cx, &manifest, Target::A2a3, lengths)], id).0;
    let tile = 16384;
    assert_eq!(with(&[tile], "one-tile"), ItemStatus::Done);
    assert_eq!(with(&[tile - 1, tile * 3], "one-tile"), ItemStatus::Missing);
    assert_eq!(with(&[tile * 2], "two-tiles"), ItemStatus::Done);
    assert_eq!(with(&[tile * 3], "tail"), ItemStatus::Missing);
    assert_eq!(with(&[tile * 3 + 1], "tail"), ItemStatus::Done);
    assert_eq!(with(&[tile * 48], "more-work-than-cores"), ItemStatus::Missing);
    assert_eq!(with(&[tile * 48 + 1], "more-work-than-cores"), ItemStatus::Done);
    let mut failed = record(&cx, &manifest, Target::A2a3, &[tile]);
    failed.cases[0].status = "differs".into();
    assert_eq!(status(&cx, &manifest, &[failed], "one-tile").0, ItemStatus::Missing);
}

#[test]
fn silicon_needs_five_repeats_and_a_model_one() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let with = |mode, repeats| {
        let record = Record { mode: Some(mode), repeats, ..record(&cx, &manifest, Target::A2a3, &[1]) };
        status(&cx, &manifest, &[record], "repeats-a2a3")
    };
    assert_eq!(with(RanOn::Silicon, 4), (ItemStatus::Missing, "4 of 5".into()));
    assert_eq!(with(RanOn::Silicon, 5), (ItemStatus::Done, "5 of 5".into()));
    assert_eq!(with(RanOn::Model, 1).0, ItemStatus::Done);
    // Of another target, or of another kernel of this name, it says nothing.
    assert_eq!(
        status(&cx, &manifest, &[record(&cx, &manifest, Target::A5, &[1])], "repeats-a2a3").0,
        ItemStatus::Missing
    );
    let other = Record { manifest: "/elsewhere/kernel.toml".into(), ..record(&cx, &manifest, Target::A2a3, &[1]) };
    assert_eq!(status(&cx, &manifest, &[other], "repeats-a2a3").0, ItemStatus::Missing);
}

#[test]
fn a_later_run_takes_the_place_of_an_earlier_one_and_an_interrupted_one_never_does() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let book = Logbook::at(dir.path().join("verification"));
    assert!(book.contents().unwrap().entries.is_empty());
    let passed = record(&cx, &manifest, Target::A2a3, &[1, 2]);
    let interrupted = Record { status: Record::INTERRUPTED.into(), complete: false, ..passed.clone() };
    let names = || {
        let mut names: Vec<String> = Vec::new();
        for entry in book.contents().unwrap().entries {
            names.push(entry.path.file_name().unwrap().to_str().unwrap().to_owned());
        }
        names
    };
    book.save(std::slice::from_ref(&passed)).unwrap();
    book.save(&[interrupted]).unwrap();
    assert_eq!(names(), ["vec_add-a2a3-interrupted.json", "vec_add-a2a3.json"]);
    book.save(&[Record { written_at: "later".into(), ..passed.clone() }]).unwrap();
    assert_eq!(names(), ["vec_add-a2a3.json"]);
    assert_eq!(book.contents().unwrap().entries[0].record.written_at, "later");
    let part = Record { complete: false, cases: vec![case(7)], ..passed };
    book.save(&[part]).unwrap();
    assert_eq!(names(), ["vec_add-a2a3-n=7.json", "vec_add-a2a3.json"]);
    let log = fs_err::read_to_string(book.dir().join(Logbook::LOG)).unwrap();
    assert_eq!(log.matches("## vec_add on a2a3 (test): passed").count(), 2);
}

/// A copy of a kernel that is tried elsewhere is another kernel, as long as both are there.
#[test]
fn kernels_of_one_name_keep_their_own_records() {
    let (dir, copy) = (manifest_dir(), manifest_dir());
    let book = Logbook::at(dir.path().join("verification"));
    let of = |dir: &Path, written_at: &str| {
        let record = record(&context(dir), &load(dir), Target::A2a3, &[1]);
        Record { written_at: written_at.into(), ..record }
    };
    let written = || -> Vec<String> {
        book.contents().unwrap().entries.into_iter().map(|entry| entry.record.written_at).collect()
    };
    for (dir, written_at) in [(dir.path(), "first"), (copy.path(), "copy"), (copy.path(), "copy again")] {
        book.save(&[of(dir, written_at)]).unwrap();
    }
    assert_eq!(written(), ["copy again", "first"]);
    let last = of(dir.path(), "the only one");
    drop(copy);
    book.save(&[last]).unwrap();
    assert!(written().contains(&"the only one".to_owned()));
}

#[test]
fn a_table_of_markdown_is_not_broken_by_what_stands_in_it() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let mut record = record(&cx, &manifest, Target::A2a3, &[1]);
    record.cases[0].origin = "a | b\nc".into();
    let text = record.to_markdown(1);
    assert!(text.contains("| n=1 | a \\| b c | 1 |"), "{text}");
    assert!(text.contains("- ran on: silicon: device 3, Ascend910B2"), "{text}");
}

#[test]
fn a_blank_reason_is_none() {
    let dir = manifest_dir();
    let cx = context(dir.path());
    let with = |reason: &str| {
        let text = GOOD.replace("f16 accumulation", reason);
        fs_err::write(dir.path().join("kernel.toml"), text).unwrap();
        let manifest = Manifest::load(&dir.path().join("kernel.toml")).unwrap();
        status(&cx, &manifest, &[], "tolerances").0
    };
    assert_eq!(with("sums of 4096 halves"), ItemStatus::Done);
    assert_eq!(with(" "), ItemStatus::Missing);
}

/// The verdict is said in words only where the count does not say it.
#[test]
fn what_passed_is_counted_and_what_did_not_is_named() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let passed = record(&cx, &manifest, Target::A2a3, &[1, 2]);
    let mut failed = Record { passed: false, status: "failed".into(), ..passed.clone() };
    failed.cases[0].status = "differs".into();
    let evidence = |record: Record| status(&cx, &manifest, &[record], "compared-a2a3").1;
    assert_eq!(evidence(passed), "2 of 2 cases passed");
    assert_eq!(evidence(failed), "1 of 2 cases passed: failed");
}

#[test]
fn verdicts_are_in_words() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let mut record = Record { status: "not_built".into(), ..record(&cx, &manifest, Target::A2a3, &[1]) };
    record.cases[0].status = "no_golden".into();
    assert_eq!((record.verdict(), record.cases[0].verdict()), ("does not build", "no golden"));
    record.status = "of_a_later_version".into();
    assert_eq!(record.verdict(), "of_a_later_version");
}

#[test]
fn what_is_no_record_is_named_and_never_waited_for() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let book = Logbook::at(dir.path().join("verification"));
    let good = record(&cx, &manifest, Target::A2a3, &[1]);
    book.save(std::slice::from_ref(&good)).unwrap();
    let path = |name: &str| book.dir().join(name);
    let newer = serde_json::json!({ "schema": "ptokit.record/2", "runs": [] });
    fs_err::write(path("a-newer.json"), newer.to_string()).unwrap();
    fs_err::write(path("b-deep.json"), "[".repeat(100_000)).unwrap();
    fs_err::create_dir(path("c-directory.json")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, path("d-pipe.json"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    fs_err::os::unix::fs::symlink("/dev/zero", path("e-endless.json")).unwrap();
    fs_err::File::create(path("f-huge.json")).unwrap().set_len(1 << 40).unwrap();
    fs_err::write(path("g-bytes.json"), b"{\"schema\": \"\xff\"}").unwrap();
    let contents = book.contents().unwrap();
    assert_eq!(contents.entries.len(), 1);
    let why: Vec<&str> = contents.unreadable.iter().map(|file| file.message.split_once("json` ").unwrap().1).collect();
    let [newer, deep, rest @ ..] = why.as_slice() else { panic!("{why:?}") };
    assert!(newer.ends_with("its schema is `ptokit.record/2`, expected `ptokit.record/1`"), "{newer}");
    assert!(deep.starts_with("is no record"));
    let [directory, pipe, endless, huge, bytes] = rest else { panic!("{why:?}") };
    assert_eq!([*directory, *pipe, *endless], ["is not a regular file"; 3]);
    assert_eq!(*huge, "is larger than 64 MiB");
    assert!(bytes.starts_with("is no record"));
}

#[test]
fn a_place_that_is_taken_keeps_no_other_record_from_being_written() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let book = Logbook::at(dir.path().join("verification"));
    fs_err::create_dir_all(book.dir().join("vec_add-a2a3.json")).unwrap();
    let records = [Target::A2a3, Target::A5].map(|target| record(&cx, &manifest, target, &[1]));
    let refused = book.save(&records).unwrap_err().to_string();
    assert!(refused.contains("vec_add-a2a3.json`: "), "{refused}");
    assert_eq!(book.contents().unwrap().entries.len(), 1);
    assert!(fs_err::read_to_string(book.log()).unwrap().contains("vec_add on a5"));
}

#[test]
fn of_runs_that_end_at_once_the_log_has_all() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    for round in 0..20 {
        let book = Logbook::at(dir.path().join(format!("verification-{round}")));
        std::thread::scope(|scope| {
            for number in 0..8 {
                let one = Record { kernel: format!("k{number}"), ..record(&cx, &manifest, Target::A2a3, &[1]) };
                let book = &book;
                scope.spawn(move || book.save(&[one]).unwrap());
            }
        });
        let log = fs_err::read_to_string(book.log()).unwrap();
        let missing: Vec<i32> = (0..8).filter(|number| !log.contains(&format!("## k{number} on"))).collect();
        assert_eq!(missing, [0; 0], "round {round}");
        assert!(!book.dir().join(".lock").exists());
    }
}

#[test]
fn a_record_is_held_against_regular_files_only_and_no_more_of_them_than_there_were() {
    let dir = manifest_dir();
    let (cx, manifest) = (context(dir.path()), load(dir.path()));
    let pipe = dir.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let file = |path: &Path| FileDigest { path: path.to_path_buf(), sha256: "0".into() };
    let digests = Digests {
        sources: vec![file(&pipe), file(Path::new("/dev/zero"))],
        headers: Some(TreeDigest { path: "/".into(), files: 3, sha256: "0".into() }),
        artifact: Some(file(dir.path())),
    };
    let changes = Freshness::of(&Record { digests, ..record(&cx, &manifest, Target::A2a3, &[1]) }).changes;
    assert!(changes[..3].iter().all(|change| change.ends_with("is not a regular file")), "{changes:?}");
    assert_eq!(changes[3], "PTO-ISA's headers in `/` have changed");
}
