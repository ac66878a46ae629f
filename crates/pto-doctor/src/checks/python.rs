//! Python, and where it takes modules from.

use std::path::Path;

use pto_context::Context;
use pto_platform::Version;

use super::{new, sentence};
use crate::check::{Check, Source};
use crate::facts;
use crate::files;
use crate::finding::Finding;
use crate::probes::Probes;
use crate::python::{ModuleOrigin, PythonFacts, facts as python_facts};
use pto_devices::Answer;

/// PyPTO's wheels and PTOAS are built for this one.
const PYPTO_PYTHON: &str = "3.10";

pub(super) const CHECKS: &[Check] = &[
    new(
        "python",
        "python",
        &[Source::Python],
        "The `python3` on `PATH`. PyPTO, simpler and PTOAS are built for CPython 3.10; another version cannot load their \
         extensions. Kernels on the CPU need no Python.",
        python,
    ),
    sentence(new(
        "import-pypto",
        "import pypto",
        &[Source::Python],
        "The file that `import pypto` would take, in a script that lies elsewhere. One below the working directory, when \
         PyPTO is installed elsewhere, comes from an empty element of `PYTHONPATH`. Where there is a checkout it has to be \
         the one in `python/pypto`, into which the extension is built; with `--strict` another one fails.",
        |cx, probes| import(cx, probes, "pypto"),
    )),
    sentence(new(
        "import-simpler",
        "import simpler",
        &[Source::Python],
        "The file that `import simpler`, PyPTO's runtime, would take. Whether it fits the checkout is for \
         `simpler-binding` to say.",
        |cx, probes| import(cx, probes, "simpler"),
    )),
    sentence(new(
        "import-ptoas",
        "import ptoas",
        &[Source::Python],
        "The file that `import ptoas` would take. CANN has a package of the same name, and its `set_env.sh` puts it first.",
        |cx, probes| import(cx, probes, "ptoas"),
    )),
];

/// What Python said, or why nothing is known.
fn asked(probes: &Probes) -> Result<PythonFacts, Finding> {
    match &probes.python {
        Answer::NotAsked => Err(Finding::skip("was not asked")),
        Answer::NotFound => Err(Finding::skip("no `python3` on `PATH`; only PyPTO needs it")),
        Answer::Broken(why) => Err(Finding::warn(why.clone())),
        Answer::Said(said) => python_facts(&said.stdout)
            .ok_or_else(|| Finding::warn(format!("`python3` {} and said `{}`", said.status, said.last_words()))),
    }
}

fn python(cx: &Context, probes: &Probes) -> Finding {
    let facts = match asked(probes) {
        Ok(facts) => facts,
        Err(finding) => return finding,
    };
    let shown = format!("{} {} in `{}`", facts.implementation, facts.version, facts.executable);
    let wanted = Version::parse(PYPTO_PYTHON);
    let fits = Version::parse(&facts.version).zip(wanted).is_some_and(|(found, wanted)| found.begins_with(&wanted));
    let has_checkout = facts::pypto_src(cx).is_some();
    if facts.implementation == "CPython" && (fits || !has_checkout) {
        return Finding::ok(shown);
    }
    Finding::warn(format!("{shown}; PyPTO's extensions are built for CPython {PYPTO_PYTHON}"))
        .remedy("uv venv --python 3.10 && source .venv/bin/activate")
}

fn import(cx: &Context, probes: &Probes, name: &str) -> Finding {
    let facts = match asked(probes) {
        Ok(facts) => facts,
        Err(finding) => return finding,
    };
    match facts.modules.get(name).cloned().flatten() {
        None => Finding::skip("-> not installed"),
        Some(ModuleOrigin::Broken { error }) => Finding::fail(format!("-> {error}")),
        Some(ModuleOrigin::Found { namespace: true, places, .. }) => {
            Finding::warn(format!("-> `{}`, a directory without `__init__.py`", places.join("`, `")))
                .remedy("run from another directory, or remove the empty element of PYTHONPATH")
        }
        Some(ModuleOrigin::Found { origin, .. }) => {
            let origin = origin.unwrap_or_default();
            if is_shadow(&origin, &facts.cwd, name) {
                return Finding::warn(format!("-> {origin}, which is in the working directory"))
                    .remedy("cd elsewhere, or remove the empty element of PYTHONPATH");
            }
            match (name, facts::pypto_src(cx)) {
                ("pypto", Some(src)) => of_checkout(cx, &origin, &src),
                _ => Finding::ok(format!("-> {origin}")),
            }
        }
    }
}

/// The extension is built into the checkout, so the package is the one there; another one has another extension.
fn of_checkout(cx: &Context, origin: &str, src: &Path) -> Finding {
    let expected = src.join("python/pypto/__init__.py");
    let real = |path: &Path| files::open_path(cx, path).canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if real(Path::new(origin)) == real(&expected) {
        return Finding::ok(format!("-> {origin}"));
    }
    Finding::warn(format!("-> {origin}, and not `{}` of the checkout", expected.display()))
        .remedy("source \"$PYPTO_HOME/bin/pypto-activate.sh\"")
        .unverified()
}

/// Whether a module lies directly in the working directory: nothing is installed there.
fn is_shadow(origin: &str, cwd: &str, name: &str) -> bool {
    let origin = Path::new(origin);
    origin == Path::new(cwd).join(name).join("__init__.py") || origin == Path::new(cwd).join(format!("{name}.py"))
}
