//! A container as somebody asks for it.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::access::Access;
use crate::checks::CheckId;
use crate::series::{Series, Stage};

/// A container as somebody asks for it. What is `None` comes from the environment, else it is the usual value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The series of chips that it is for.
    pub series: Series,
    /// The physical cards of the host; at least one, and none with [`Access::None`].
    pub cards: Vec<u32>,
    /// The image; else `PYPTO_IMAGE`, else the one that [`BuildRequest`](crate::BuildRequest) makes of `stage` and `cann_tag`.
    pub image: Option<String>,
    /// The stage of an image that was built here.
    pub stage: Stage,
    /// The tag of the CANN base of an image that was built here; else `PYPTO_CANN_TAG`.
    pub cann_tag: Option<String>,
    /// A checkout of PyPTO; else `PYPTO_SRC`, else the one the working directory is in, else a volume.
    pub pypto_src: Option<PathBuf>,
    /// A checkout of pypto-lib; else `PYPTO_LIB_SRC`, else the one beside PyPTO's, else a volume.
    pub pypto_lib_src: Option<PathBuf>,
    /// A directory with both checkouts; else `PYPTO_HOST_WORKSPACE`.
    pub workspace: Option<PathBuf>,
    /// The volume for caches; else `PYPTO_CACHE_VOLUME`, else `pypto-a3-cache` of `pypto-a3-dev`.
    pub cache_volume: Option<String>,
    /// The container's name; else `PYPTO_CONTAINER_NAME`, else `pypto-a3-dev`.
    pub name: Option<String>,
    /// Size of `/dev/shm`, as Docker takes it; else 16g.
    pub shm_size: Option<String>,
    /// How it gets at the NPUs; else `PYPTO_DEVICE_ACCESS`, else [`Access::Auto`].
    pub access: Option<Access>,
    /// The proxy inside, instead of those of the environment; else `PYPTO_DOCKER_PROXY`.
    pub proxy: Option<String>,
    /// Whether standard input is a terminal.
    pub terminal: bool,
    /// A command to run instead of a shell.
    pub command: Vec<OsString>,
    /// Checks of the host that may fail.
    pub skip: Vec<CheckId>,
}

impl Request {
    /// A request with only the required parts.
    pub fn new(series: Series, cards: Vec<u32>) -> Self {
        Self {
            series,
            cards,
            image: None,
            stage: Stage::Sim,
            cann_tag: None,
            pypto_src: None,
            pypto_lib_src: None,
            workspace: None,
            cache_volume: None,
            name: None,
            shm_size: None,
            access: None,
            proxy: None,
            terminal: false,
            command: Vec::new(),
            skip: Vec::new(),
        }
    }
}
