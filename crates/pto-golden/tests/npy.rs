//! `.npy` files: against the real NumPy, and against files that are wrong.

mod support;

use proptest::prelude::*;
use pto_golden::{DType, Error, Fill, Tensor, bf16, npy, raw};

fn sample(dtype: DType, shape: &[usize]) -> Tensor {
    Fill::default_for(dtype).generate(dtype, shape, 7, "sample").unwrap()
}

const SHAPES: [&[usize]; 6] = [&[], &[1], &[5], &[2, 3], &[2, 0, 3], &[3, 2, 4]];

#[test]
fn numpy_reads_what_we_write_and_we_read_what_it_writes() {
    let dir = tempfile::tempdir().unwrap();
    for dtype in DType::ALL {
        for (i, shape) in SHAPES.iter().enumerate() {
            npy::write(dir.path().join(format!("{dtype}_{i}.npy")), &sample(dtype, shape)).unwrap();
        }
    }
    let script = r#"
import glob, numpy as np
from numpy.lib import format as npf
for path in glob.glob("*.npy"):
    a = np.load(path)
    assert a.dtype.byteorder in "=|", a.dtype
    name = path[:-4]
    np.save(f"{name}.again.npy", a)
    assert open(path, "rb").read()[6:] == open(f"{name}.again.npy", "rb").read()[6:] or a.dtype.kind == "V", path
    np.save(f"{name}.fortran.npy", np.array(a, order="F"))
    if a.dtype.kind != "V":
        np.save(f"{name}.big.npy", a.astype(a.dtype.newbyteorder(">")))
    for version in [(2, 0), (3, 0)]:
        with open(f"{name}.v{version[0]}.npy", "wb") as f:
            npf.write_array(f, a, version=version)
print("read", len(glob.glob("*_?.npy")))
"#;
    match support::numpy(dir.path(), script) {
        Err(why) => pto_test::skip(&why),
        Ok(out) => {
            assert_eq!(out.trim(), format!("read {}", DType::ALL.len() * SHAPES.len()));
            for dtype in DType::ALL {
                for (i, shape) in SHAPES.iter().enumerate() {
                    check_files(dir.path(), dtype, shape, i);
                }
            }
        }
    }
}

fn check_files(dir: &std::path::Path, dtype: DType, shape: &[usize], i: usize) {
    let expected = sample(dtype, shape);
    for variant in ["", ".again", ".fortran", ".big", ".v2", ".v3"] {
        if dtype.numpy_descr().contains('V') && variant == ".big" {
            continue; // void elements have no byte order
        }
        let path = dir.join(format!("{dtype}_{i}{variant}.npy"));
        assert_eq!(npy::read_as(&path, dtype).unwrap(), expected, "{}", path.display());
        // A type that NumPy has no name for is written as void bytes or as one that it has: only who asks gets it back.
        let descr = dtype.numpy_descr();
        let first = DType::ALL.into_iter().find(|first| first.numpy_descr() == descr);
        if !descr.contains('V') && first == Some(dtype) {
            assert_eq!(npy::read(&path).unwrap(), expected, "{}", path.display());
        }
    }
}

/// A version 1.0 file with this header text and 64 bytes of elements.
fn file(header: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend((0..64).map(|i| i as u8));
    bytes
}

