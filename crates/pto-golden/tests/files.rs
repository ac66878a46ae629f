//! Tensor files of every kind, and files that are none.

mod support;

use std::io::Write as _;
use std::path::Path;

use pto_golden::files::{self, Content, Declared};
use pto_golden::suite::{Hints, Rules, compare_files};
use pto_golden::{DType, Error, Fill, Status, Tensor, npy, raw};

fn sample(dtype: DType, shape: &[usize]) -> Tensor {
    Fill::default_for(dtype).generate(dtype, shape, 7, "sample").unwrap()
}

fn named(path: &Path) -> std::collections::BTreeMap<String, Tensor> {
    match files::open(path, &Declared::default()).unwrap() {
        Content::Named(tensors) => tensors,
        Content::One(_) => panic!("one tensor"),
    }
}

fn malformed(path: &Path) -> (usize, String) {
    let error = files::open(path, &Declared::default()).unwrap_err();
    match error {
        Error::File { source, .. } => match *source {
            Error::Malformed { offset, reason } => (offset, reason),
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    }
}

#[test]
fn archives_of_numpy() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"
import numpy as np
a, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3))
np.savez("stored.npz", a=a, b=b)
np.savez_compressed("deflated.npz", a=a, b=b)
"#;
    if let Err(why) = support::numpy(dir.path(), script) {
        eprintln!("skipped: {why}");
        return;
    }
    let a: Vec<f32> = (0..12u8).map(f32::from).collect();
    let (a, b) = (Tensor::from_slice([3, 4], &a).unwrap(), Tensor::from_slice([2, 3], &[0i16, 1, 2, 3, 4, 5]).unwrap());
    for file in ["stored.npz", "deflated.npz"] {
        let tensors = named(&dir.path().join(file));
        assert_eq!((&tensors["a"], &tensors["b"]), (&a, &b), "{file}");
    }
    let whole = std::fs::read(dir.path().join("stored.npz")).unwrap();
    let cut = dir.path().join("cut.npz");
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    assert!(malformed(&cut).1.starts_with("no .npz file"));
}

#[test]
fn safetensors_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.safetensors");
    let header = br#"{"w":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},"q":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[8,11]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header);
    file.extend_from_slice(&[0, 0x3F, 0x80, 0x3F, 0, 0x40, 0, 0xC0, 0x38, 0x40, 0xFF]);
    std::fs::write(&path, &file).unwrap();
    let tensors = named(&path);
    assert_eq!(tensors["w"].to_f64().into_iter().collect::<Vec<_>>(), [0.5, 1.0, 2.0, -2.0]);
    let q: Vec<f64> = tensors["q"].to_f64().into_iter().collect();
    assert!(q[..2] == [1.0, 2.0] && q[2].is_nan());
    std::fs::write(&path, &file[..file.len() - 1]).unwrap();
    assert_eq!(malformed(&path).0, 8);
    std::fs::write(&path, [0xFF; 16]).unwrap();
    assert_eq!(malformed(&path).0, 0);
}

#[test]
fn raw_files_need_a_dtype_and_pack_four_bits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.bin");
    let tensor = sample(DType::I4, &[3, 3]);
    raw::write(&path, &tensor).unwrap();
    assert_eq!(std::fs::read(&path).unwrap().len(), 5);
    let declared = Declared { dtype: Some(DType::I4), shape: Some([3, 3].into()) };
    let Content::One(read) = files::open(&path, &declared).unwrap() else { panic!("one tensor") };
    assert_eq!(read.to_f64(), tensor.to_f64());
    let error = files::open(&path, &Declared::default()).unwrap_err();
    assert!(error.hint().unwrap().contains("declare the dtype"));
    let flat = Declared { dtype: Some(DType::F16), shape: None };
    assert!(files::open(&path, &flat).is_err(), "5 bytes are no f16");
    let pickle = files::open(dir.path().join("x.pt"), &Declared::default()).unwrap_err();
    assert!(pickle.to_string().contains("is no tensor file") && pickle.hint().unwrap().contains("safetensors"));
}

