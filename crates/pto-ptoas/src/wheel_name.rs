//! File names of wheels: `ptoas-0.61-cp310-cp310-manylinux_2_34_x86_64.whl`, as the binary distribution format has them.

use std::fmt;

/// What a wheel's file name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelName {
    /// The distribution, for example `ptoas`.
    pub distribution: String,
    /// Its version, for example `0.61`.
    pub version: String,
    /// Python tags: `cp310`, `py3`. One of them has to fit.
    pub python: Vec<String>,
    /// ABI tags: `cp310`, `abi3`, `none`.
    pub abi: Vec<String>,
    /// Platform tags: `manylinux_2_34_x86_64`, `any`.
    pub platform: Vec<String>,
}

/// Why a name is none of a wheel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl")]
pub struct NotAWheel;

/// A C library as a platform tag asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibcTag {
    /// `manylinux_2_34`: glibc of this version or newer.
    Glibc(u32, u32),
    /// `musllinux_1_2`: musl of this version or newer.
    Musl(u32, u32),
    /// `linux_x86_64`: whatever its maker had.
    Any,
}

impl WheelName {
    /// Reads a file name.
    ///
    /// # Errors
    /// It is none of a wheel.
    pub fn parse(file: &str) -> Result<Self, NotAWheel> {
        let parts: Vec<&str> = file.strip_suffix(".whl").ok_or(NotAWheel)?.split('-').collect();
        let (distribution, version, tags) = match parts[..] {
            [distribution, version, python, abi, platform] => (distribution, version, [python, abi, platform]),
            // A build number begins with a digit; it only orders wheels that are the same otherwise.
            [distribution, version, build, python, abi, platform]
                if build.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                (distribution, version, [python, abi, platform])
            }
            _ => return Err(NotAWheel),
        };
        let plain = |text: &&str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'+' | b'!'))
        };
        let starts = version.starts_with(|c: char| c.is_ascii_digit());
        if !starts || ![distribution, version].iter().chain(&tags).all(plain) {
            return Err(NotAWheel);
        }
        let [python, abi, platform] = tags.map(|tag| tag.split('.').map(str::to_owned).collect());
        Ok(Self { distribution: distribution.to_owned(), version: version.to_owned(), python, abi, platform })
    }

    /// Whether a CPython of this version can import it, as far as the Python and ABI tags say.
    pub fn takes_python(&self, (major, minor): (u32, u32)) -> bool {
        let stable_abi = self.abi.iter().any(|abi| abi == "abi3");
        self.python.iter().any(|tag| {
            let Some((implementation, (wanted_major, wanted_minor))) = python_tag(tag) else { return false };
            let same_major = wanted_major == major;
            match (implementation, wanted_minor) {
                ("py", None) => same_major,
                ("py", Some(wanted)) => same_major && wanted <= minor,
                ("cp", Some(wanted)) if stable_abi => same_major && wanted <= minor,
                ("cp", Some(wanted)) => same_major && wanted == minor,
                _ => false,
            }
        })
    }

    /// The Python that it is for, for people: `CPython 3.10`.
    pub fn wanted_python(&self) -> String {
        let newest = self.python.iter().filter_map(|tag| python_tag(tag)).max_by_key(|(_, version)| *version);
        match newest {
            Some(("cp", (major, Some(minor)))) => format!("CPython {major}.{minor}"),
            Some((_, (major, Some(minor)))) => format!("Python {major}.{minor} or newer"),
            Some((_, (major, None))) => format!("Python {major}"),
            None => self.python.join(" or "),
        }
    }

    /// The one CPython `(major, minor)` that fits, when only one does.
    pub fn exact_python(&self) -> Option<(u32, u32)> {
        let versions: Vec<_> = (0..40).map(|minor| (3, minor)).filter(|version| self.takes_python(*version)).collect();
        <[_; 1]>::try_from(versions).ok().map(|[version]| version)
    }

    /// What each platform tag asks for: a C library and a machine. Nothing for `any`, `None` for other systems.
    pub fn platforms(&self) -> impl Iterator<Item = Option<(LibcTag, &str)>> {
        self.platform.iter().map(|tag| platform_tag(tag))
    }

    /// Whether it runs on every platform.
    pub fn is_universal(&self) -> bool {
        self.platform.iter().any(|tag| tag == "any")
    }
}

impl fmt::Display for WheelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { distribution, version, python, abi, platform } = self;
        write!(f, "{distribution}-{version}-{}-{}-{}.whl", python.join("."), abi.join("."), platform.join("."))
    }
}

