//! The client: every request to a registry is made here.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use pto_context::{Context, Event, interrupt};
use pto_docker::Credentials;
use serde::Deserialize;
use ureq::http::Request;
use ureq::tls::TlsConfig;
use ureq::{Agent, Proxy};

use super::address::Repository;
use super::auth::{Challenge, TokenReply};
use super::digest::Digest;
use super::exchange::exchange;
use super::manifest::{ACCEPTED, Manifest, Platform};
use super::options::{Limits, Options};
use super::problem::{Problem, RequestFailed};
use super::realm;
use super::reply::Reply;
use crate::error::Error;

/// How many redirects are followed for the bytes of a configuration, which registries keep in an object store. No other request
/// is redirected: where a tag leads, only the registry itself may say.
const REDIRECTS: u32 = 5;

/// How many pages of a list of tags are read, so that a registry whose pages never end is not asked for ever.
const PAGES: usize = 1000;
/// How many letters all tags may have together: a million tags with what we add to a name.
const MOST_LETTERS: usize = 64 << 20;

/// The characters that are encoded in a value of a query: all but the unreserved ones of RFC 3986.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// What became of a tag that was to be deleted by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// It is gone.
    Deleted,
    /// It did not exist.
    WasAbsent,
    /// Nothing was done: this registry only deletes by digest, which would delete every other tag of the same image too.
    Unsupported,
}

/// A client for one repository.
#[derive(Debug)]
pub struct Client {
    cx: Context,
    agent: Agent,
    repository: Repository,
    options: Options,
    /// The value of `Authorization` that was accepted last.
    authorization: Mutex<Option<String>>,
}

/// A request, as a value that can be sent again.
struct Ask<'a> {
    method: &'static str,
    url: String,
    accept: &'a [&'a str],
    body: Option<(&'a str, &'a [u8])>,
    redirects: u32,
}

#[derive(Deserialize)]
struct TagList {
    /// `null` in an empty repository.
    tags: Option<Vec<String>>,
}

/// What a registry knows about an image or a list of images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFacts {
    /// What it runs on.
    pub platforms: Vec<Platform>,
    /// When it was built; a list of images does not say.
    pub created: Option<SystemTime>,
}

/// The few fields of an image's configuration that are needed here.
#[derive(Deserialize)]
struct ImageConfig {
    os: String,
    architecture: String,
    created: Option<String>,
}

impl Client {
    /// A client for one repository. It ignores the environment's proxies, and trusts the certificates of the system and of
    /// `SSL_CERT_FILE`.
    ///
    /// # Errors
    /// A certificate file cannot be read, or the options' proxy is not an address.
    pub fn new(cx: &Context, repository: Repository, options: Options) -> Result<Self, Error> {
        let patience = Some(options.limits.patience);
        // Reading the system's certificates takes longer than asking a registry on this machine.
        let tls = if options.is_plain(&repository) {
            TlsConfig::default()
        } else {
            pto_fetch::tls(cx).map_err(|error| Error::Certificates(Box::new(error)))?
        };
        let proxy = options.proxy.as_deref().filter(|_| !repository.is_loopback());
        let proxy = proxy.map(Proxy::new).transpose().map_err(|_| Error::NoProxy)?;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(proxy)
            .tls_config(tls)
            // Requests are far apart, and each one on a connection that was closed meanwhile would cost a try.
            .max_idle_connections(0)
            .timeout_resolve(patience)
            .timeout_connect(patience)
            .timeout_send_body(patience)
            .timeout_recv_response(patience)
            .timeout_per_read(patience)
            .user_agent(concat!("ptokit/", env!("CARGO_PKG_VERSION")))
            // A digest is that of the bytes as the registry keeps them.
            .accept_encoding("identity")
            .build();
        Ok(Self { cx: cx.clone(), agent: config.new_agent(), repository, options, authorization: Mutex::default() })
    }

