//! What keeps a manifest from being TOML, in words of its author.

use toml::de::Error;

use super::args::EACH_ARG;
use super::diagnostic::Sink;

/// Reports what the parser found.
pub(super) fn report(text: &str, errors: &[Error], sink: &mut Sink<'_>) {
    if errors.is_empty() {
        return;
    }
    // Two tables of one name have every key twice: that is one mistake.
    let one_arg: Vec<usize> = headers(text, "[arg]").collect();
    if let [first, _, ..] = one_arg[..] {
        let message = format!("`[arg]` is one table, and there are {} of it", one_arg.len());
        sink.error_with(first..first, message, Some(EACH_ARG.to_owned()));
        return;
    }
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let named = text.get(span.clone()).map(str::trim).filter(|word| !word.is_empty() && !word.contains('\n'));
        match named.filter(|_| error.message() == "duplicate key") {
            Some(key) => sink.error(span, format!("`{key}` is there twice")),
            None => sink.error(span, error.message()),
        }
    }
}

/// Where the lines begin that are this header.
fn headers<'t>(text: &'t str, header: &'t str) -> impl Iterator<Item = usize> + 't {
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    lines.filter(move |(_, line)| line.split('#').next().is_some_and(|code| code.trim() == header)).map(|(at, _)| at)
}
