//! Dims: exact arithmetic, and errors that say where.

use proptest::prelude::*;
use pto_golden::{Expr, ExprError};

fn lookup(name: &str) -> Option<i64> {
    match name {
        "n" => Some(10),
        "tile" => Some(3),
        "zero" => Some(0),
        "big" => Some(i64::MAX),
        _ => None,
    }
}

fn dim(source: &str) -> Result<i64, ExprError> {
    Expr::parse(source)?.eval_dim(&lookup)
}

#[test]
fn values() {
    for (source, value) in [
        ("n", 10),
        ("n + 2 * 3", 16),
        ("(n + 2) * 3", 36),
        ("ceil(n / tile)", 4),
        ("floor(n / tile)", 3),
        ("floor(-n / tile)", -4),
        ("n // tile", 3),
        ("-n // tile", -4),
        ("-n % tile", 2),
        ("n % -tile", -2),
        ("n / 5", 2),
        ("n / tile * tile", 10),
        ("-2 ** 2", -4),
        ("2 ** 3 ** 2", 512),
        ("2 ** -1 * 4", 2),
        ("min(n, tile, 7)", 3),
        ("max(n / tile, 3)*3", 10),
        ("abs(tile - n)", 7),
        ("+n - -n", 20),
        ("10 - 3 - 2", 5),
        ("big", i64::MAX),
        ("big + 1 - 1", i64::MAX),
    ] {
        assert_eq!(dim(source), Ok(value), "{source}");
    }
}

#[test]
fn refusals_say_what_and_where() {
    for (source, message, span, help) in [
        ("n / 3", "`n / 3` is 10/3, not an integer", 0..5, Some("use `//`, `ceil()` or `floor()`")),
        ("1 + n / zero", "division by zero in `n / zero`", 4..12, Some("`zero` is 0")),
        ("n % (zero * 2)", "division by zero in `n % (zero * 2)`", 0..14, Some("`(zero * 2)` is 0")),
        ("zero ** -1", "division by zero in `zero ** -1`", 0..10, Some("`zero` is 0")),
        ("big * 2", "`big * 2` is 18446744073709551614, too large", 0..7, None),
        ("9 ** 99", "`9 ** 99` overflows", 0..7, None),
        ("m + 1", "unknown name `m`", 0..1, None),
        ("n +", "found the end, expected a name, a number or `(`", 3..3, None),
        ("n 2", "found `2`, expected an operator or the end", 2..3, None),
        ("(n + 2", "found the end, expected `)` or an operator", 6..6, Some("`(` was opened at byte 0")),
        ("ciel(n)", "unknown function `ciel`", 0..4, Some("did you mean `ceil`?")),
        ("ceil()", "`ceil` needs 1 operand, found 0", 0..6, None),
        ("ceil(n, 2)", "`ceil` takes fewer arguments", 8..9, None),
        ("sum(n, axes=2)", "unknown option of `sum` `axes`", 7..11, Some("did you mean `axis`?")),
        ("exp(n)", "`exp` has no place in a dim", 0..6, Some("dims know `abs`, `ceil`, `floor`, `min` and `max`")),
        ("1 < 2 < 3", "comparisons cannot be chained", 6..7, Some("write `logical_and(a < b, b < c)`")),
        ("n = 2", "found `=`, expected an operator or the end", 2..3, Some("equality is written `==`")),
        (" ", "the expression is empty", 0..1, None),
    ] {
        let error = dim(source).expect_err(source);
        assert_eq!((error.message.as_str(), error.span, error.help.as_deref()), (message, span, help), "{source}");
    }
}

#[test]
fn names_are_known_before_evaluation() {
    let expr = Expr::parse("min(vector_cores, ceil(n / tile)) + inf").unwrap();
    assert_eq!(expr.names().into_iter().collect::<Vec<_>>(), ["n", "tile", "vector_cores"]);
    assert_eq!(expr.check_names(["n", "tile", "vector_cores", "unused"]), Ok(()));
    let error = expr.check_names(["n", "tile", "vector_core"]).unwrap_err();
    assert_eq!(error.span, 4..16);
    assert_eq!(error.help.as_deref(), Some("did you mean `vector_core`?"));
    let picture = error.render(expr.source());
    assert!(picture.contains("\n      ^^^^^^^^^^^^\n"), "{picture}");
}

#[test]
fn nesting_has_a_limit() {
    let deep = format!("{}n{}", "(".repeat(5000), ")".repeat(5000));
    assert!(Expr::parse(&deep).unwrap_err().message.contains("levels deep"));
    let long = vec!["n"; 5000].join(" + ");
    assert!(Expr::parse(&long).unwrap_err().message.contains("levels deep"));
    let minus = format!("{}n", "-".repeat(5000));
    assert!(Expr::parse(&minus).unwrap_err().message.contains("levels deep"));
}

proptest! {
    #[test]
    fn no_text_panics(source in "\\PC{0,40}") {
        let _ = Expr::parse(&source);
    }

    #[test]
    fn no_near_miss_panics(source in "[-+*/%@(),.<=>! a-f0-9eT_×]{0,30}") {
        if let Err(error) = dim(&source) {
            prop_assert!(error.span.start <= error.span.end && error.span.end <= source.len());
            let _ = error.render(&source);
        }
    }

    #[test]
    fn ceil_of_a_quotient_is_exact(n in 0..=i64::MAX, tile in 1..=i64::MAX) {
        let expr = Expr::parse("ceil(n / tile)").unwrap();
        let value = expr.eval_dim(&|name| Some(if name == "n" { n } else { tile }));
        let exact = (i128::from(n) + i128::from(tile) - 1) / i128::from(tile);
        prop_assert_eq!(value.map(i128::from), Ok(exact));
    }
}