/// A sparse file takes no room on the disk, and comparing it takes no memory: it is larger than this test may use.
#[test]
fn files_are_mapped_and_not_read() {
    const ELEMENTS: usize = 1 << 26;
    let dir = tempfile::tempdir().unwrap();
    let make = |name: &str| {
        let path = dir.path().join(name);
        let mut file = std::fs::File::create(&path).unwrap();
        let bytes = npy::to_bytes(&Tensor::zeros(DType::F32, [1]).unwrap());
        let header = String::from_utf8_lossy(&bytes[10..128]).replace("(1,)", &format!("({ELEMENTS},)"));
        let header = &header[..118];
        file.write_all(&bytes[..10]).unwrap();
        let padded = format!("{:<117}\n", header.trim_end());
        file.write_all(&padded.as_bytes()[..118]).unwrap();
        file.set_len(128 + 4 * ELEMENTS as u64).unwrap();
        path
    };
    let tensor = npy::read(make("big.npy")).unwrap();
    assert_eq!(tensor.len(), ELEMENTS);
    assert_eq!(tensor.get(ELEMENTS - 1), Some(pto_golden::Scalar::Float(0.0)));
    let resident = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let anonymous = resident.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or("0 kB");
    let kilobytes: usize = anonymous.split_whitespace().next().unwrap().parse().unwrap();
    assert!(kilobytes < 200_000, "{kilobytes} kB of memory for a mapped file of 256 MiB");
}

#[test]
fn directories_miss_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (actual, expected) = (dir.path().join("a"), dir.path().join("e"));
    std::fs::create_dir_all(&actual).unwrap();
    std::fs::create_dir_all(&expected).unwrap();
    let write =
        |dir: &Path, name: &str| npy::write(dir.join(format!("{name}.npy")), &sample(DType::F16, &[4])).unwrap();
    write(&actual, "y");
    write(&expected, "y");
    write(&actual, "extra");
    write(&expected, "lost");
    let mut verdicts = Vec::new();
    let mut keep = |judged: pto_golden::suite::Judged| verdicts.push((judged.named.name, judged.named.report.status));
    compare_files(&actual, &expected, &Rules::default(), &Hints::default(), &mut keep).unwrap();
    let names: Vec<(&str, Status)> = verdicts.iter().map(|(name, status)| (name.as_str(), *status)).collect();
    assert_eq!(names, [("extra", Status::Unexpected), ("lost", Status::Missing), ("y", Status::Passed)]);
    let rules: Rules = toml::from_str("[tensor.yy]\nrule = 'exact'").unwrap();
    let error = compare_files(&actual, &expected, &rules, &Hints::default(), |_| {}).unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("did you mean `y`?"));
    let file = actual.join("y.npy");
    assert!(compare_files(&file, &expected, &Rules::default(), &Hints::default(), |_| {}).is_err());
    write(&actual, "z");
    std::fs::write(actual.join("z.bin"), [0; 8]).unwrap();
    let error = compare_files(&actual, &expected, &Rules::default(), &Hints::default(), |_| {}).unwrap_err();
    assert!(error.to_string().contains("have the same name"), "{error}");
}

/// An archive of these members.
fn archive(names: &[&str]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for name in names {
        writer.start_file(*name, options).unwrap();
        writer.write_all(&npy::to_bytes(&sample(DType::F32, &[3, 4]))).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn an_archive_with_two_members_of_one_name_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("twice.npz");
    let mut bytes = archive(&["a.npy", "b.npy"]);
    std::fs::write(&path, &bytes).unwrap();
    files::open(&path, &Declared::default()).unwrap();
    let places: Vec<usize> = (0..bytes.len() - 5).filter(|at| bytes[*at..].starts_with(b"b.npy")).collect();
    assert_eq!(places.len(), 2, "before the member and in the directory");
    places.into_iter().for_each(|at| bytes[at] = b'a');
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(malformed(&path).1, "two members have the same name, expected each name once");
}

fn safetensors() -> Vec<u8> {
    let header = br#"{"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
    [&(header.len() as u64).to_le_bytes()[..], header, &[0; 16]].concat()
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]
    #[test]
    fn broken_files_are_refused_and_nothing_panics(at in 0usize..400, byte: u8, cut in 0usize..600, zip: bool) {
        let (mut bytes, name) = if zip { (archive(&["a.npy"]), "x.npz") } else { (safetensors(), "x.safetensors") };
        if let Some(broken) = bytes.get_mut(at) {
            *broken = byte;
        }
        bytes.truncate(cut);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let _ = files::open(&path, &Declared::default());
    }
}

/// A pipe would wait for a writer, a device may have no end.
#[test]
fn what_is_no_regular_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe.npy");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let error = files::open(&path, &Declared::default()).unwrap_err();
    assert!(error.to_string().ends_with("pipe.npy` is not a regular file"), "{error}");
}
