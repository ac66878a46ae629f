//! Columns of text.

use crate::out::plain;
use crate::style;

/// A table that is as wide as its contents.
pub struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// A cell: what is shown, and how wide that is without its style. Of the text given only the style is ours.
pub struct Cell {
    text: String,
    width: usize,
}

impl Cell {
    /// Plain text.
    pub fn new(text: impl Into<String>) -> Self {
        let text = plain(&text.into());
        Self { width: text.chars().count(), text }
    }

    /// Text in a style.
    pub fn styled(text: impl AsRef<str>, style: impl Fn(&str) -> String) -> Self {
        let text = plain(text.as_ref());
        Self { width: text.chars().count(), text: style(&text) }
    }
}

impl Table {
    /// A table with these columns.
    pub fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The lines, header first.
    pub fn lines(&self) -> Vec<String> {
        let header: Vec<Cell> = self.header.iter().map(|name| Cell::styled(name, |text| style::bold(text))).collect();
        let all = || std::iter::once(&header).chain(&self.rows);
        let columns = self.header.len();
        let widths: Vec<usize> = (0..columns)
            .map(|at| all().filter_map(|row| row.get(at)).map(|cell| cell.width).max().unwrap_or(0))
            .collect();
        all().map(|row| line(row, &widths)).collect()
    }
}

fn line(row: &[Cell], widths: &[usize]) -> String {
    let padded = row.iter().zip(widths).map(|(cell, width)| format!("{}{}", cell.text, " ".repeat(width - cell.width)));
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}
