//! `uv pip install --target`: `uv` has no command that hands over a wheel, so it unpacks, into a directory of ours,
//! after verifying the sha256 it is given (`--require-hashes`). A wheel that does not match leaves nothing behind.

use pto_context::Context;
use pto_process::Invocation;
use pto_store::Error as StoreError;

use super::{Delivery, Try, Workplace, mirrors, run};
use crate::error::Error;
use crate::pin::WheelPin;
use crate::progress::Watch;

pub(super) fn deliver(cx: &Context, pin: &WheelPin, place: &Workplace) -> Result<Try, Error> {
    let Some(command) = command(cx, pin, place)? else { return Ok(Try::Absent) };
    let _watching = Watch {
        cx: cx.clone(),
        task: pin.task(),
        // uv unpacks into its cache while it downloads, so its progress is that of the unpacked bytes.
        dir: place.cache.clone(),
        expected: pin.unpacked_size,
        total: pin.size,
    }
    .start();
    match run(cx, command, place.downloads())? {
        Ok(_) => Ok(Try::Delivered(Delivery::Tree(place.tree.clone()))),
        Err(Try::Failed { attempt, last_resort }) => match computed_sha256(&attempt.last_words) {
            Some(found) => Err(Error::Checksum {
                file: pin.file.to_owned(),
                origin: mirrors::origin(cx, "uv"),
                expected: pin.sha256.to_owned(),
                found: found.to_owned(),
            }),
            None => Ok(Try::Failed { attempt, last_resort }),
        },
        Err(other) => Ok(other),
    }
}

/// `None` if `uv` cannot be told the platform.
fn command(cx: &Context, pin: &WheelPin, place: &Workplace) -> Result<Option<Invocation>, Error> {
    let Some(platform) = platform(pin.platform) else { return Ok(None) };
    let requirements = place.tmp.join("requirements.txt");
    fs_err::write(&requirements, format!("{} --hash=sha256:{}\n", pin.requirement(), pin.sha256))
        .map_err(|e| StoreError::write("cannot write the requirements file", &place.tmp, e))?;
    let command = Invocation::new("uv")
        .args(["pip", "install", "--no-deps", "--only-binary", ":all:", "--no-progress", "--require-hashes"])
        .args(["--python-version", pin.python, "--python-platform", &platform])
        .arg("--target")
        .arg(&place.tree)
        .arg("--requirement")
        .arg(&requirements)
        .cwd(&place.tmp)
        .env("TMPDIR", &place.tmp)
        .env("UV_CACHE_DIR", &place.cache)
        .env_remove("UV_NO_CACHE")
        // Any Python of the machine will do to read its tags; a whole one must not be fetched on the side.
        .env("UV_PYTHON_DOWNLOADS", "never")
        .env("NO_COLOR", "1");
    Ok(Some(mirrors::for_uv(cx, command)))
}

/// `manylinux2014_aarch64`, as `pip` has it, is `aarch64-manylinux2014` for `uv`.
fn platform(pip: &str) -> Option<String> {
    ["x86_64", "aarch64"]
        .iter()
        .find_map(|machine| pip.strip_suffix(machine)?.strip_suffix('_').map(|rest| format!("{machine}-{rest}")))
}

/// The sha256 that `uv` found instead of the pinned one: in its words `Computed:`, then `sha256:...`.
fn computed_sha256(words: &str) -> Option<&str> {
    let (_, after) = words.split_once("Computed:")?;
    let hash = after.split_whitespace().next()?.strip_prefix("sha256:")?;
    (hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit())).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_translated() {
        assert_eq!(platform("manylinux2014_aarch64").as_deref(), Some("aarch64-manylinux2014"));
        assert_eq!(platform("manylinux_2_28_x86_64").as_deref(), Some("x86_64-manylinux_2_28"));
        assert_eq!(platform("any"), None);
    }

    #[test]
    fn the_hash_that_was_found_is_read_from_uvs_words() {
        let hash = "1".repeat(64);
        let words = format!("error: x\n  Expected:\n    sha256:{}\n\n  Computed:\n    sha256:{hash}", "2".repeat(64));
        assert_eq!(computed_sha256(&words), Some(hash.as_str()));
        assert_eq!(computed_sha256("Computed:\n sha256:12"), None);
        assert_eq!(computed_sha256("no network"), None);
    }
}
