//! The packages that a fresh machine gets, by version and sha256.

use pto_fetch::WheelPin;
use pto_platform::Machine;

/// PTO-ISA's headers. They are text, so the wheel of one platform serves all; it exists for this one only.
pub const PTO_ISA: WheelPin = WheelPin {
    name: "tilelang-ascend",
    version: "0.1.4",
    file: "tilelang_ascend-0.1.4-cp311-cp311-manylinux2014_aarch64.whl",
    sha256: "1afec13f59e18fd9133ae2345a9845d8b58e3f005bd773325664821db5990d03",
    size: 50_662_070,
    unpacked_size: 192_351_732,
    python: "3.11",
    platform: "manylinux2014_aarch64",
    keep: Some("tilelang/3rdparty/pto-isa/include"),
};

/// ACL's headers, which the host ACL library is checked against.
pub const ACL_HEADERS: WheelPin = WheelPin {
    name: "torch-npu",
    version: "2.7.1",
    file: "torch_npu-2.7.1-cp311-cp311-manylinux_2_28_x86_64.whl",
    sha256: "f785e2e2c75d4e4dc80c33e6f389d333deed021c7a015b91aa839df4fcec75de",
    size: 24_847_476,
    unpacked_size: 75_943_246,
    python: "3.11",
    platform: "manylinux_2_28_x86_64",
    keep: Some("torch_npu/include/third_party/acl/inc"),
};

/// A library of kernels that CANN's compiler built for A2 and A3, which the reader of artifacts is checked with.
pub const ARTIFACTS: WheelPin = WheelPin {
    name: "pto-kernels",
    version: "0.1.7",
    file: "pto_kernels-0.1.7-cp311-cp311-manylinux_2_34_x86_64.whl",
    sha256: "ec44192025c91d3de9e28258ead579fcd3445b27d378010d2b2b0439fcbf4c14",
    size: 9_006_066,
    unpacked_size: 50_644_959,
    python: "3.11",
    platform: "manylinux_2_34_x86_64",
    keep: Some("pto_kernels/lib"),
};

const ZIG_X86_64: WheelPin = WheelPin {
    name: "ziglang",
    version: "0.17.1",
    file: "ziglang-0.17.1-py3-none-manylinux_2_12_x86_64.manylinux2010_x86_64.musllinux_1_1_x86_64.whl",
    sha256: "ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54",
    size: 101_083_562,
    unpacked_size: 375_692_284,
    python: "3.11",
    platform: "manylinux2014_x86_64",
    keep: Some("ziglang"),
};

const ZIG_AARCH64: WheelPin = WheelPin {
    file: "ziglang-0.17.1-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
    sha256: "b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e",
    size: 98_063_064,
    unpacked_size: 361_866_047,
    platform: "manylinux2014_aarch64",
    ..ZIG_X86_64
};

/// A C++ compiler for machines that have none which takes PTO-ISA's CPU headers. `None` where it has no package.
pub fn zig() -> Option<WheelPin> {
    match Machine::current()? {
        Machine::X86_64 => Some(ZIG_X86_64),
        Machine::Aarch64 => Some(ZIG_AARCH64),
    }
}
