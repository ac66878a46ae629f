//! A checkout that asks for two small packages, a place to get them from without a network, and a home.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use pto_build::{Error, Helpers, Setup, SetupOptions, VenvStep, plan_setup, setup};
use pto_context::{Context, Recorder};
use pto_process::{Invocation, Output};

/// Writes wheels into a directory: names and versions.
const WHEELS: &str = r#"
import base64, hashlib, sys, zipfile
for name, version in zip(sys.argv[2::2], sys.argv[3::2]):
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"version = '{version}'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    def line(path, text):
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        return f"{path},sha256={digest},{len(text)}\n"
    record = "".join(line(*file) for file in files.items()) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(f"{sys.argv[1]}/{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in [*files.items(), (f"{info}/RECORD", record)]:
            wheel.writestr(path, text)
"#;

/// The version of Python that the tests make environments of: 3.10 where it is, as in the images.
pub(crate) static PYTHON: LazyLock<Option<String>> = LazyLock::new(|| {
    let versions = ["3.10", "3.11", "3.12", "3.13"];
    let found = versions.into_iter().find(|version| {
        let world = World::bare();
        world.write("src/.python-version", version);
        let planned = world.plan(&world.options());
        matches!(planned.map(|planned| planned.plan.venv), Ok(Some(VenvStep::Build { with: Some(_), .. })))
    });
    found.map(str::to_owned)
});

pub(crate) struct World {
    dir: tempfile::TempDir,
    pub(crate) events: Arc<Recorder>,
    pub(crate) vars: Vec<(&'static str, String)>,
}

impl World {
    /// `None`, said on stderr, where there is no Python to build with or no `uv`.
    #[track_caller]
    pub(crate) fn new() -> Option<Self> {
        let Some(python) = PYTHON.as_deref() else {
            pto_test::skip("no CPython with headers and a library is here: apt install python3-dev");
            return None;
        };
        let world = Self::bare();
        world.write("src/.python-version", python);
        let Some(pto_build::UvStep::Copy { .. }) = world.plan(&world.options()).unwrap().plan.uv else {
            pto_test::skip("no `uv` is here: pip install uv");
            return None;
        };
        Some(world)
    }

    /// A checkout that says nothing of the version of Python.
    pub(crate) fn bare() -> Self {
        let dir = tempfile::Builder::new().prefix("pypto home's ").tempdir().unwrap();
        // Others have to reach what is theirs below it.
        fs_err::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let world = Self { dir, events: Arc::default(), vars: Vec::new() };
        world.write("src/toolchain/versions.env", "PTOAS_VERSION=v0.61\n");
        world.write(
            "src/pyproject.toml",
            "[build-system]\nrequires = [\"tiny>=1.0\"]\n[project]\nname = \"x\"\nrequires-python = \">=3.10\"\n",
        );
        world.write("src/runtime/pyproject.toml", "[project]\nname = \"y\"\ndependencies = [\"small\"]\n");
        world.write("src/build-constraints.txt", "tiny==1.0\n");
        world.program("program", "printf 'export SOURCED=\"%s\"\\n' \"$*\"\n");
        fs_err::create_dir(world.path("wheels")).unwrap();
        let python = Invocation::new("python3").args(["-I", "-S", "-c", WHEELS]).arg(world.path("wheels"));
        let python = python.args(["tiny", "1.0", "tiny", "1.1", "small", "2.0", "own", "3.0"]);
        python.run(&pto_test::machine()).unwrap().require_success().unwrap();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn venv(&self) -> PathBuf {
        self.path("home/venv")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// An executable shell script.
    pub(crate) fn program(&self, name: &str, script: &str) {
        self.write(name, &format!("#!/bin/sh\n{script}"));
        fs_err::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn cx(&self) -> Context {
        let fixed = [
            ("PIP_NO_INDEX", "1".to_owned()),
            ("PIP_FIND_LINKS", format!("file://{}", self.path("wheels").display()).replace(' ', "%20")),
            ("UV_OFFLINE", "1".to_owned()),
            ("UV_CACHE_DIR", self.path("cache").display().to_string()),
        ];
        let vars = fixed.into_iter().chain(self.vars.clone());
        vars.fold(pto_test::machine(), |cx, (name, value)| cx.with_var(name, value)).with_events(self.events.clone())
    }

    pub(crate) fn options(&self) -> SetupOptions {
        SetupOptions {
            home: Some(self.home()),
            src: Some(self.path("src")),
            helpers: Helpers {
                program: self.path("program"),
                names: ["pypto-setup", "pypto-doctor"].map(str::to_owned).to_vec(),
            },
            ..SetupOptions::default()
        }
    }

    pub(crate) fn plan(&self, options: &SetupOptions) -> Result<Setup, Error> {
        plan_setup(&self.cx(), options)
    }

    pub(crate) fn setup(&self) -> Result<Setup, Error> {
        setup(&self.cx(), &self.options())
    }

    /// What a program of the environment prints.
    pub(crate) fn python(&self, program: &str) -> Output {
        let python = Invocation::new(self.venv().join("bin/python")).args(["-B", "-c", program]);
        python.run(&pto_test::machine()).unwrap()
    }

    /// The versions of both packages, if the environment works.
    pub(crate) fn versions(&self) -> Option<String> {
        let output = self.python("import tiny, small; print(tiny.version, small.version)");
        output.success().then(|| output.stdout.text().trim().to_owned())
    }

    /// The example program, which does the same in a process of its own.
    pub(crate) fn example(&self) -> Invocation {
        let tests = std::env::current_exe().unwrap();
        let example = tests.ancestors().nth(2).unwrap().join("examples/setup");
        assert!(example.exists(), "`{}` is missing: cargo build -p pto-build --examples", example.display());
        Invocation::new(example).arg(self.home()).arg(self.path("src"))
    }

    /// That nothing lies about that only a run needs.
    #[track_caller]
    pub(crate) fn assert_tidy(&self) {
        let names = |dir: &Path| -> Vec<String> {
            let listing = fs_err::read_dir(dir).into_iter().flatten();
            let mut names: Vec<_> = listing.map(|item| item.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let mut home = names(&self.home());
        let is_replaced = home.iter().any(|name| name == "venv.previous");
        home.retain(|name| !["users", "cache", "venv.previous"].contains(&name.as_str()));
        assert_eq!(home, [".venv.d", "bin", "toolchain", "venv"]);
        assert_eq!(names(&self.path("home/.venv.d")).len(), 1 + usize::from(is_replaced));
        assert!(names(&self.path("home/bin")).iter().all(|name| !name.starts_with('.')));
    }
}
