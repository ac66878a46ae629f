//! The few styles there are. `anstream` drops them where they are not wanted.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A word that says something went wrong.
pub fn error(text: impl Display) -> String {
    paint(AnsiColor::Red.on_default().bold(), text)
}

/// A word that says something is doubtful.
pub fn warning(text: impl Display) -> String {
    paint(AnsiColor::Yellow.on_default().bold(), text)
}

/// A word that says something is right.
pub fn good(text: impl Display) -> String {
    paint(AnsiColor::Green.on_default().bold(), text)
}

/// A word before advice.
pub fn hint(text: impl Display) -> String {
    paint(AnsiColor::Cyan.on_default().bold(), text)
}

/// A heading.
pub fn bold(text: impl Display) -> String {
    paint(Style::new().bold(), text)
}

/// What matters less.
pub fn dim(text: impl Display) -> String {
    paint(Style::new().dimmed(), text)
}