    /// The repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// How often and how long it tries.
    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The manifest behind a tag or a digest. `None` only if the registry itself says that there is none.
    ///
    /// # Errors
    /// It cannot be fetched, is not a manifest, or has another digest than the registry or the caller says.
    pub fn manifest(&self, reference: &str) -> Result<Option<Manifest>, Error> {
        let ask = self.ask("GET", &format!("manifests/{reference}"), &ACCEPTED);
        self.repeat(&ask, |reply| match reply.status {
            200 => {
                let announced = reference.parse().ok().or_else(|| reply.announced.clone());
                check(announced, &reply.body)?;
                Manifest::new(reply.body, &reply.content_type).map(Some)
            }
            _ if reply.says_absent() => Ok(None),
            _ => Err(reply.problem()),
        })
    }

    /// Makes a tag lead to a manifest. Tries only once: a caller has to read the tag again before the next try.
    ///
    /// # Errors
    /// The registry refused, or its answer did not come. In the second case the tag may have been moved all the same.
    pub fn put_manifest(&self, tag: &str, manifest: &Manifest) -> Result<(), RequestFailed> {
        let body = Some((manifest.media_type(), manifest.bytes()));
        let ask = Ask { body, ..self.ask("PUT", &format!("manifests/{tag}"), &[]) };
        let outcome = self.once(&ask).and_then(|reply| match reply.status {
            200..=204 => match reply.announced {
                Some(found) if found != *manifest.digest() => {
                    Err(Problem::OtherBytes { announced: manifest.digest().clone(), found })
                }
                _ => Ok(()),
            },
            _ => Err(reply.problem()),
        });
        outcome.map_err(|problem| self.failed(&ask, problem, 1))
    }

    /// Deletes a tag by name, and never the manifest that it leads to: other tags may lead there too.
    ///
    /// # Errors
    /// The registry's answer did not come, or was not one of the expected ones.
    pub fn delete_tag(&self, tag: &str) -> Result<Deletion, Error> {
        let ask = self.ask("DELETE", &format!("manifests/{tag}"), &[]);
        self.repeat(&ask, |reply| match reply.status {
            200 | 202 | 204 => Ok(Deletion::Deleted),
            _ if reply.says_absent() => Ok(Deletion::WasAbsent),
            _ if reply.says_unsupported() => Ok(Deletion::Unsupported),
            _ => Err(reply.problem()),
        })
    }

    /// All tags of the repository; `None` if the registry says that there is no such repository.
    ///
    /// # Errors
    /// They cannot be fetched.
    pub fn tags(&self) -> Result<Option<Vec<String>>, Error> {
        let (mut tags, mut path, mut letters) = (Vec::<String>::new(), "tags/list?n=1000".to_owned(), 0);
        for _ in 0..PAGES {
            let ask = self.ask("GET", &path, &[]);
            let page = self.repeat(&ask, |reply| match reply.status {
                200 => match serde_json::from_slice::<TagList>(&reply.body) {
                    Ok(list) => Ok(Some((list.tags.unwrap_or_default(), reply.link))),
                    Err(error) => Err(Problem::Malformed(format!("no list of tags: {error}"))),
                },
                _ if reply.says_absent() => Ok(None),
                _ => Err(reply.problem()),
            })?;
            let Some((more, link)) = page else { return Ok(None) };
            letters += more.iter().map(String::len).sum::<usize>();
            tags.extend(more);
            match link.as_deref().and_then(next_page) {
                Some(query) if letters < MOST_LETTERS => path = format!("tags/list?{query}"),
                Some(_) => break,
                None => return Ok(Some(tags)),
            }
        }
        // A part of it would say of a tag that it does not exist.
        let endless = Problem::Malformed(format!("the list of tags goes on after {} tags", tags.len()));
        Err(self.failed(&self.ask("GET", &path, &[]), endless, 1).into())
    }

