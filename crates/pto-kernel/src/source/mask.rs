//! Makes Ascend C++ readable for a C++ grammar without moving a byte.
//!
//! Address spaces and function qualifiers (`__gm__`, `__global__`, `AICORE`) and the launch configuration `<<<...>>>`
//! are not C++. They are overwritten with blanks, so every offset of the parsed text is an offset of the user's text, and
//! what was blanked out is kept beside it.

use std::ops::Range;

/// Words that qualify a type or a function and that no C++ grammar knows.
const QUALIFIERS: &[&str] = &[
    "__global__",
    "__aicore__",
    "AICORE",
    "__gm__",
    "__ubuf__",
    "__cbuf__",
    "__ca__",
    "__cb__",
    "__cc__",
    "__biasbuf__",
    "__fbuf__",
    "__tf__",
    "__in__",
    "__out__",
    "__inline__",
    "__forceinline__",
    "__restrict__",
    "__restrict",
    "__sync_alias__",
    "PTO_INTERNAL",
    "PTO_INST",
    "PTO_INLINE",
];

/// A source text with everything blanked out that is not C++.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Masked {
    /// As long as the source, byte for byte.
    pub(crate) text: String,
    /// Where `__global__` stood.
    pub(crate) globals: Vec<usize>,
    /// Where launch configurations stood.
    pub(crate) launches: Vec<LaunchConfig>,
}

/// A launch configuration, `<<<block_dim, l2, stream>>>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaunchConfig {
    /// From the first `<` to behind the last `>`.
    pub(crate) span: Range<usize>,
    /// The expressions between the brackets, one for each position.
    pub(crate) items: Vec<String>,
}

/// Blanks out what is not C++.
pub(crate) fn mask(source: &str) -> Masked {
    let mut bytes = source.as_bytes().to_vec();
    let (mut globals, mut launches) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = skip_opaque(source.as_bytes(), at) {
            at = end;
        } else if is_word(bytes[at]) {
            let end = word_end(source.as_bytes(), at);
            let word = &source[at..end];
            if QUALIFIERS.contains(&word) {
                if word == "__global__" {
                    globals.push(at);
                }
                blank(&mut bytes, at..end);
            }
            at = end;
        } else if source.as_bytes()[at..].starts_with(b"[aicore]") {
            blank(&mut bytes, at..at + "[aicore]".len());
            at += "[aicore]".len();
        } else if source.as_bytes()[at..].starts_with(b"<<<") {
            match launch_config(source, at) {
                Some(config) => {
                    at = config.span.end;
                    blank(&mut bytes, config.span.clone());
                    launches.push(config);
                }
                None => at += 3,
            }
        } else {
            at += 1;
        }
    }
    // Only whole ASCII words and whole bracketed spans were replaced, each byte by a blank, so this cannot be lossy.
    Masked { text: String::from_utf8_lossy(&bytes).into_owned(), globals, launches }
}

/// The words of a source that stand outside comments and literals, in order.
pub(crate) fn words(source: &str) -> impl Iterator<Item = &str> {
    let bytes = source.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            if let Some(end) = skip_opaque(bytes, at) {
                at = end;
            } else if is_word(bytes[at]) {
                let start = at;
                at = word_end(bytes, start);
                return source.get(start..at);
            } else {
                at += 1;
            }
        }
        None
    })
}

fn blank(bytes: &mut [u8], span: Range<usize>) {
    for byte in &mut bytes[span] {
        // Newlines stay: lines must not move either.
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|b| !is_word(*b)).map_or(bytes.len(), |n| start + n)
}

/// The end of the comment, string, raw string or character literal that starts at `at`, if one does.
fn skip_opaque(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let find = |needle: &[u8], from: usize| {
        rest[from..]
            .windows(needle.len())
            .position(|w| w == needle)
            .map_or(bytes.len(), |n| at + from + n + needle.len())
    };
    if rest.starts_with(b"//") {
        return Some(line_comment_end(bytes, at));
    }
    if rest.starts_with(b"/*") {
        return Some(find(b"*/", 2));
    }
    if rest.starts_with(b"R\"") && (at == 0 || !is_word(bytes[at - 1])) {
        let open = rest.iter().position(|b| *b == b'(')?;
        let close = [b")", &rest[2..open], b"\""].concat();
        return Some(find(&close, open));
    }
    match rest.first() {
        Some(b'"') => Some(quoted_end(bytes, at, b'"')),
        // A digit separator (`1'000`) follows a digit; a character literal does not.
        Some(b'\'') if at == 0 || !bytes[at - 1].is_ascii_hexdigit() => Some(quoted_end(bytes, at, b'\'')),
        _ => None,
    }
}

fn line_comment_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < bytes.len() && !(bytes[end] == b'\n' && bytes[end - 1] != b'\\') {
        end += 1;
    }
    end
}

fn quoted_end(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != quote {
        if bytes[end] == b'\n' {
            return end; // not a literal after all: never run over the line
        }
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(bytes.len())
}

/// Reads the configuration that opens at `at`. Closing brackets of a nested template argument list (`f<g<h<1>>>()`) are
/// told apart by what stands before them: a launch configuration has at least two items.
fn launch_config(source: &str, at: usize) -> Option<LaunchConfig> {
    let bytes = source.as_bytes();
    let (mut depth, mut items, mut item_start, mut here) = (0_i32, Vec::new(), at + 3, at + 3);
    while here < bytes.len() {
        if let Some(end) = skip_opaque(bytes, here) {
            here = end;
            continue;
        }
        match bytes[here] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                items.push(source[item_start..here].trim().to_owned());
                item_start = here + 1;
            }
            b'>' if depth == 0 && bytes[here..].starts_with(b">>>") && !items.is_empty() => {
                items.push(source[item_start..here].trim().to_owned());
                return Some(LaunchConfig { span: at..here + 3, items });
            }
            b';' => return None,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        here += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn offsets_and_lines_stay() {
        let source = "__global__ AICORE void k(__gm__ half *x);\nvoid f() { k<<<1,\n nullptr, s>>>(x); }";
        let masked = mask(source);
        assert_eq!(masked.text.len(), source.len());
        assert_eq!(masked.text.lines().count(), source.lines().count());
        assert_eq!(masked.globals, [0]);
        assert_eq!(masked.launches[0].items, ["1", "nullptr", "s"]);
        assert!(!masked.text.contains("<<<") && !masked.text.contains("__gm__"));
    }

    #[test]
    fn comments_and_literals_are_left_alone() {
        let source = r###"// k<<<1, 2, 3>>>(x)
        const char *a = "k<<<1, 2, 3>>>(__gm__)"; char b = '"'; int c = 1'000;
        auto d = R"x(k<<<1, 2, 3>>>)x"; /* __global__ */"###;
        let masked = mask(source);
        assert_eq!(masked.text, source);
        assert!(masked.launches.is_empty() && masked.globals.is_empty());
    }

    #[test]
    fn a_template_call_inside_the_configuration_does_not_close_it() {
        let masked = mask("k<<<f<g<h<1>>>(2), nullptr, stream>>>(x);");
        assert_eq!(masked.launches[0].items, ["f<g<h<1>>>(2)", "nullptr", "stream"]);
    }

    #[test]
    fn shifts_are_no_launches() {
        assert!(mask("std::cout <<< 3; x = a << 2;").launches.is_empty());
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length(text in "\\PC*|[<>(),;_a-z\"'/*\\\\\n]{0,60}") {
            prop_assert_eq!(mask(&text).text.len(), text.len());
        }
    }
}
