//! A name that was mistyped.

/// Longer words are not compared: the distance costs quadratic time, and nobody mistypes a name of 64 letters.
const LONGEST_COMPARED: usize = 64;

/// The known name most like `given`, where one is at least so `similar` (1.0 is equal).
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>, similar: f64) -> Option<&'a str> {
    if given.len() > LONGEST_COMPARED {
        return None;
    }
    let compared = known.into_iter().map(|name| (strsim::normalized_damerau_levenshtein(given, name), name));
    compared
        .filter(|(similarity, _)| *similarity >= similar)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}
