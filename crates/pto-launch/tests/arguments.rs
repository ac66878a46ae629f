//! What C receives is what was given: every type, any number, any order.

mod support;

use std::fmt::Write;

use pto_launch::{Argument, Buffer, Init, Scalar, Verdict};
use support::Rig;

fn c_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8(_) => "int8_t",
        Scalar::I16(_) => "int16_t",
        Scalar::I32(_) => "int32_t",
        Scalar::I64(_) => "int64_t",
        Scalar::U8(_) => "uint8_t",
        Scalar::U16(_) => "uint16_t",
        Scalar::U32(_) => "uint32_t",
        Scalar::U64(_) => "uint64_t",
        Scalar::F32(_) => "float",
        Scalar::F64(_) => "double",
    }
}

fn bytes(scalar: Scalar) -> Vec<u8> {
    match scalar {
        Scalar::I8(value) => value.to_ne_bytes().into(),
        Scalar::I16(value) => value.to_ne_bytes().into(),
        Scalar::I32(value) => value.to_ne_bytes().into(),
        Scalar::I64(value) => value.to_ne_bytes().into(),
        Scalar::U8(value) => value.to_ne_bytes().into(),
        Scalar::U16(value) => value.to_ne_bytes().into(),
        Scalar::U32(value) => value.to_ne_bytes().into(),
        Scalar::U64(value) => value.to_ne_bytes().into(),
        Scalar::F32(value) => value.to_ne_bytes().into(),
        Scalar::F64(value) => value.to_ne_bytes().into(),
    }
}

/// Every type at its ends and beside zero.
fn every_value() -> Vec<Scalar> {
    vec![
        Scalar::I8(i8::MIN),
        Scalar::F32(f32::MIN_POSITIVE),
        Scalar::U8(u8::MAX),
        Scalar::F64(f64::MAX),
        Scalar::I16(i16::MIN),
        Scalar::F32(-0.0),
        Scalar::U16(u16::MAX),
        Scalar::F64(f64::from_bits(1)),
        Scalar::I32(i32::MIN),
        Scalar::F32(f32::NAN),
        Scalar::U32(u32::MAX),
        Scalar::F64(f64::NEG_INFINITY),
        Scalar::I64(i64::MIN),
        Scalar::F32(f32::INFINITY),
        Scalar::U64(u64::MAX),
        Scalar::F64(-f64::NAN),
        Scalar::I8(-1),
        Scalar::F32(0.1),
        Scalar::I64(-1),
        Scalar::F64(0.1),
        Scalar::U64(1 << 53 | 1),
        Scalar::F32(f32::from_bits(1)),
    ]
}

/// The same values in an order that depends on `round` alone (xorshift, Fisher-Yates).
fn shuffled(round: u64) -> Vec<Scalar> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(round + 1);
    let mut values = every_value();
    for last in (1..values.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values.swap(last, (state % (last as u64 + 1)) as usize);
    }
    values
}

/// A launcher with these parameters, blocks and stream among them, whose kernel writes all of them to `y` one behind the
/// other.
fn launcher(name: &str, scalars: &[Scalar]) -> String {
    let (mut parameters, mut copies) = (String::new(), String::new());
    for (index, scalar) in scalars.iter().enumerate() {
        if index == scalars.len() / 2 {
            parameters.push_str("uint32_t blocks, uint8_t *y, ");
        }
        write!(parameters, "{} a{index}, ", c_type(*scalar)).unwrap();
        writeln!(copies, "    PUT(a{index});").unwrap();
    }
    format!(
        "static struct {{ uint8_t *y, bytes[512]; size_t size; }} {name}_given;\n\
         static int32_t {name}_run(void *arg, char *reason, size_t size)\n\
         {{ memcpy({name}_given.y, {name}_given.bytes, {name}_given.size); return 0; }}\n\
         #define PUT(value) (memcpy({name}_given.bytes + {name}_given.size, &value, sizeof value), \
         {name}_given.size += sizeof value)\n\
         void {name}({parameters}void *stream)\n{{\n    PUT(blocks);\n{copies}    {name}_given.y = y;\n    \
         ((int32_t (*)(void *, const char *, aclsimRun, aclsimDrop, void *))dlsym(RTLD_DEFAULT, \"aclsimLaunchKernel\"))\
         (stream, \"{name}\", {name}_run, 0, 0);\n}}\n#undef PUT\n"
    )
}

#[test]
fn every_type_in_many_orders() {
    const ROUNDS: u64 = 8;
    let mut source = String::from(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdint.h>\n#include <string.h>\n#include \"aclsim.h\"\n",
    );
    for round in 0..ROUNDS {
        source.push_str(&launcher(&format!("round{round}"), &shuffled(round)));
    }
    let rig = Rig::new();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rounds.c");
    fs_err::write(&file, source).unwrap();
    let Some(library) = support::compile("rounds", &[&file]) else { return };
    for round in 0..ROUNDS {
        let scalars = shuffled(round);
        let mut expected: Vec<u8> = 7u32.to_ne_bytes().into();
        expected.extend(scalars.iter().copied().flat_map(bytes));
        let init = Init::Pattern(vec![0x5a]);
        let y = Buffer { name: "y".into(), bytes: expected.len(), init, output: true };
        let mut arguments: Vec<Argument> = scalars.into_iter().map(Argument::Scalar).collect();
        let middle = arguments.len() / 2;
        arguments.splice(middle..middle, [Argument::BlockDim(7), Argument::Buffer(y)]);
        arguments.push(Argument::Stream);
        let mut request = rig.request(&library, &format!("round{round}"));
        request.arguments = arguments;
        let launched = pto_launch::launch(&rig.cx, &rig.worker, &request).unwrap();
        assert_eq!(launched.verdict, Verdict::Completed, "{}", launched.said);
        assert_eq!(launched.outputs["y"], expected, "round {round}: {:?}", shuffled(round));
    }
    rig.assert_clean();
}