    /// Facts about what a manifest stands for: for an image from its configuration, for a list of images from the list.
    ///
    /// # Errors
    /// The configuration cannot be fetched or read.
    pub fn facts(&self, manifest: &Manifest) -> Result<ImageFacts, Error> {
        let Some(digest) = manifest.config() else {
            return Ok(ImageFacts { platforms: manifest.listed_platforms(), created: None });
        };
        let ask = Ask { redirects: REDIRECTS, ..self.ask("GET", &format!("blobs/{digest}"), &[]) };
        self.repeat(&ask, |reply| {
            if reply.status != 200 {
                return Err(reply.problem());
            }
            check(Some(digest.clone()), &reply.body)?;
            let config: ImageConfig = serde_json::from_slice(&reply.body)
                .map_err(|error| Problem::Malformed(format!("no configuration of an image: {error}")))?;
            let created = config.created.and_then(|created| humantime::parse_rfc3339_weak(&created).ok());
            let platform = Platform { os: config.os, architecture: config.architecture };
            Ok(ImageFacts { platforms: vec![platform], created })
        })
    }

    fn ask<'a>(&self, method: &'static str, path: &str, accept: &'a [&'a str]) -> Ask<'a> {
        let scheme = if self.options.is_plain(&self.repository) { "http" } else { "https" };
        let (host, name) = (self.repository.host(), self.repository.name());
        Ask { method, url: format!("{scheme}://{host}/v2/{name}/{path}"), accept, body: None, redirects: 0 }
    }

    /// Sends a request again and again, until `read` accepts an answer, a problem will not pass, or there were enough tries.
    fn repeat<T>(&self, ask: &Ask<'_>, read: impl Fn(Reply) -> Result<T, Problem>) -> Result<T, Error> {
        let mut tries = 1;
        loop {
            match self.once(ask).and_then(&read) {
                Ok(answer) => return Ok(answer),
                Err(problem) if problem.may_pass() && tries < self.options.limits.attempts => {
                    self.rest(&self.failed(ask, problem, 1), tries)?;
                    tries += 1;
                }
                Err(problem) => return Err(self.failed(ask, problem, tries).into()),
            }
        }
    }

    /// Sends a request, and once more with an `Authorization` if the registry asks for one.
    fn once(&self, ask: &Ask<'_>) -> Result<Reply, Problem> {
        let reply = self.send(ask, self.authorization().as_deref())?;
        let Some(challenge) = reply.challenge.as_deref().filter(|_| reply.status == 401) else { return Ok(reply) };
        let Some(authorization) = self.answer(challenge)? else { return Ok(reply) };
        let reply = self.send(ask, Some(&authorization))?;
        let worked = Some(authorization).filter(|_| reply.status != 401);
        *self.authorization.lock().unwrap_or_else(PoisonError::into_inner) = worked;
        Ok(reply)
    }

    fn authorization(&self) -> Option<String> {
        self.authorization.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The `Authorization` that answers a challenge; `None` if we have none.
    fn answer(&self, challenge: &str) -> Result<Option<String>, Problem> {
        let basic = self.options.credentials.as_ref().map(|it| format!("Basic {}", it.base64()));
        match Challenge::parse(challenge) {
            Some(Challenge::Basic) => Ok(basic),
            Some(Challenge::Bearer { realm, service, scope }) => {
                self.token(&realm, service, scope, basic.as_deref()).map(|token| Some(format!("Bearer {token}")))
            }
            None => Ok(None),
        }
    }

    /// A token of the service that the registry names. The password goes there only if [`realm::checked`] allows it.
    fn token(
        &self,
        realm: &str,
        service: Option<String>,
        scope: Option<String>,
        basic: Option<&str>,
    ) -> Result<String, Problem> {
        let realm = realm::checked(realm, &self.repository, self.options.plain_http)?;
        let pairs = [("service", service), ("scope", scope)];
        let query = pairs.iter().filter_map(|(name, value)| Some(format!("{name}={}", percent(value.as_ref()?))));
        let query = query.collect::<Vec<_>>().join("&");
        let join = if realm.query().is_some() { '&' } else { '?' };
        let ask = Ask { method: "GET", url: format!("{realm}{join}{query}"), accept: &[], body: None, redirects: 0 };
        let reply = self.send(&ask, basic)?;
        if reply.status != 200 {
            return Err(reply.problem());
        }
        let token = serde_json::from_slice::<TokenReply>(&reply.body).ok().and_then(TokenReply::into_token);
        token.ok_or_else(|| Problem::Malformed("the token service answered no token".to_owned()))
    }

    /// Waits before the next try, after this many, and says so: it may take a minute.
    pub(crate) fn rest(&self, failed: &RequestFailed, tries: u32) -> Result<(), Error> {
        let limits = &self.options.limits;
        let pause = limits.pause(tries, &failed.problem);
        let message = format!("{failed}; trying again in {pause:?} ({} of {})", tries + 1, limits.attempts);
        self.cx.emit(Event::Warning { message });
        wait(pause)
    }

    fn failed(&self, ask: &Ask<'_>, problem: Problem, tries: u32) -> RequestFailed {
        let secrets = self.options.credentials.as_ref().map(Credentials::secrets);
        let problem = problem.without(secrets.as_ref().map_or(&[], |secrets| secrets));
        RequestFailed {
            method: ask.method,
            url: pto_process::masked(&ask.url),
            problem,
            tries,
            through_proxy: self.options.proxy.is_some() && !self.repository.is_loopback(),
        }
    }

    /// The only place that sends anything.
    fn send(&self, ask: &Ask<'_>, authorization: Option<&str>) -> Result<Reply, Problem> {
        if interrupt::requested() {
            return Err(Problem::Lasting("interrupted".to_owned()));
        }
        let patience = self.options.limits.patience;
        let mut request = Request::builder().method(ask.method).uri(&ask.url);
        if !ask.accept.is_empty() {
            request = request.header("Accept", ask.accept.join(", "));
        }
        if let Some(authorization) = authorization {
            request = request.header("Authorization", authorization);
        }
        let malformed = |error: ureq::http::Error| Problem::Lasting(error.to_string());
        match ask.body {
            Some((media_type, bytes)) => {
                let request = request.header("Content-Type", media_type).body(bytes.to_vec()).map_err(malformed)?;
                exchange(&self.agent, request, ask.redirects, patience)
            }
            None => exchange(&self.agent, request.body(()).map_err(malformed)?, ask.redirects, patience),
        }
    }
}

