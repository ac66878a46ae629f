//! Build arguments that users give besides ours.

use crate::error::Error;

/// The argument with the base's digest, which may be known only after a pull.
pub(crate) const DIGEST: &str = "CANN_DIGEST";

/// The arguments of `given`, `NAME=VALUE`, that are not among our `own`. One of our own with another value is refused: Docker would
/// silently take one of the two.
pub(crate) fn further(given: &[String], own: &[String], digest: Option<&str>) -> Result<Vec<String>, Error> {
    let mut further = Vec::new();
    for pair in given {
        let (name, asked) = pair.split_once('=').unwrap_or((pair, ""));
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
