//! The host program of a launch, for builds that are linked with CANN's model.
//!
//! `-lruntime_camodel` has to stand before `-lascendcl` on the link line, so that the model answers what the runtime would:
//! that is a property of a program, and our own is linked without either. So the launch is written as a program of its own,
//! with the values of one case in it, which speaks through the same files as the worker. It can be kept and run by hand.

use std::fmt::Write as _;

use crate::args::{Argument, Buffer, Init, Scalar};
use crate::request::LaunchRequest;

const TEMPLATE: &str = include_str!("host.cpp");

/// The C++ source of a program that makes this one launch, once, when it is started as the worker is.
pub fn host_program(request: &LaunchRequest) -> String {
    let parameters: Vec<&str> = request.arguments.iter().map(parameter).collect();
    let mut buffers = 0;
    let arguments: Vec<String> = request.arguments.iter().map(|argument| value(argument, &mut buffers)).collect();
    let limit = i32::try_from(request.limits.sync.as_millis()).unwrap_or(i32::MAX);
    TEMPLATE
        .replace("@SYMBOL@", &request.symbol)
        .replace("@PARAMETERS@", &parameters.join(", "))
        .replace("@ARGUMENTS@", &arguments.join(", "))
        .replace("@BUFFERS@", &table(request))
        .replace("@SYNC_LIMIT_MS@", &limit.to_string())
}

fn parameter(argument: &Argument) -> &'static str {
    match argument {
        Argument::BlockDim(_) => "uint32_t",
        Argument::Stream | Argument::Buffer(_) => "void *",
        Argument::Scalar(scalar) => bits(*scalar).0,
    }
}

fn value(argument: &Argument, buffers: &mut usize) -> String {
    match argument {
        Argument::BlockDim(blocks) => format!("{blocks}u"),
        Argument::Stream => "stream".to_owned(),
        Argument::Buffer(_) => {
            *buffers += 1;
            format!("buffers[{}].device", *buffers - 1)
        }
        Argument::Scalar(scalar) => {
            let (kind, bits) = bits(*scalar);
            format!("number<{kind}>({bits:#x}ull)")
        }
    }
}

/// The C type of a number, and its bits: no literal of C++ writes every value of every type.
fn bits(scalar: Scalar) -> (&'static str, u64) {
    match scalar {
        Scalar::I8(value) => ("int8_t", u64::from(value.cast_unsigned())),
        Scalar::I16(value) => ("int16_t", u64::from(value.cast_unsigned())),
        Scalar::I32(value) => ("int32_t", u64::from(value.cast_unsigned())),
        Scalar::I64(value) => ("int64_t", value.cast_unsigned()),
        Scalar::U8(value) => ("uint8_t", value.into()),
        Scalar::U16(value) => ("uint16_t", value.into()),
        Scalar::U32(value) => ("uint32_t", value.into()),
        Scalar::U64(value) => ("uint64_t", value),
        Scalar::F32(value) => ("float", value.to_bits().into()),
        Scalar::F64(value) => ("double", value.to_bits()),
    }
}

fn table(request: &LaunchRequest) -> String {
    let mut rows = String::new();
    for (place, buffer) in request.buffers() {
        let Buffer { bytes, init, output, .. } = buffer;
        let pattern = match init {
            Init::Bytes(_) => String::new(),
            // No bytes stand for a single 0.
            Init::Pattern(pattern) if pattern.is_empty() => "0".to_owned(),
            Init::Pattern(pattern) => pattern.iter().map(u8::to_string).collect::<Vec<_>>().join(", "),
        };
        let from_file = matches!(init, Init::Bytes(_));
        let _ = writeln!(rows, "    {{{place}, {bytes}, {from_file}, {output}, {{{pattern}}}}},");
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::exchange::{Answer, Refusal};
    use crate::request::Limits;
    use crate::verdict::Verdict;

    fn request(arguments: Vec<Argument>) -> LaunchRequest {
        let limit = Duration::from_secs(1800);
        LaunchRequest {
            library: "libfoo.so".into(),
            symbol: "call_foo".to_owned(),
            arguments,
            acl: Vec::new(),
            device: 0,
            memory_limit: None,
            repeats: 1,
            timing: None,
            limits: Limits { process: limit, launch: limit, sync: limit, teardown: limit },
        }
    }

    #[test]
    fn the_launcher_is_declared_and_called_as_the_worker_calls_it() {
        let buffer = |init| Argument::Buffer(Buffer { name: "y".into(), bytes: 64, init, output: true });
        let text = host_program(&request(vec![
            Argument::BlockDim(3),
            Argument::Stream,
            buffer(Init::Pattern(vec![1, 255])),
            Argument::Scalar(Scalar::I64(i64::MIN)),
            buffer(Init::Bytes(vec![0; 64])),
            Argument::Scalar(Scalar::F32(1.0)),
        ]));
        assert!(text.contains("void call_foo(uint32_t, void *, void *, int64_t, void *, float);"));
        let call = "call_foo(3u, stream, buffers[0].device, number<int64_t>(0x8000000000000000ull), buffers[1].device, \
                    number<float>(0x3f800000ull));";
        assert!(text.contains(call), "{text}");
        assert!(text.contains("    {2, 64, false, true, {1, 255}},\n    {4, 64, true, true, {}},\n"));
        assert!(text.contains("SYNC_LIMIT_MS = 1800000;") && !text.contains('@'), "{text}");
    }

    /// What the program writes, put together as it does.
    fn answers() -> Vec<String> {
        let literals: Vec<&str> = TEMPLATE.split("R\"(").skip(1).filter_map(|rest| rest.split(")\"").next()).collect();
        let [setup, setup_end, fault, fault_code, fault_end, done, nanos, done_end] = literals[..] else {
            panic!("{literals:?}")
        };
        vec![
            format!("{setup}aclInit` failed with 1{setup_end}"),
            format!("{fault}aclrtMemcpy{fault_code}507015{fault_end}"),
            format!("{done}1{nanos}5{done_end}"),
        ]
    }

    #[test]
    fn its_answers_are_the_workers() {
        let read =
            |text: &String| serde_json::from_str::<Answer>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let answers = answers();
        assert!(matches!(read(&answers[0]), Answer::Refused(Refusal::Setup { .. })));
        let Answer::Launched(fault) = read(&answers[1]) else { panic!() };
        assert!(matches!(fault.verdict, Verdict::Fault { code: 507_015, .. }));
        let Answer::Launched(done) = read(&answers[2]) else { panic!() };
        assert_eq!((done.verdict, done.runs[0].call), (Verdict::Completed, Duration::new(1, 5)));
    }
}
