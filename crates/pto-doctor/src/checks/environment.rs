//! Variables that disagree with each other, or with the file system.

use std::path::{Path, PathBuf};

use pto_context::{Context, counted};
use pto_platform::docker::mask_proxy;

use super::{new, quoted_list};
use crate::check::{Check, Source};
use crate::files;
use crate::finding::Finding;
use crate::probes::Probes;

pub(super) const CHECKS: &[Check] = &[
    new(
        "ascend-variables",
        "Ascend variables",
        &[],
        "`ASCEND_HOME_PATH` and `ASCEND_TOOLKIT_HOME` name the CANN in use. `set_env.sh` sets both; when they differ, tools \
         take different releases. Sourced by `sh` instead of `bash` it leaves `.` in them. A directory that is not there is \
         left over from a release that was removed.",
        ascend_variables,
    ),
    new(
        "library-path",
        "LD_LIBRARY_PATH",
        &[],
        "An empty element means the working directory, so a library that lies there is loaded by chance. `devlib` holds stubs \
         to link against: a program that loads them has no NPU. CANN's `set_env.sh` appends it where it finds no driver.",
        library_path,
    ),
    new(
        "python-path",
        "PYTHONPATH",
        &[],
        "An empty element means the working directory, ahead of the standard library: `./pypto` or `./ptoas` of a checkout \
         is then imported instead of what is installed. CANN's `set_env.sh` leaves one at the end when `PYTHONPATH` was unset.",
        python_path,
    ),
    new(
        "locale",
        "locale",
        &[],
        "A locale that is not UTF-8 breaks Python scripts and messages with paths in other alphabets.",
        locale,
    ),
    new(
        "paths",
        "paths",
        &[],
        "Blanks and letters outside ASCII in the paths of tools. CANN's scripts do not quote, and some of its tools read bytes.",
        paths,
    ),
    new(
        "proxy",
        "proxy",
        &[Source::Docker],
        "Proxies of this process and of the docker daemon; they are set in different places, so one may work while the \
         other does not. User and password are never shown.",
        proxy,
    ),
];

fn ascend_variables(cx: &Context, _: &Probes) -> Finding {
    let named: Vec<(&str, PathBuf)> = ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"]
        .into_iter()
        .filter_map(|name| Some((name, cx.var_os(name)?.into())))
        .collect();
    if let Some((name, _)) = named.iter().find(|(_, path)| path == Path::new(".")) {
        return Finding::fail(format!("`{name}` is `.`: `set_env.sh` was sourced by a shell that is not bash"))
            .remedy("bash -c 'source /usr/local/Ascend/cann/set_env.sh && exec bash'");
    }
    if let Some((name, path)) = named.iter().find(|(_, path)| !files::is_dir(cx, path)) {
        return Finding::fail(format!("`{name}` is `{}`, which is not a directory", path.display()))
            .remedy(format!("unset {name}"));
    }
    let real = |path: &PathBuf| files::open_path(cx, path).canonicalize().ok();
    match &named[..] {
        [] => Finding::ok("not set"),
        [(name, path)] => Finding::ok(format!("{name}={}", path.display())),
        [(_, home), (_, toolkit), ..] if real(home) == real(toolkit) => {
            Finding::ok(format!("both name `{}`", home.display()))
        }
        [(_, home), (_, toolkit), ..] => Finding::warn(format!(
            "`ASCEND_HOME_PATH` is `{}`, `ASCEND_TOOLKIT_HOME` is `{}`; a build takes the first",
            home.display(),
            toolkit.display()
        ))
        .remedy("export ASCEND_TOOLKIT_HOME=\"$ASCEND_HOME_PATH\""),
    }
}

fn library_path(cx: &Context, _: &Probes) -> Finding {
    let Some(value) = cx.var("LD_LIBRARY_PATH") else { return Finding::ok("not set") };
    let elements: Vec<&str> = value.split(':').collect();
    let mut odd = Vec::new();
    if elements.iter().any(|element| element.is_empty()) {
        odd.push("an empty element, which means the working directory".to_owned());
    }
    let stubs: Vec<&&str> = elements.iter().filter(|element| element.split('/').any(|part| part == "devlib")).collect();
    if !stubs.is_empty() {
        odd.push(format!("stub libraries in {}", quoted_list(stubs)));
    }
    if odd.is_empty() {
        return Finding::ok(counted(elements.len(), "directory").to_string());
    }
    let kept: Vec<&str> = elements
        .into_iter()
        .filter(|element| !element.is_empty() && !element.split('/').any(|part| part == "devlib"))
        .collect();
    Finding::warn(format!("has {}", odd.join(" and "))).remedy(export("LD_LIBRARY_PATH", &kept))
}

