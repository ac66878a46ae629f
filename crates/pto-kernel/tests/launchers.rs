//! Launchers: the user's own compared with the manifest, and generated ones.

mod common;

use common::parsed;
use pto_kernel::launcher::generate;
use pto_kernel::signature::{check_signature, declared_launchers};
use pto_kernel::source::Source;
use pto_kernel::{KernelError, Manifest};

fn checked(source: &str) -> Result<(), String> {
    let source = Source::parse("vec_add.cpp", source);
    check_signature(&parsed(&[]), &declared_launchers(&source)).map_err(|mismatch| mismatch.to_string())
}

#[test]
fn a_launcher_that_fits_is_accepted() {
    for declaration in [
        "extern \"C\" void call_vec_add(uint32_t b, void *s, uint8_t *y, uint8_t *x, uint8_t *z, uint32_t n) {}",
        "extern \"C\" { void call_vec_add(unsigned b, aclrtStream s, half *y, const half *x, GM_ADDR z, int n); }",
        "extern \"C\" void call_vec_add(const uint32_t b, void* s, void* /* out */ y, void *, void *, MyCount n) {}",
        "namespace k { extern \"C\" void call_vec_add(uint32_t, void *, void *, void *, void *, uint32_t) {} }",
        "// nothing declares it here\nvoid other(int);",
    ] {
        assert_eq!(checked(declaration), Ok(()), "{declaration}");
    }
}

#[test]
fn a_launcher_that_does_not_fit_is_refused_with_its_line() {
    for (parameters, message) in [
        (
            "uint32_t b, void *s, void *y, void *x, uint32_t n",
            "`call_vec_add` takes 5 arguments, the manifest passes 6",
        ),
        ("", "`call_vec_add` takes 0 arguments, the manifest passes 6"),
        (
            "uint32_t b, void *s, void *y, void *x, void *z, uint64_t n",
            "parameter 6 of `call_vec_add` is `uint64_t n`, an integer of 64 bits; the manifest passes `n`, an integer of 32 bits",
        ),
        (
            "uint32_t b, void *s, void *y, void *x, uint32_t n, void *z",
            "parameter 5 of `call_vec_add` is `uint32_t n`, an integer of 32 bits; the manifest passes `z`, a pointer",
        ),
        (
            "uint32_t b, void *s, void *y, void *x, void *z, float n",
            "parameter 6 of `call_vec_add` is `float n`, a floating point number of 32 bits; the manifest passes `n`, an integer of 32 bits",
        ),
        (
            "void *s, uint32_t b, void *y, void *x, void *z, uint32_t n",
            "parameter 1 of `call_vec_add` is `void * s`, a pointer; the manifest passes `block_dim`, an integer of 32 bits",
        ),
    ] {
        let source = format!("#include <cstdint>\n\nextern \"C\" void call_vec_add({parameters})\n{{\n}}\n");
        assert_eq!(checked(&source), Err(format!("vec_add.cpp:3: {message}")));
    }
}

#[test]
fn the_order_of_the_signature_counts() {
    let manifest = parsed(&[("# signature = [\"block_dim\", \"stream\", ", "signature = [\"stream\", ")]);
    let source =
        Source::parse("a.cpp", "extern \"C\" void call_vec_add(void *s, void *y, void *x, void *z, uint32_t n);");
    assert_eq!(check_signature(&manifest, &declared_launchers(&source)), Ok(()));
}

fn global(name: &str) -> Manifest {
    parsed(&[("entry = \"call_vec_add\"", &format!("global = \"{name}\""))])
}

fn generated(name: &str, source: &str) -> Result<String, String> {
    let sources = [Source::parse("/k/vec_add.cpp", source)];
    generate(&global(name), &sources).map(|launcher| launcher.unwrap().definition).map_err(|error| error.to_string())
}

#[test]
fn the_users_own_launcher_needs_none() {
    assert!(matches!(generate(&parsed(&[]), &[]), Ok(None)));
}

