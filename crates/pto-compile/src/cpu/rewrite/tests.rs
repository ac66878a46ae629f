use std::path::Path;

use proptest::prelude::*;

use super::*;

fn done(text: &str) -> Rewritten {
    rewrite(Path::new("k.cpp"), text).unwrap()
}

fn refused(text: &str) -> String {
    rewrite(Path::new("k.cpp"), text).unwrap_err().to_string()
}

#[test]
fn a_launch_keeps_every_piece_in_its_place() {
    let out = done("void call(unsigned n, void *s) { add<<<n, nullptr, s>>>(n); }\n");
    assert_eq!(
        out.text,
        "void call(unsigned n, void *s) { ::ptocpu::site([](auto... ptocpu_a) { add(ptocpu_a...); }, [] { return PTOCPU_PLACE(\"k.cpp:1\"); }).grid(n, nullptr, s)(n); }\n"
    );
}

#[test]
fn template_arguments_over_lines_keep_the_lines() {
    let text =
        "void f() {\n  ns::k<half,\n    ((1 < 2)), A<B<C>>\n  >\n  <<<(n + 1) >> 1, nullptr, s>>>\n  (x, y);\n}\n";
    let out = done(text);
    assert_eq!(out.text.lines().count(), text.lines().count());
    assert_eq!(out.launches, [LaunchSite { kernel: "ns::k<half,\n    ((1 < 2)), A<B<C>>\n  >".into(), line: 2 }]);
    assert!(out.text.contains(".grid((n + 1) >> 1, nullptr, s)\n  (x, y);"), "{}", out.text);
}

#[test]
fn comments_and_strings_are_left_alone() {
    let text =
        "// k<<<1>>>(2)\n/* k<<<1>>>(2) */\nconst char *a = \"k<<<1>>>(2)\";\nconst char *b = R\"x(k<<<1>>>(2))x\";\n";
    assert_eq!(done(text).text, text);
}

#[test]
fn a_macro_body_is_rewritten() {
    let out = done("#define GO(k, n) \\\n  k<<<n, nullptr, s>>>(1); \\\n  done()\n");
    assert_eq!(out.text.lines().count(), 3);
    assert!(
        out.text
            .contains("::ptocpu::site([](auto... ptocpu_a) { k(ptocpu_a...); }, [] { return PTOCPU_PLACE(\"k.cpp:2\"); }).grid(n, nullptr, s)(1);"),
        "{}",
        out.text
    );
}

#[test]
fn what_is_no_launch_is_refused_with_its_place() {
    insta::assert_snapshot!(refused("int a;\nint b = a <<< 2;\n"), @"k.cpp:2:11: `<<<` is not understood here: expected `kernel<<<grid, nullptr, stream>>>(args)`");
    insta::assert_snapshot!(refused("void f() { (c ? a : b)<<<1, nullptr, s>>>(); }"), @"k.cpp:1:12: a launch needs a kernel's name before `<<<`, not an expression");
}

#[test]
fn several_launches_and_branches() {
    let out = done("void f() {\n if (a) k1<<<1, nullptr, s>>>(x);\n else k2<T><<<2, nullptr, s>>>(y);\n}\n");
    assert_eq!(out.launches.iter().map(|l| (l.kernel.as_str(), l.line)).collect::<Vec<_>>(), [("k1", 2), ("k2<T>", 3)]);
}

#[test]
fn includes_are_found_where_they_stand_after_the_rewrite() {
    let out = done("#include <vector>\nvoid f() { k<<<1>>>(); }\n#include \"a/b.hpp\"\n");
    let [include] = &out.includes[..] else { panic!("{:?}", out.includes) };
    assert_eq!((include.name.as_str(), &out.text[include.range.clone()]), ("a/b.hpp", "a/b.hpp"));
}

#[test]
fn a_quote_in_the_path_does_not_end_the_string() {
    let out = rewrite(Path::new("a\"b.cpp"), "void f() { k<<<1>>>(); }").unwrap();
    assert!(out.text.contains(r#""a\"b.cpp:1""#), "{}", out.text);
}

#[test]
fn a_namespace_detail_beside_ptos_is_renamed() {
    let text = "using namespace pto;\nnamespace detail { int x; }\nnamespace a { namespace detail { int y; } }\nint z = detail::x + ::detail::x + a::detail::y;\nvoid f() { detail::k<<<1>>>(); }\n";
    let out = done(text);
    assert_eq!(out.renamed_detail, Some(2));
    assert!(out.text.contains("namespace kernel_detail { int x; }\nnamespace a { namespace detail {"), "{}", out.text);
    assert!(out.text.contains("z = kernel_detail::x + ::kernel_detail::x + a::detail::y;"), "{}", out.text);
    assert!(out.text.contains("{ kernel_detail::k(ptocpu_a...); }"), "{}", out.text);
    let other = "namespace detail { int x; }\nint z = detail::x;\n";
    assert_eq!(done(other).text, other);
}

proptest! {
    #[test]
    fn any_text_is_rewritten_or_refused(text in "(\\PC|\n|<<<|>>>|k<<<1>>>\\(\\)|//|\"|#define X ){0,60}") {
        if let Ok(out) = rewrite(Path::new("k.cpp"), &text) {
            prop_assert_eq!(out.text.matches('\n').count(), text.matches('\n').count());
        }
    }
}
