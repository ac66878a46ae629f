//! A request with everything said: options first, then the environment, then what is usual.

use std::str::FromStr;

use pto_context::Context;
use pto_docker::Proxies;

use crate::access::Access;
use crate::error::Error;
use crate::name;
use crate::request::Request;
use crate::series::{Series, Stage};

/// Enough for HCCL and for the data loaders of models; Docker's own 64 MB are not.
const SHM_SIZE: &str = "16g";
/// Images that are built here.
const LOCAL: &str = "pypto-dev";

/// What a container is made of that is not sources or devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) image: String,
    pub(crate) name: String,
    pub(crate) cache_volume: String,
    pub(crate) shm_size: String,
    pub(crate) access: Access,
    pub(crate) proxies: Proxies,
}

impl Settings {
    pub(crate) fn of(cx: &Context, request: &Request) -> Result<Self, Error> {
        if request.cards.is_empty() {
            return Err(Error::NoCards);
        }
        if let Some(twice) = duplicate(&request.cards) {
            return Err(Error::CardTwice { card: twice });
        }
        let series = request.series;
        let said = |option: &Option<String>, variable: &str| option.clone().or_else(|| cx.var(variable));
        let image = said(&request.image, "PYPTO_IMAGE");
        let image = image.unwrap_or_else(|| local_image(series, request.stage, tag(cx, request.cann_tag.as_deref())));
        let named = request.name.clone().unwrap_or_else(|| container_name(cx, series));
        let name = name::checked("a container", named)?;
        let cache = said(&request.cache_volume, "PYPTO_CACHE_VOLUME");
        Ok(Self {
            image: name::image(image)?,
            cache_volume: name::checked("a volume", cache.unwrap_or_else(|| volume(&name, "cache")))?,
            name,
            shm_size: said(&request.shm_size, "PYPTO_SHM_SIZE").unwrap_or_else(|| SHM_SIZE.to_owned()),
            access: request.access.map_or_else(|| access(cx), Ok)?,
            proxies: proxies(cx, request.proxy.as_deref()),
        })
    }
}

/// The container that is meant by a series if no option names another: `PYPTO_CONTAINER_NAME`, else `pypto-a3-dev`.
pub fn container_name(cx: &Context, series: Series) -> String {
    cx.var("PYPTO_CONTAINER_NAME").unwrap_or_else(|| format!("pypto-{series}-dev"))
}

/// A volume of a container: `pypto-a3-src` of `pypto-a3-dev`. Containers with names of their own have volumes of their own.
pub(crate) fn volume(container: &str, what: &str) -> String {
    format!("{}-{what}", container.strip_suffix("-dev").unwrap_or(container))
}

/// The image that is built here of a stage: `pypto-dev:a3-sim`.
pub(crate) fn local_image(series: Series, stage: Stage, cann_tag: Option<String>) -> String {
    let base = cann_tag.map(|tag| format!("-{tag}")).unwrap_or_default();
    format!("{LOCAL}:{series}-{stage}{base}")
}

/// The tag of the base, if one is asked for.
pub(crate) fn tag(cx: &Context, option: Option<&str>) -> Option<String> {
    option.map(str::to_owned).or_else(|| cx.var("PYPTO_CANN_TAG"))
}

/// The proxies inside.
pub(crate) fn proxies(cx: &Context, option: Option<&str>) -> Proxies {
    let instead = option.map(str::to_owned).or_else(|| cx.var("PYPTO_DOCKER_PROXY"));
    Proxies::of(cx, instead.as_deref())
}

fn access(cx: &Context) -> Result<Access, Error> {
    const VARIABLE: &str = "PYPTO_DEVICE_ACCESS";
    let Some(value) = cx.var(VARIABLE) else { return Ok(Access::default()) };
    Access::from_str(&value).map_err(|expected| Error::BadVariable { variable: VARIABLE, value, expected })
}

fn duplicate(cards: &[u32]) -> Option<u32> {
    cards.iter().enumerate().find(|(at, card)| cards[..*at].contains(card)).map(|(_, &card)| card)
}
