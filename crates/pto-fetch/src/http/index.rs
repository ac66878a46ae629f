//! A package index: where it has a file, by the simple repository API's HTML pages.

use std::io::Read;

use pto_store::stop_if_interrupted;
use ureq::ResponseExt;

use super::Http;
use super::failure::{Failure, HttpProblem};
use crate::error::Error;

/// A page of a project with ten thousand files has some megabytes.
const MAX_PAGE: u64 = 64 << 20;

impl Http {
    /// The URL of a project's file on a package index, as the page of the project has it.
    ///
    /// # Errors
    /// [`Error::Download`] if the page cannot be had; [`Error::NotInIndex`] with the files that are there.
    pub fn find_in_index(&self, index: &str, project: &str, file: &str) -> Result<String, Error> {
        let page = format!("{}/{project}/", index.trim_end_matches('/'));
        let (text, base) = self.page(&page, file)?;
        let links: Vec<&str> = hrefs(&text).collect();
        let name = |link: &str| {
            let path = link.split(['#', '?']).next().unwrap_or_default();
            percent_decoded(path.rsplit('/').next().unwrap_or_default())
        };
        match links.iter().find(|link| name(link) == file) {
            Some(link) => Ok(joined(&base, link.split('#').next().unwrap_or(link))),
            None => Err(Error::NotInIndex {
                file: file.to_owned(),
                page: pto_process::masked(&page),
                found: links.iter().map(|link| name(link)).filter(|name| name.ends_with(".whl")).collect(),
            }),
        }
    }

    /// A page and where redirects led.
    fn page(&self, url: &str, file: &str) -> Result<(String, String), Error> {
        stop_if_interrupted()?;
        let failure = |problem| Error::Download {
            file: file.to_owned(),
            failures: vec![Failure { url: pto_process::masked(url), final_url: None, tries: 1, problem }],
        };
        let patience = self.limits.patience;
        let response = self.agent(url)?.get(url).header("Accept", "text/html").call();
        let response = response.map_err(|error| failure(HttpProblem::of(&error, patience)))?;
        if !response.status().is_success() {
            return Err(failure(HttpProblem::Status { status: response.status().as_u16(), retry_after: None }));
        }
        let base = response.get_uri().to_string();
        let mut text = Vec::new();
        let read = response.into_body().into_reader().take(MAX_PAGE).read_to_end(&mut text);
        read.map_err(|error| failure(HttpProblem::of(&ureq::Error::from(error), patience)))?;
        Ok((String::from_utf8_lossy(&text).into_owned(), base))
    }
}

/// What the links of a page lead to.
fn hrefs(html: &str) -> impl Iterator<Item = &str> {
    html.split("href=").skip(1).filter_map(|rest| {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest[1..].split(quote).next()
    })
}

/// A link of a page as a whole URL.
fn joined(page: &str, link: &str) -> String {
    let link = link.replace("&amp;", "&");
    let (scheme, rest) = page.split_once("://").unwrap_or(("https", page));
    let authority = rest.split('/').next().unwrap_or(rest);
    if link.contains("://") {
        return link;
    }
    if let Some(other_host) = link.strip_prefix("//") {
        return format!("{scheme}://{other_host}");
    }
    if link.starts_with('/') {
        return format!("{scheme}://{authority}{link}");
    }
    let dir = rest.split(['?', '#']).next().unwrap_or(rest).rsplit_once('/').map_or(rest, |(dir, _)| dir);
    let mut parts: Vec<&str> = dir.split('/').collect();
    for part in link.split('/') {
        match part {
            "." => {}
            ".." if parts.len() > 1 => {
                parts.pop();
            }
            ".." => {}
            part => parts.push(part),
        }
    }
    format!("{scheme}://{}", parts.join("/"))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn links_are_joined_as_a_browser_would() {
        let page = "http://h:1/simple/ptoas/";
        for (link, whole) in [
            ("https://files/x.whl", "https://files/x.whl"),
            ("//files/x.whl", "http://files/x.whl"),
            ("/packages/x.whl", "http://h:1/packages/x.whl"),
            ("../../packages/x.whl?a=1&amp;b=2", "http://h:1/packages/x.whl?a=1&b=2"),
            ("./x.whl", "http://h:1/simple/ptoas/x.whl"),
        ] {
            assert_eq!(joined(page, link), whole);
        }
        assert_eq!(percent_decoded("a%2Bb%zz%"), "a+b%zz%");
        let html = "<a href=\"a.whl#sha256=1\">a</a><a class=x href='b.whl'>b</a><a href=c>c</a>";
        assert_eq!(hrefs(html).collect::<Vec<_>>(), ["a.whl#sha256=1", "b.whl"]);
    }

    proptest! {
        #[test]
        fn never_panics(page in "\\PC{0,40}", link in "\\PC{0,40}") {
            let _ = (joined(&page, &link), hrefs(&page).count(), percent_decoded(&link));
        }
    }
}
