//! Manifests begun from sources.

mod common;

use common::manifest_dir;
use proptest::prelude::*;
use pto_golden::DType;
use pto_kernel::adopt::{Adopted, adopt, write};
use pto_kernel::launcher::generate;
use pto_kernel::manifest::Dir;
use pto_kernel::signature::{check_signature, declared_launchers};
use pto_kernel::source::Source;
use pto_kernel::{KernelError, Manifest};
use pto_platform::{Core, Target};

/// A kernel as they are written: opaque pointers, a helper over a type, tiles, guards for one generation.
const SCALE: &str = r#"
#include <pto/pto-inst.hpp>
using namespace pto;

template <typename T>
AICORE void run(__gm__ T *dst, __gm__ T *src, __gm__ float *factors, uint32_t n)
{
#if defined(__DAV_C220_VEC__)
    using Row = GlobalTensor<T, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<1, 1, 1, 1, 1>>;
    for (uint32_t at = 0; at < n; at += 128) {
        Row in(src + at, {128});
        Row out(dst);
        TASSIGN(out, dst + at);
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<1, 1, 1, 1, 1>> f(factors);
        TLOAD(a, in);
        TLOAD(b, f);
        TMUL(a, a, b);
        TSTORE(out, a);
    }
#endif
}

__global__ AICORE void scale_kernel(GM_ADDR p, GM_ADDR q, GM_ADDR r, uint32_t n)
{
    run<half>(reinterpret_cast<__gm__ half *>(q), (__gm__ half *)p, (__gm__ float *)r, n);
}

// A launch in a comment, k<<<1, 2, 3>>>(x), is none.
extern "C" void call_scale(uint32_t blockDim, void *stream, uint8_t *p, uint8_t *q, uint8_t *r, uint32_t n, float eps)
{
    scale_kernel<<<blockDim * 2, nullptr, stream>>>(p, q, r, n);
}
"#;

fn adopted(source: &str, entry: Option<&str>) -> Result<Adopted, KernelError> {
    adopt(&Source::parse("vec_add.cpp", source), "vec_add.cpp", entry)
}

/// The adopted manifest; it has to be valid and to fit the source.
fn manifest(source: &str, adopted: &Adopted) -> Manifest {
    let dir = manifest_dir();
    let manifest = Manifest::parse(&dir.path().join("kernel.toml"), &adopted.text)
        .unwrap_or_else(|errors| panic!("{}\n{}", errors.render(), adopted.text));
    let source = Source::parse("vec_add.cpp", source);
    check_signature(&manifest, &declared_launchers(&source)).unwrap();
    manifest
}

#[test]
fn a_launcher_becomes_a_manifest() {
    let adopted = adopted(SCALE, None).unwrap();
    insta::assert_snapshot!(adopted.text);
    let manifest = manifest(SCALE, &adopted);
    assert_eq!((manifest.core, manifest.targets.as_slice()), (Core::Vec, &[Target::A2a3, Target::Cpu][..]));
    let found: Vec<_> = manifest.tensors().map(|(arg, t)| (arg.name.as_str(), t.dir, t.dtype)).collect();
    let expected = [("p", Dir::In, DType::F16), ("q", Dir::Out, DType::F16), ("r", Dir::In, DType::F32)];
    assert_eq!(found, expected);
    assert_eq!(adopted.checks.len(), adopted.text.matches("# check: ").count());
}

#[test]
fn a_kernel_without_a_launcher_gets_a_generated_one() {
    let source = "__global__ AICORE void k(__gm__ bfloat16_t *out, const __gm__ int32_t *in, uint64_t count) {}";
    let adopted = adopted(source, None).unwrap();
    assert!(adopted.is_global);
    let manifest = manifest(source, &adopted);
    let sources = [Source::parse("vec_add.cpp", source)];
    let launcher = generate(&manifest, &sources).unwrap().unwrap();
    assert_eq!(launcher.symbol, "call_k");
    let found: Vec<_> = manifest.tensors().map(|(_, t)| (t.dir, t.dtype)).collect();
    assert_eq!(found, [(Dir::Out, DType::Bf16), (Dir::In, DType::I32)]);
}

#[test]
fn the_parameters_keep_their_order() {
    let source = "extern \"C\" void go(int rows, void *x, void *y, void *aclStream, uint32_t bd) { k<<<bd, nullptr, aclStream>>>(x, y); }";
    let manifest = manifest(source, &adopted(source, None).unwrap());
    let names: Vec<&str> = manifest.launch.signature.iter().map(|item| manifest.item_name(item)).collect();
    assert_eq!(names, ["rows", "x", "y", "stream", "block_dim"]);
}

#[test]
fn awkward_parameters_are_renamed_or_kept_apart() {
    let source = "extern \"C\" void go(void *stream, void *\u{e9}, void *vector_cores, int targets, double, bool causal, Config c, uint8_t) { k<<<4, nullptr, stream>>>(); }";
    let manifest = manifest(source, &adopted(source, None).unwrap());
    let names: Vec<&str> = manifest.args.iter().map(|arg| arg.name.as_str()).collect();
    assert_eq!(names, ["arg1", "vector_cores_", "targets_", "arg4", "causal", "c", "arg7"]);
    assert_eq!(manifest.launch.block_dim.source(), "4");
}

#[test]
fn a_name_beyond_any_expression_is_not_kept() {
    let source = format!("extern \"C\" void go(void *stream, void *{}) {{}}", "y".repeat(100_000));
    let manifest = manifest(&source, &adopted(&source, None).unwrap());
    assert_eq!(manifest.args[0].name, "arg1");
}

