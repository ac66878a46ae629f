//! "Did you mean": the known word nearest to a mistyped one.

/// The candidate most like `word`, if any is like enough to be worth saying.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this Jaro-Winkler similarity a suggestion misleads more often than it helps.
    const LIKE_ENOUGH: f64 = 0.75;
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= LIKE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
