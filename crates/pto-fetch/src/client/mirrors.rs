//! Where the clients look. A mirror that was set for one client counts for the other one too: the user set it because
//! the registry itself cannot be reached, and need not know which client we found.

use pto_context::Context;
use pto_process::Invocation;

/// Variables of the same meaning: `pip`'s, `uv`'s.
const PAIRS: [(&str, &str); 4] = [
    ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"),
    ("PIP_EXTRA_INDEX_URL", "UV_INDEX"),
    ("PIP_FIND_LINKS", "UV_FIND_LINKS"),
    ("PIP_CERT", "SSL_CERT_FILE"),
];

/// The older name of `UV_DEFAULT_INDEX`, still obeyed by `uv`.
const UV_OLD_INDEX: &str = "UV_INDEX_URL";

/// Adds, for `uv`, what is set for `pip` alone.
pub(crate) fn for_uv(cx: &Context, mut client: Invocation) -> Invocation {
    for (pip, uv) in PAIRS {
        let set = cx.var(uv).is_some() || (uv == "UV_DEFAULT_INDEX" && cx.var(UV_OLD_INDEX).is_some());
        if let (false, Some(value)) = (set, cx.var(pip)) {
            // `pip` separates several places by blanks, `uv` those of find-links by commas.
            let places = value.split_whitespace().collect::<Vec<_>>();
            client = client.env(uv, places.join(if uv == "UV_FIND_LINKS" { "," } else { " " }));
        }
    }
    // `uv` has a flag for this, and no variable.
    let no_index = cx.var("PIP_NO_INDEX").is_some_and(|value| !["0", "false", "no", "off"].contains(&value.as_str()));
    if no_index { client.arg("--no-index") } else { client }
}

/// Adds, for `pip`, what is set for `uv` alone.
pub(crate) fn for_pip(cx: &Context, mut client: Invocation) -> Invocation {
    for (pip, uv) in PAIRS {
        let value = cx.var(uv).or_else(|| cx.var(UV_OLD_INDEX).filter(|_| pip == "PIP_INDEX_URL"));
        if let (None, Some(value)) = (cx.var(pip), value) {
            client = client.env(pip, if uv == "UV_FIND_LINKS" { value.replace(',', " ") } else { value });
        }
    }
    client
}

/// For messages: the client and where it was told to look; the user part of URLs is masked.
pub(crate) fn origin(cx: &Context, client: &str) -> String {
    let set: Vec<_> = PAIRS
        .iter()
        .flat_map(|(pip, uv)| [*pip, *uv])
        .filter(|name| !name.contains("CERT"))
        .filter_map(|name| cx.var(name).map(|value| format!("{name}={value}")))
        .collect();
    if set.is_empty() {
        return format!("`{client}`");
    }
    format!("`{client}` ({})", pto_process::masked(&set.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(client: Invocation) -> String {
        client.to_shell_line()
    }

    #[test]
    fn what_is_set_for_one_client_counts_for_the_other() {
        let cx =
            Context::fake("/", [("PIP_INDEX_URL", "http://m/"), ("PIP_FIND_LINKS", "/a /b"), ("PIP_NO_INDEX", "1")]);
        assert_eq!(
            line(for_uv(&cx, Invocation::new("uv"))),
            "UV_DEFAULT_INDEX=http://m/ UV_FIND_LINKS='/a,/b' uv --no-index"
        );
        let cx = Context::fake("/", [("UV_INDEX_URL", "http://m/"), ("UV_FIND_LINKS", "/a,/b")]);
        assert_eq!(line(for_pip(&cx, Invocation::new("pip"))), "PIP_FIND_LINKS='/a /b' PIP_INDEX_URL=http://m/ pip");
    }

    #[test]
    fn what_is_set_for_a_client_itself_stays() {
        let cx =
            Context::fake("/", [("PIP_INDEX_URL", "http://p/"), ("UV_INDEX_URL", "http://u/"), ("PIP_NO_INDEX", "0")]);
        assert_eq!(line(for_uv(&cx, Invocation::new("uv"))), "uv");
        assert_eq!(line(for_pip(&cx, Invocation::new("pip"))), "pip");
    }

    #[test]
    fn the_origin_is_masked() {
        let cx = Context::fake("/", [("PIP_INDEX_URL", "http://me:pw@m/")]);
        assert_eq!(origin(&cx, "pip"), "`pip` (PIP_INDEX_URL=http://***@m/)");
        assert_eq!(origin(&Context::fake("/", [("A", "1")]), "uv"), "`uv`");
    }
}
