//! How large a tile of a dim is.

use std::collections::BTreeMap;

use crate::manifest::{Dim, Manifest};

/// The tile of a dynamic dim, in elements.
///
/// The first of these that exists: a static dim `tile_<dim>`, a static dim `<dim>_tile`, what `block_dim` divides the dim
/// by (`ceil(n / tile)`, `ceil(n / 128)`), a static dim `tile`.
pub fn tile(manifest: &Manifest, dim: &str) -> Option<i64> {
    tile_of(dim, &manifest.dims, manifest.launch.block_dim.source())
}

pub(crate) fn tile_of(dim: &str, dims: &BTreeMap<String, Dim>, block_dim: &str) -> Option<i64> {
    let fixed = |name: &str| match dims.get(name) {
        Some(Dim::Static(length)) => Some(*length),
        _ => None,
    };
    fixed(&format!("tile_{dim}"))
        .or_else(|| fixed(&format!("{dim}_tile")))
        .or_else(|| divisor(dim, block_dim).and_then(|by| by.parse().ok().or_else(|| fixed(by))))
        .or_else(|| fixed("tile"))
        .filter(|tile| *tile > 0)
}

/// What an expression divides a name by: the word after `name /` or `name //`.
fn divisor<'a>(name: &str, expression: &'a str) -> Option<&'a str> {
    let words: Vec<&str> = words(expression).collect();
    words.windows(3).find(|three| three[0] == name && matches!(three[1], "/" | "//")).map(|three| three[2])
}

/// Words and runs of other characters.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let end = rest.find(|c: char| is_word(c) != is_word(first) || c.is_whitespace()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_specific_rule_wins() {
        let dims = |pairs: &[(&str, i64)]| pairs.iter().map(|(n, v)| ((*n).to_owned(), Dim::Static(*v))).collect();
        for (pairs, block_dim, tile) in [
            (vec![("tile_n", 1), ("n_tile", 2), ("tile", 3)], "ceil(n / 4)", Some(1)),
            (vec![("n_tile", 2), ("tile", 3)], "ceil(n / 4)", Some(2)),
            (vec![("tile", 3)], "ceil(n / 4)", Some(4)),
            (vec![("rows", 5), ("tile", 3)], "min(cube_cores, (n // rows) + 1)", Some(5)),
            (vec![("tile", 3)], "vector_cores", Some(3)),
            (vec![("tile", 3)], "ceil(len_n / 4)", Some(3)),
            (vec![], "ceil(m / 4)", None),
            (vec![], "ceil(n / 0)", None),
        ] {
            assert_eq!(tile_of("n", &dims(&pairs), block_dim), tile, "{pairs:?} {block_dim}");
        }
    }
}
