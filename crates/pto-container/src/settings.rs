//! A request with all values settled: from the request itself, else from the environment, else the usual ones.

use std::str::FromStr;

use pto_context::Context;
use pto_docker::Proxies;
use pto_process::shell_word;

use crate::access::Access;
use crate::error::Error;
use crate::name;
use crate::request::Request;
use crate::series::{Series, Stage};
use crate::size;

/// Enough for HCCL and for the data loaders of models, which Docker's own 64 MB are not.
const SHM_SIZE: &str = "16g";
/// The variable with the proxy inside containers and builds.
pub(crate) const PROXY_VARIABLE: &str = "PYPTO_DOCKER_PROXY";
/// The repository of images that are built on this machine.
const LOCAL: &str = "pypto-dev";

/// What the volumes of sources are called after a container.
pub(crate) const SOURCES: &str = "src";
pub(crate) const LIB_SOURCES: &str = "lib-src";

/// What a container is created with, besides sources and devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) image: String,
    /// The command that builds the image, unless another one is named.
    pub(crate) build: Option<String>,
    pub(crate) name: String,
    pub(crate) cache_volume: String,
    pub(crate) shm_size: String,
    pub(crate) access: Access,
    pub(crate) proxies: Proxies,
}

impl Settings {
    pub(crate) fn of(cx: &Context, request: &Request) -> Result<Self, Error> {
        let access = request.access.map_or_else(|| access(cx), Ok)?;
        match (access, request.cards.as_slice()) {
            (Access::None, []) => {}
            (Access::None, cards) => return Err(Error::CardsWithoutAccess { cards: cards.to_vec() }),
            (_, []) => return Err(Error::NoCards),
            _ => {}
        }
        if let Some(twice) = duplicate(&request.cards) {
            return Err(Error::CardTwice { card: twice });
        }
        let series = request.series;
        let said = |option: &Option<String>, variable: &str| option.clone().or_else(|| cx.var(variable));
        let named = said(&request.image, "PYPTO_IMAGE");
        let base = tag(cx, request.cann_tag.as_deref());
        let build = named.is_none().then(|| build_command(series, request.stage, base.as_deref()));
        let image = named.unwrap_or_else(|| local_image(series, request.stage, base));
        let named = request.name.clone().unwrap_or_else(|| container_name(cx, series));
        let name = name::checked("a container", named)?;
        let cache = said(&request.cache_volume, "PYPTO_CACHE_VOLUME");
        let cache_volume = name::checked("a volume", cache.unwrap_or_else(|| volume(&name, "cache")))?;
        if [SOURCES, LIB_SOURCES].iter().any(|what| volume(&name, what) == cache_volume) {
            return Err(Error::CacheOfSources { volume: cache_volume });
        }
        Ok(Self {
            image: name::image(image)?,
            build,
            cache_volume,
            name,
            shm_size: size::canonical(
                &said(&request.shm_size, "PYPTO_SHM_SIZE").unwrap_or_else(|| SHM_SIZE.to_owned()),
            )?,
            access,
            proxies: proxies(cx, request.proxy.as_deref())?,
        })
    }
}

/// The name of a series' container: `PYPTO_CONTAINER_NAME`, else `pypto-a3-dev`.
pub fn container_name(cx: &Context, series: Series) -> String {
    cx.var("PYPTO_CONTAINER_NAME").unwrap_or_else(|| format!("pypto-{series}-dev"))
}

/// The name of a container's volume: `pypto-a3-src` for `pypto-a3-dev`. So containers with other names have other volumes.
pub(crate) fn volume(container: &str, what: &str) -> String {
    format!("{}-{what}", container.strip_suffix("-dev").unwrap_or(container))
}

/// The name of an image that is built on this machine: `pypto-dev:a3-sim`.
pub(crate) fn local_image(series: Series, stage: Stage, cann_tag: Option<String>) -> String {
    let base = cann_tag.map(|tag| format!("-{tag}")).unwrap_or_default();
    format!("{LOCAL}:{series}-{stage}{base}")
}

/// The command that builds it.
fn build_command(series: Series, stage: Stage, cann_tag: Option<&str>) -> String {
    let target = if stage == Stage::Sim { String::new() } else { format!(" --target {stage}") };
    let base = cann_tag.map(|tag| format!(" --cann-tag {}", shell_word(tag))).unwrap_or_default();
    format!("cargo xtask container build {series}{target}{base}")
}

/// The tag of the base, if one is asked for.
pub(crate) fn tag(cx: &Context, option: Option<&str>) -> Option<String> {
    option.map(str::to_owned).or_else(|| cx.var("PYPTO_CANN_TAG"))
}

/// The proxies inside.
pub(crate) fn proxies(cx: &Context, option: Option<&str>) -> Result<Proxies, Error> {
    let instead = option.map(str::to_owned).or_else(|| cx.var(PROXY_VARIABLE));
    // An empty value means no proxy.
    match instead.as_deref() {
        Some(address) if !address.is_empty() && !is_proxy(address) => Err(Error::BadProxy),
        instead => Ok(Proxies::of(cx, instead)),
    }
}

/// Whether it is `[SCHEME://][USER@]HOST[:PORT][/]` with a scheme or a port; a bare word is a mistake.
fn is_proxy(address: &str) -> bool {
    let (scheme, rest) = address.split_once("://").map_or((None, address), |(scheme, rest)| (Some(scheme), rest));
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !place.ends_with(']') => (host, Some(port)),
        _ => (place, None),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match bare {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.chars().all(fits),
    };
    let known = scheme.is_none_or(|scheme| ["http", "https", "socks5", "socks5h"].contains(&scheme));
    let clean = !address.contains(|c: char| c.is_whitespace() || c.is_control());
    clean && known && is_host && (scheme.is_some() || port.is_some()) && port.is_none_or(|it| it.parse::<u16>().is_ok())
}

fn access(cx: &Context) -> Result<Access, Error> {
    const VARIABLE: &str = "PYPTO_DEVICE_ACCESS";
    let Some(value) = cx.var(VARIABLE) else { return Ok(Access::default()) };
    Access::from_str(&value).map_err(|expected| Error::BadVariable { variable: VARIABLE, value, expected })
}

fn duplicate(cards: &[u32]) -> Option<u32> {
    cards.iter().enumerate().find(|(at, card)| cards[..*at].contains(card)).map(|(_, &card)| card)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_before_docker_is_asked() {
        for good in ["http://proxy:3128", "https://u:p@ss@proxy.example/", "u:pw@127.0.0.1:9", "socks5h://[::1]:1080"] {
            assert!(is_proxy(good), "{good}");
        }
        for bad in
            ["nonsense", "http://", "http://:3128", "http:/proxy:1", "a b:1", "ftp://x:1", "http://h:port", "h:1\n"]
        {
            assert!(!is_proxy(bad), "{bad}");
        }
    }
}