/// `cp310` is `("cp", (3, Some(10)))`: the first digit is the major version.
fn python_tag(tag: &str) -> Option<(&str, (u32, Option<u32>))> {
    let digits = tag.find(|c: char| c.is_ascii_digit())?;
    let (implementation, version) = tag.split_at(digits);
    let major = version.get(..1)?.parse().ok()?;
    let minor = match version.get(1..)? {
        "" => None,
        minor => Some(minor.parse().ok()?),
    };
    Some((implementation, (major, minor)))
}

/// The older names of three tags, from before the version stood in the name.
const OLD_NAMES: [(&str, LibcTag); 3] = [
    ("manylinux1_", LibcTag::Glibc(2, 5)),
    ("manylinux2010_", LibcTag::Glibc(2, 12)),
    ("manylinux2014_", LibcTag::Glibc(2, 17)),
];

fn platform_tag(tag: &str) -> Option<(LibcTag, &str)> {
    if let Some(found) = OLD_NAMES.iter().find_map(|(start, libc)| Some((*libc, tag.strip_prefix(start)?))) {
        return Some(found);
    }
    if let Some(machine) = tag.strip_prefix("linux_") {
        return Some((LibcTag::Any, machine));
    }
    let (rest, is_musl) = match (tag.strip_prefix("manylinux_"), tag.strip_prefix("musllinux_")) {
        (Some(rest), _) => (rest, false),
        (_, Some(rest)) => (rest, true),
        _ => return None,
    };
    let (major, rest) = rest.split_once('_')?;
    let (minor, machine) = rest.split_once('_')?;
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    Some((if is_musl { LibcTag::Musl(major, minor) } else { LibcTag::Glibc(major, minor) }, machine))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RELEASE: &str = "ptoas-0.61-cp310-cp310-manylinux_2_34_aarch64.whl";

    fn takes(name: &str, version: (u32, u32)) -> bool {
        WheelName::parse(name).unwrap().takes_python(version)
    }

    #[test]
    fn the_release_is_for_one_python_and_one_platform() {
        let name = WheelName::parse(RELEASE).unwrap();
        assert_eq!((name.distribution.as_str(), name.version.as_str()), ("ptoas", "0.61"));
        assert_eq!((name.exact_python(), name.wanted_python().as_str()), (Some((3, 10)), "CPython 3.10"));
        assert_eq!(name.platforms().collect::<Vec<_>>(), [Some((LibcTag::Glibc(2, 34), "aarch64"))]);
        assert_eq!(name.to_string(), RELEASE);
        assert!(!name.takes_python((3, 11)) && !name.is_universal());
    }

    #[test]
    fn tags_are_read_as_the_format_says() {
        assert!(takes("a-1-py3-none-any.whl", (3, 13)) && !takes("a-1-py2-none-any.whl", (3, 13)));
        assert!(takes("a-1-py2.py3-none-any.whl", (3, 6)));
        assert!(takes("a-1-cp38-abi3-linux_x86_64.whl", (3, 11)) && !takes("a-1-cp38-abi3-any.whl", (3, 7)));
        assert!(takes("a-1-7-cp310-cp310-any.whl", (3, 10)) && !takes("a-1-pp310-pypy310_pp73-any.whl", (3, 10)));
        let both = WheelName::parse("a-1-py3-none-manylinux2014_x86_64.musllinux_1_2_x86_64.macosx_11_0_arm64.whl");
        let both = both.unwrap();
        assert_eq!(both.exact_python(), None);
        assert_eq!(
            both.platforms().collect::<Vec<_>>(),
            [Some((LibcTag::Glibc(2, 17), "x86_64")), Some((LibcTag::Musl(1, 2), "x86_64")), None]
        );
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["ptoas-0.61.tar.gz", "ptoas.whl", "ptoas-0.61-x-y.whl", "a-b-c-d-e-f-g.whl", "ptoas--a-b-c.whl"] {
            assert_eq!(WheelName::parse(name), Err(NotAWheel), "{name}");
        }
        assert!(WheelName::parse("ptoas-0.61-../x-cp310-any.whl").is_err());
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_back(name in "[a-z_.0-9]{0,8}(-[a-z0-9_.+]{0,12}){3,5}\\.whl") {
            if let Ok(parsed) = WheelName::parse(&name) {
                let _ = (parsed.wanted_python(), parsed.exact_python(), parsed.platforms().count());
                let without_build: Vec<_> = name.split('-').collect();
                if without_build.len() == 5 {
                    prop_assert_eq!(parsed.to_string(), name);
                }
            }
        }
    }
}
