//! Where the clients look. A mirror that was set for one client counts for the other one too: the user set it because
//! the registry itself cannot be reached, and need not know which client we found.

use pto_context::Context;
use pto_process::Invocation;

/// Variables of the same meaning: `pip`'s, `uv`'s.
const PAIRS: [(&str, &str); 4] = [
    ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"),
    ("PIP_EXTRA_INDEX_URL", "UV_INDEX"),
    ("PIP_FIND_LINKS", "UV_FIND_LINKS"),
    ("PIP_NO_INDEX", "UV_NO_INDEX"),
];

/// The older name of `UV_DEFAULT_INDEX`, still obeyed by `uv`.
const UV_OLD_INDEX: &str = "UV_INDEX_URL";

/// Adds, for `uv`, what is set for `pip` alone.
pub(super) fn for_uv(cx: &Context, mut client: Invocation) -> Invocation {
    for (pip, uv) in PAIRS {
        let set = cx.var(uv).is_some() || (uv == "UV_DEFAULT_INDEX" && cx.var(UV_OLD_INDEX).is_some());
        if let (false, Some(value)) = (set, cx.var(pip)) {
            // `pip` separates several places by blanks, `uv` those of find-links by commas.
            let places = value.split_whitespace().collect::<Vec<_>>();
            client = client.env(uv, places.join(if uv == "UV_FIND_LINKS" { "," } else { " " }));
        }
    }
    client
}

/// Adds, for `pip`, what is set for `uv` alone.
pub(super) fn for_pip(cx: &Context, mut client: Invocation) -> Invocation {
    for (pip, uv) in PAIRS {
        let value = cx.var(uv).or_else(|| cx.var(UV_OLD_INDEX).filter(|_| pip == "PIP_INDEX_URL"));
        if let (None, Some(value)) = (cx.var(pip), value) {
            client = client.env(pip, if uv == "UV_FIND_LINKS" { value.replace(',', " ") } else { value });
        }
    }
    client
}

/// For messages: the client and where it was told to look. Invocations and errors mask user parts of URLs.
pub(super) fn origin(cx: &Context, client: &str) -> String {
    let set: Vec<_> = PAIRS
        .iter()
        .flat_map(|(pip, uv)| [*pip, *uv])
        .filter(|name| !name.ends_with("NO_INDEX"))
        .filter_map(|name| cx.var(name).map(|value| format!("{name}={value}")))
        .collect();
    if set.is_empty() { format!("`{client}`") } else { format!("`{client}` ({})", set.join(", ")) }
}
