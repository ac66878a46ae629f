//! Text to tokens.

use std::ops::Range;

use super::ExprError;

/// One word of the language.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TokenKind {
    Int(i128),
    Float(f64),
    Name,
    Symbol(&'static str),
    End,
}

/// A word and the bytes it stands on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// Longest first, so that `**` is not read as two `*`.
const SYMBOLS: [&str; 21] =
    ["**", "//", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "@", "(", ")", ",", "=", ".", "[", "]"];

/// All tokens of `source`, ended by [`TokenKind::End`].
pub(super) fn tokenize(source: &str) -> Result<Vec<Token>, ExprError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += source[at..].len() - source[at..].trim_start().len();
        let (kind, len) = match source[at..].chars().next() {
            None => break,
            Some(c) if c.is_ascii_digit() => number(source, at)?,
            Some('.') if source[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => number(source, at)?,
            Some(c) if c.is_ascii_alphabetic() || c == '_' => (TokenKind::Name, name_len(&source[at..])),
            Some(c) => symbol(source, at, c)?,
        };
        tokens.push(Token { kind, span: at..at + len });
        at += len;
    }
    tokens.push(Token { kind: TokenKind::End, span: source.len()..source.len() });
    Ok(tokens)
}

fn name_len(rest: &str) -> usize {
    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
}

fn symbol(source: &str, at: usize, first: char) -> Result<(TokenKind, usize), ExprError> {
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| source[at..].starts_with(**symbol)) {
        return Ok((TokenKind::Symbol(symbol), symbol.len()));
    }
    let error = ExprError::new(
        format!("found `{}`, expected a name, a number or an operator", first.escape_debug()),
        at..at + first.len_utf8(),
    );
    Err(match first {
        '^' => error.with_help("a power is written `**`"),
        '&' => error.with_help("write `logical_and(a, b)`"),
        '|' => error.with_help("write `logical_or(a, b)`"),
        '!' | '~' => error.with_help("write `logical_not(a)`, or `!=` for unequal"),
        _ => error,
    })
}

/// `12`, `1_000`, `1.5`, `.5`, `1e-6`.
fn number(source: &str, at: usize) -> Result<(TokenKind, usize), ExprError> {
    let rest = &source[at..];
    let len = number_len(rest.as_bytes());
    let span = at..at + len;
    if rest[len..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        let word = len + name_len(&rest[len..]).max(1);
        let word = (word..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let help = "a product needs `*`, as in `2 * n`";
        return Err(ExprError::new(format!("`{}` is not a number", &rest[..word]), at..at + word).with_help(help));
    }
    let digits = rest[..len].replace('_', "");
    let kind = if digits.contains(['.', 'e', 'E']) {
        digits.parse().map(TokenKind::Float).map_err(|_| ())
    } else {
        digits.parse().map(TokenKind::Int).map_err(|_| ())
    };
    match kind {
        Ok(kind) => Ok((kind, len)),
        Err(()) => Err(ExprError::new(format!("the number `{}` is too large", &rest[..len]), span)),
    }
}

fn number_len(rest: &[u8]) -> usize {
    let digits = |from: usize| from + rest[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let mut end = digits(0);
    if rest.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(rest.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        if rest.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<TokenKind> {
        tokenize(source).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn words() {
        use TokenKind::{End, Float, Int, Name, Symbol};
        assert_eq!(kinds("a_1**2//1_000"), [Name, Symbol("**"), Int(2), Symbol("//"), Int(1000), End]);
        assert_eq!(kinds("1e-6 .5 2. x.T"), [Float(1e-6), Float(0.5), Float(2.0), Name, Symbol("."), Name, End]);
    }

    #[test]
    fn strangers_are_named_with_their_bytes() {
        let error = tokenize("n ^ 2").unwrap_err();
        assert_eq!((error.span, error.help.as_deref()), (2..3, Some("a power is written `**`")));
        let error = tokenize("n × 2").unwrap_err();
        assert_eq!(error.span, 2..4);
        let error = tokenize("3 + 2n").unwrap_err();
        assert_eq!((error.message.as_str(), error.span), ("`2n` is not a number", 4..6));
    }
}