#[test]
fn malformed_files_are_refused_with_the_byte_and_the_reason() {
    let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }";
    assert!(npy::from_bytes(file(good), None).is_ok());
    for (bytes, at, reason) in [
        (b"PK\x03\x04".to_vec(), 0, "the file does not begin with `\\x93NUMPY`"),
        (b"\x93NUMPY".to_vec(), 6, "the file ends before the format version"),
        (b"\x93NUMPY\x04\x00".to_vec(), 6, "format version 4.0, expected 1.0, 2.0 or 3.0"),
        (b"\x93NUMPY\x01\x00\x76".to_vec(), 8, "the file ends before the length of the header"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), 8, "a header of 4294967295 bytes, at most 65536 are read"),
        (b"\x93NUMPY\x01\x00\x76\x00{".to_vec(), 11, "the file ends inside its header of 118 bytes"),
        (file(""), 10, "found the end of the header, expected `{`"),
        (file("{'descr': '<f4', 'shape': (16,), }"), 10, "the header has no `fortran_order`"),
        (file("{'descr': '<f4', 'descr': '<f4'}"), 27, "key `descr` a second time"),
        (file("{'order': 1}"), 11, "key `order`, expected descr, fortran_order or shape"),
        (file("{'descr': [('a', '<f4')]}"), 20, "a structured element type, expected a simple one such as `<f4`"),
        (file("{'descr': '<q'}"), 20, "element type `<q`, expected one such as `<f4`"),
        (file("{'descr': '<f4'; }"), 25, "found `;`, expected `}`"),
        (file("{'shape': (-1,)}"), 21, "found `-`, expected an axis of at least 0 that an address can count"),
        (
            file("{'shape': (99999999999999999999,)}"),
            21,
            "found `9`, expected an axis of at least 0 that an address can count",
        ),
        (file("{'fortran_order': 1}"), 28, "found `1`, expected True or False"),
        (
            file("{'descr': '<f4', 'fortran_order': False, 'shape': (17,)}"),
            130,
            "the file ends too early: shape [17] of f32 needs 68 bytes, found 64",
        ),
        (
            file("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5)}"),
            127,
            "the file goes on behind its last element: shape [3, 5] of f32 needs 60 bytes, found 64",
        ),
    ] {
        match npy::from_bytes(bytes, None) {
            Err(Error::Malformed { offset, reason: found }) => assert_eq!((offset, found.as_str()), (at, reason)),
            other => panic!("{reason}: {other:?}"),
        }
    }
    let huge = file("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}");
    assert!(matches!(npy::from_bytes(huge, None), Err(Error::TooLarge { .. })));
}

#[test]
fn a_declared_dtype_must_be_what_the_file_holds() {
    let void = || file("{'descr': '|V2', 'fortran_order': False, 'shape': (32,)}");
    let bits = || file("{'descr': '<u2', 'fortran_order': False, 'shape': (32,)}");
    let error = npy::from_bytes(void(), None).unwrap_err();
    assert_eq!(error.to_string(), "`|V2` names no element type this crate knows");
    assert_eq!(error.hint().unwrap(), "bf16 is saved like this; declare the dtype and it is read as that");
    let read = npy::from_bytes(void(), Some(DType::Bf16)).unwrap();
    assert_eq!(read.to_vec::<bf16>().unwrap()[0].to_bits(), 0x0100);
    assert_eq!(npy::from_bytes(bits(), Some(DType::Bf16)).unwrap(), read);
    let error = npy::from_bytes(bits(), Some(DType::F16)).unwrap_err();
    assert_eq!(error.to_string(), "the elements are `<u2`, expected f16");
    assert!(npy::from_bytes(void(), Some(DType::F32)).is_err());
}

#[test]
fn errors_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.npy");
    let error = npy::read(&path).unwrap_err();
    assert!(error.to_string().contains("x.npy"), "{error}");
    std::fs::write(&path, "nonsense").unwrap();
    assert!(npy::read(&path).unwrap_err().to_string().contains("x.npy"));
    let error = raw::read(&path, DType::F32, [3]).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "shape [3] of f32 needs 12 bytes, found 8");
    assert_eq!(raw::read(&path, DType::F32, [2]).unwrap().len(), 2);
}

proptest! {
    #[test]
    fn random_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = npy::from_bytes(bytes, None);
    }

    #[test]
    fn random_headers_do_not_panic(header in "[{}()',:0-9<>|=VfiuTrueFals_ descrshapfotn]{0,80}") {
        let _ = npy::from_bytes(file(&header), Some(DType::F32));
    }

    #[test]
    fn a_broken_byte_never_panics(at in 0usize..192, byte in any::<u8>(), cut in 0usize..200) {
        let mut bytes = npy::to_bytes(&sample(DType::F32, &[4, 4]));
        if let Some(broken) = bytes.get_mut(at) {
            *broken = byte;
        }
        bytes.truncate(cut);
        let _ = npy::from_bytes(bytes, None);
    }

    #[test]
    fn what_is_written_reads_back(shape in proptest::collection::vec(0usize..5, 0..4), which in 0usize..DType::ALL.len()) {
        let tensor = sample(DType::ALL[which], &shape);
        let read = npy::from_bytes(npy::to_bytes(&tensor), Some(tensor.dtype())).unwrap();
        prop_assert_eq!(read, tensor);
    }
}