#[test]
fn cores_are_told_by_guards_and_instructions() {
    for (body, core) in [
        ("#ifdef __DAV_CUBE__\n#endif", Core::Cube),
        ("#ifdef __DAV_CUBE__\n#endif\n#ifdef __DAV_VEC__\n#endif", Core::Mix),
        ("TMATMUL(c, a, b);", Core::Cube),
        ("// TMATMUL\nTADD(c, a, b);", Core::Vec),
    ] {
        let source = format!("__global__ AICORE void k(GM_ADDR y) {{\n{body}\n}}");
        assert_eq!(manifest(&source, &adopted(&source, None).unwrap()).core, core, "{body}");
    }
}

#[test]
fn macros_that_nobody_defines_become_static_dims() {
    let source = "#define OWN 3\nconstexpr int HERE = OWN * SIDE;\nusing M = Tile<half, SIDE, DYNAMIC, pto::ROWS>;\n\
        template <int T2> AICORE void f() { wait_flag(PIPE_V, EVENT_ID0); int a[LENGTH]; CALL(1); b = N + T2 + UINT8_MAX; }\n\
        #if LEVEL > 3\n#endif\n\
        extern \"C\" void launch_go(void *stream, void *y, int n) { k<<<1, nullptr, stream>>>(y, n); }";
    let adopted = adopted(source, None).unwrap();
    let manifest = manifest(source, &adopted);
    let names: Vec<(String, i64)> = manifest.defines();
    assert_eq!(names, [("LENGTH", 64), ("N", 64), ("SIDE", 64)].map(|(name, value)| (name.to_owned(), value)));
    assert!(adopted.text.contains("side = 64 # check: the source uses SIDE, which it does not define"));
    assert_eq!(manifest.name, "go");
}

#[test]
fn headers_beside_the_source_define_too() {
    let dir = manifest_dir();
    fs_err::write(dir.path().join("sizes.h"), "#define SIDE 16\n").unwrap();
    let text = "#include \"sizes.h\"\nint x[SIDE * OTHER];\nextern \"C\" void go(void *stream, void *y) {}";
    let source = Source::parse(dir.path().join("vec_add.cpp"), text);
    let adopted = adopt(&source, "vec_add.cpp", None).unwrap();
    assert!(adopted.text.contains("uses OTHER") && !adopted.text.contains("SIDE"), "{}", adopted.text);
}

#[test]
fn several_entries_ask_for_a_choice() {
    let two = "extern \"C\" { void a(void *stream, void *y) {}\n void b(void *stream, void *y) {} }\n__global__ void k(GM_ADDR y) {}";
    let error = adopted(two, None).unwrap_err();
    assert_eq!(error.to_string(), "vec_add.cpp has 2 functions to adopt: a, b");
    assert_eq!(error.hint().as_deref(), Some("choose one, for example `--entry a`"));
    assert_eq!(adopted(two, Some("b")).unwrap().entry, "b");
    assert!(adopted(two, Some("k")).unwrap().is_global);
    let error = adopted(two, Some("c")).unwrap_err();
    assert!(matches!(&error, KernelError::NoFunction { known, .. } if known == &["a", "b", "k"]), "{error}");
}

#[test]
fn nothing_to_adopt_is_said() {
    for source in ["", "int main() { return 0; }", "extern \"C\" int rows(int k) { return k; }"] {
        assert!(matches!(adopted(source, None), Err(KernelError::NothingToAdopt { .. })), "{source}");
    }
}

#[test]
fn an_existing_manifest_is_kept() {
    let dir = manifest_dir();
    let adopted = adopted(SCALE, None).unwrap();
    let path = write(&adopted, dir.path(), false).unwrap();
    assert_eq!(fs_err::read_to_string(&path).unwrap(), adopted.text);
    fs_err::write(&path, "mine").unwrap();
    assert!(matches!(write(&adopted, dir.path(), false), Err(KernelError::Exists { .. })));
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "mine");
    write(&adopted, dir.path(), true).unwrap();
    assert_eq!(fs_err::read_to_string(&path).unwrap(), adopted.text);
    assert!(matches!(write(&adopted, "/nowhere".as_ref(), false), Err(KernelError::Write { .. })));
}

proptest! {
    #[test]
    fn any_text_is_adopted_or_refused(text in "\\PC*") {
        let _ = adopted(&text, None);
    }

    #[test]
    fn any_damage_to_a_source_is_survived(from in 0..SCALE.len(), length in 0..40_usize, noise in "[<>(){}\"'/*,;&a_ \u{e9}]{0,6}") {
        let mut text = SCALE.to_owned();
        text.replace_range(from..(from + length).min(SCALE.len()), &noise);
        if let Ok(adopted) = adopted(&text, None) {
            prop_assert!(toml::from_str::<toml::Table>(&adopted.text).is_ok(), "{}", adopted.text);
        }
    }

    #[test]
    fn any_parameter_list_gives_toml(params in proptest::collection::vec("(void|half|float|T|const int|unsigned long) ?[*&]{0,2} ?[a-z_]{0,6}", 0..6)) {
        let source = format!("extern \"C\" void f(void *stream, {}) {{ k<<<1, nullptr, stream>>>(); }}", params.join(", "));
        if let Ok(adopted) = adopted(&source, None) {
            prop_assert!(toml::from_str::<toml::Table>(&adopted.text).is_ok(), "{}", adopted.text);
        }
    }
}
