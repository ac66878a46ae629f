//! How a name that a person typed is compared with the names we know.

/// Longer inputs are not compared: the distance costs quadratic time, and nobody mistypes a name of 64 letters.
const LONGEST_COMPARED: usize = 64;
/// Below this similarity (1.0 is equal) a suggestion confuses more than it helps: `xyz` is not a `cpu`.
const LEAST_SIMILARITY: f64 = 0.55;

/// Lower case, blanks trimmed, `-` written as `_`: the vendor's files spell one name in all of these ways.
pub(crate) fn fold(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

/// The known name most like `given`, if one is like it at all.
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let given = fold(given);
    if given.is_empty() || given.len() > LONGEST_COMPARED {
        return None;
    }
    known
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&given, &fold(name)), name))
        .filter(|(similarity, _)| *similarity >= LEAST_SIMILARITY)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_noise_finds_none() {
        let known = ["a2a3", "a5", "cpu"];
        assert_eq!(nearest("a2a4", known).as_deref(), Some("a2a3"));
        assert_eq!(nearest("CPUU", known).as_deref(), Some("cpu"));
        assert_eq!(nearest("xyz", known), None);
        assert_eq!(nearest(&"a".repeat(100_000), known), None);
    }
}