fn python_path(cx: &Context, _: &Probes) -> Finding {
    let Some(value) = cx.var("PYTHONPATH") else { return Finding::ok("not set") };
    let kept: Vec<&str> = value.split(':').filter(|element| !element.is_empty()).collect();
    if kept.len() == value.split(':').count() {
        return Finding::ok(counted(kept.len(), "directory").to_string());
    }
    Finding::warn("has an empty element: modules in the working directory are imported first")
        .remedy(export("PYTHONPATH", &kept))
}

fn export(name: &str, elements: &[&str]) -> String {
    if elements.is_empty() { format!("unset {name}") } else { format!("export {name}='{}'", elements.join(":")) }
}

fn locale(cx: &Context, _: &Probes) -> Finding {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| Some((name, cx.var(name)?)));
    let Some((name, value)) = set else {
        return Finding::ok("not set; Python takes UTF-8");
    };
    let folded = value.to_ascii_lowercase();
    // Python takes UTF-8 for these as well (PEP 538 and 540).
    if folded.contains("utf-8") || folded.contains("utf8") || matches!(value.as_str(), "C" | "POSIX") {
        return Finding::ok(format!("{name}={value}"));
    }
    Finding::warn(format!("{name}={value} is not UTF-8")).remedy("export LC_ALL=C.UTF-8")
}

fn paths(cx: &Context, _: &Probes) -> Finding {
    const NAMES: [&str; 8] = [
        "ASCEND_HOME_PATH",
        "ASCEND_TOOLKIT_HOME",
        "PTO_LIB_PATH",
        "PTOAS_ROOT",
        "PTOKIT_HOME",
        "PYPTO_HOME",
        "PYPTO_SRC",
        "TMPDIR",
    ];
    let odd = |text: &str| !text.is_ascii() || text.contains(char::is_whitespace);
    let named = NAMES.into_iter().filter_map(|name| Some((name, cx.var_os(name)?.to_string_lossy().into_owned())));
    let working = ("the working directory", cx.cwd().display().to_string());
    let found: Vec<String> = named
        .chain([working])
        .filter(|(_, path)| odd(path))
        .map(|(name, path)| format!("{name} is `{path}`"))
        .collect();
    if found.is_empty() {
        return Finding::ok("no blanks, ASCII only");
    }
    Finding::warn(format!("blanks or letters outside ASCII: {}", found.join("; ")))
        .remedy("work below a directory with a plain name: CANN's scripts do not quote")
}

fn proxy(cx: &Context, probes: &Probes) -> Finding {
    const NAMES: [&str; 8] =
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"];
    let set: Vec<(&str, String)> =
        NAMES.into_iter().filter_map(|name| Some((name, mask_proxy(&cx.var(name)?)))).collect();
    let docker = probes.docker.stdout().map(pto_platform::docker::parse_docker_info).unwrap_or_default().proxies;
    let mut shown: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let daemon = [("http", docker.http), ("https", docker.https), ("no", docker.no_proxy)];
    shown.extend(
        daemon.into_iter().filter_map(|(name, value)| Some(format!("docker daemon {name}={}", mask_proxy(&value?)))),
    );
    if shown.is_empty() {
        return Finding::ok("none");
    }
    let differ = ["http_proxy", "https_proxy", "no_proxy"].into_iter().find(|name| {
        let (lower, upper) = (cx.var(name), cx.var(&name.to_ascii_uppercase()));
        lower.is_some() && upper.is_some() && lower != upper
    });
    match differ {
        Some(name) => {
            let upper = name.to_ascii_uppercase();
            Finding::warn(format!("`{name}` and `{upper}` differ: {}", shown.join(", ")))
                .remedy(format!("export {upper}=\"${name}\""))
        }
        None => Finding::ok(shown.join(", ")),
    }
}