/// Checks bytes against the digest that they should have, if it is known.
fn check(announced: Option<Digest>, bytes: &[u8]) -> Result<(), Problem> {
    let found = Digest::of(bytes);
    match announced {
        Some(announced) if announced != found => Err(Problem::OtherBytes { announced, found }),
        _ => Ok(()),
    }
}

/// Waits, and ends at an interrupt.
pub(crate) fn wait(time: Duration) -> Result<(), Error> {
    const STEP: Duration = Duration::from_millis(50);
    let start = Instant::now();
    loop {
        if interrupt::requested() {
            return Err(Error::Interrupted);
        }
        let Some(left) = time.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else { return Ok(()) };
        std::thread::sleep(left.min(STEP));
    }
}

/// The query of the next page, from a header such as `<...?n=2&last=b>; rel="next"`. The rest of the link is ignored: no answer
/// may send us to another host.
fn next_page(link: &str) -> Option<String> {
    let (target, relation) = link.strip_prefix('<')?.split_once('>')?;
    let query = target.split_once('?')?.1;
    relation.contains("next").then(|| query.to_owned())
}

/// A value of a query, percent-encoded.
fn percent(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other() {
        assert_eq!(next_page(r#"</v2/a/tags/list?n=2&last=b>; rel="next""#).as_deref(), Some("n=2&last=b"));
        assert_eq!(next_page("nonsense"), None);
        assert_eq!(percent("repository:a/b:pull,push"), "repository%3Aa%2Fb%3Apull%2Cpush");
    }
}