#[test]
fn a_launcher_casts_to_the_kernels_own_types() {
    let kernel = "__global__ AICORE void k(__gm__ half *y, const __gm__ half *x, GM_ADDR z, const uint32_t n) {}";
    insta::assert_snapshot!(generated("k", kernel).unwrap(), @r#"
    extern "C" void call_k(uint32_t block_dim, void *stream, void *arg_y, void *arg_x, void *arg_z, const uint32_t arg_n)
    {
        k<<<block_dim, nullptr, stream>>>((__gm__ half *)arg_y, (const __gm__ half *)arg_x, (GM_ADDR)arg_z, arg_n);
    }
    "#);
}

#[test]
fn templates_and_namespaces_are_instantiated() {
    let kernel = "namespace ops {\ntemplate <typename T, int W = 2>\n__global__ AICORE void k(__gm__ T *y, __gm__ T *x,\n __gm__ T *z, uint32_t n) {}\n}";
    insta::assert_snapshot!(generated("ops::k<float, 4>", kernel).unwrap(), @r#"
    extern "C" void call_k(uint32_t block_dim, void *stream, void *arg_y, void *arg_x, void *arg_z, uint32_t arg_n)
    {
        ops::k<float, 4><<<block_dim, nullptr, stream>>>((__gm__ float *)arg_y, (__gm__ float *)arg_x, (__gm__ float *)arg_z, arg_n);
    }
    "#);
    assert!(generated("ops::k<half>", kernel).is_ok(), "a default stands for the second argument");
    assert_eq!(
        generated("ops::k", kernel).unwrap_err(),
        "/k/vec_add.cpp:3: no launcher can be generated for `ops::k`: it is a template of `typename T, int W = 2`, and `global` gives 0 arguments"
    );
}

#[test]
fn the_address_cores_synchronize_through_is_fetched() {
    let kernel =
        "extern \"C\" __global__ AICORE void k(GM_ADDR y, GM_ADDR x, GM_ADDR z, uint32_t n, uint64_t ffts_addr) {}";
    let sources = [Source::parse("/k/vec_add.cpp", kernel)];
    let launcher = generate(&global("k"), &sources).unwrap().unwrap();
    assert!(launcher.prologue.contains("runtime/rt_ffts.h"), "{}", launcher.prologue);
    assert!(launcher.definition.contains("rtGetC2cCtrlAddr(&ffts, &ffts_length);"), "{}", launcher.definition);
    assert!(launcher.definition.contains("arg_n, (uint64_t)ffts);"), "{}", launcher.definition);
}

#[test]
fn a_symbol_of_the_users_is_left_alone() {
    let kernel = "void call_k();\n__global__ void k(GM_ADDR y, GM_ADDR x, GM_ADDR z, uint32_t n);";
    assert!(generated("k", kernel).unwrap().starts_with("extern \"C\" void ptokit_call_k("));
}

#[test]
fn what_cannot_be_launched_says_why() {
    for (name, source, message) in [
        ("kk", "__global__ void k(GM_ADDR y);", "no `__global__` function `kk` in"),
        ("k", "void k(GM_ADDR y, GM_ADDR x, GM_ADDR z, uint32_t n);", "no `__global__` function `k` in"),
        (
            "k",
            "\n__global__ void k(GM_ADDR y, uint32_t n);",
            "/k/vec_add.cpp:2: `k` takes 2 arguments, the manifest passes 4",
        ),
        (
            "k",
            "__global__ void k(GM_ADDR y, GM_ADDR x, GM_ADDR z, Tiling n);",
            "its parameter `Tiling` is neither a pointer nor a number",
        ),
        (
            "k<half>",
            "__global__ void k(GM_ADDR y, GM_ADDR x, GM_ADDR z, uint32_t n);",
            "it is no template, and `global` gives 1 arguments",
        ),
    ] {
        let error = generated(name, source).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_missing_kernel_is_answered_with_the_nearest() {
    let source = Source::parse("k.cpp", "__global__ void vec_add_kernel(GM_ADDR y);");
    let error = generate(&global("vec_ad_kernel"), &[source]).unwrap_err();
    assert!(matches!(error, KernelError::NoFunction { .. }));
    assert_eq!(error.hint().as_deref(), Some("did you mean `vec_add_kernel`?"));
}

#[test]
fn wrappers_keep_messages_in_the_users_file() {
    let text = "__global__ void k(GM_ADDR y, GM_ADDR x, GM_ADDR z, uint32_t n) {}";
    let path = "/k/vec \"add\".cpp".as_ref();
    let sources = [Source::parse(path, text)];
    let launcher = generate(&global("k"), &sources).unwrap().unwrap();
    assert!(launcher.including(path).starts_with("#include <stdint.h>\n#include \"/k/vec \\\"add\\\".cpp\"\n"));
    assert!(launcher.appended_to_source().contains(&format!("#line 1 \"/k/vec \\\"add\\\".cpp\"\n{text}\n#line 1 ")));
}
