//! Build arguments that users give besides ours.

use std::path::Path;

use pto_context::files;
use pto_docker::PROXY_VARIABLES;

use crate::error::Error;

/// The argument with the base's digest, which may be known only after a pull.
pub(crate) const DIGEST: &str = "CANN_DIGEST";
/// An argument that BuildKit knows by itself, and how its others begin.
const BUILDKIT: [&str; 2] = ["SOURCE_DATE_EPOCH", "BUILDKIT_"];

/// Far more than any Dockerfile has.
const LARGEST: u64 = 4 << 20;

/// Whether Docker knows a build argument as that of a proxy.
pub(crate) fn is_proxy_variable(name: &str) -> bool {
    PROXY_VARIABLES.contains(&name)
}

/// The arguments that a Dockerfile declares.
pub(crate) fn declared(dockerfile: &Path) -> Result<Vec<String>, Error> {
    let bytes = files::bytes(dockerfile, LARGEST).map_err(Error::Dockerfile)?;
    let text = String::from_utf8_lossy(&bytes);
    let names = text.lines().filter_map(|line| line.trim_start().strip_prefix("ARG "));
    let names = names.flat_map(str::split_whitespace).filter_map(|name| name.split('=').next());
    Ok(names.map(str::to_owned).collect())
}

/// The arguments of `given`, `NAME=VALUE`, that are not among our `own`. One of our own with another value is refused: Docker would
/// silently take one of the two. So is one that is not `declared`: Docker would build without it, from a branch perhaps.
pub(crate) fn further(
    given: &[String],
    own: &[String],
    digest: Option<&str>,
    declared: &[String],
) -> Result<Vec<String>, Error> {
    let is_known = |name: &str| {
        declared.iter().any(|known| known == name)
            || is_proxy_variable(name)
            || BUILDKIT.iter().any(|known| name.starts_with(known))
    };
    let mut further = Vec::new();
    for pair in given {
        let (name, asked) = pair.split_once('=').unwrap_or((pair, ""));
        if !is_known(name) {
            return Err(Error::UnknownArgument { name: name.to_owned(), known: declared.to_vec() });
        }
        if pto_process::masked(pair) != *pair || (is_proxy_variable(name) && asked.contains('@')) {
            return Err(Error::SecretArgument { name: name.to_owned() });
        }
        let needed = match own.iter().filter_map(|own| own.split_once('=')).find(|(own, _)| *own == name) {
            Some((_, needed)) => needed,
            None if name == DIGEST => digest.unwrap_or("that of the base's tag"),
            None => {
                further.push(pair.clone());
                continue;
            }
        };
        if asked != needed {
            let (name, asked, needed) = (name.to_owned(), asked.to_owned(), needed.to_owned());
            return Err(Error::OtherArgument { name, asked, needed });
        }
    }
    Ok(further)
}
