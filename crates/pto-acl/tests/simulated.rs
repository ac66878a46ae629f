//! The whole crate against the simulated device.

mod support;

use std::time::Duration;

use pto_acl::{Acl, Device, Error, LoadPlan};
use support::acl;

#[test]
fn bytes_go_there_and_back() {
    let device = Device::open(&acl(), 0).unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(10_001).collect();
    let source = device.upload(&bytes).unwrap();
    let mut copy = device.alloc(bytes.len()).unwrap();
    copy.copy_from(&source).unwrap();
    assert_eq!(copy.to_vec().unwrap(), bytes);
    copy.fill(0x5a).unwrap();
    assert_eq!(copy.to_vec().unwrap(), vec![0x5a; bytes.len()]);
}
