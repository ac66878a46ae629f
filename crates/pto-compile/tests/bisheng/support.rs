//! A CANN tree in a temporary directory whose `bisheng` records what it is asked and behaves like a compiler as far as
//! files go: it refuses an input or library that is not there, and writes its output.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pto_compile::bisheng::{BishengRequest, CompileOptions, HostProgramRequest, HostRuntime, KernelLibrary};
use pto_compile::plan::Plan;
use pto_context::Context;
use pto_platform::{Core, Target};
use tempfile::TempDir;

/// Records its arguments, each ended by NUL, in one file per call.
const STAND_IN: &str = r#"#!/bin/sh
record="$(dirname "$0")/../record"
call="$record/$(ls "$record" | wc -l)"
: > "$call"
for arg in "$@"; do printf '%s\0' "$arg" >> "$call"; done

fail() { echo "bisheng: error: $1" >&2; exit 1; }
out= expect= dirs= libs=
for arg in "$@"; do
    case "$expect$arg" in
        out:*) out="$arg" expect= ;;
        skip:*) expect= ;;
        -o) expect=out: ;;
        -include | -mllvm | -Xlinker) expect=skip: ;;
        -l*) libs="$libs
${arg#-l}" ;;
        -L*) dirs="$dirs
${arg#-L}" ;;
        -*) ;;
        *) [ -f "$arg" ] || fail "no such file or directory: '$arg'" ;;
    esac
done
IFS='
'
for lib in $libs; do
    case "$lib" in stdc++ | dl | m | pthread) continue ;; esac
    found=
    for dir in $dirs; do [ -f "$dir/lib$lib.so" ] && found=1; done
    [ "$found" ] || fail "cannot find -l$lib"
done
[ "$out" ] || fail "no output"
echo built > "$out"
"#;

pub(crate) struct FakeCann {
    tree: TempDir,
    /// The CANN root.
    pub(crate) cann: PathBuf,
}

impl FakeCann {
    /// A CANN below a directory of this name.
    pub(crate) fn below(name: &str) -> Self {
        let tree = TempDir::new().unwrap();
        let fake = Self { cann: tree.path().join(name).join("cann"), tree };
        for dir in ["bin", "record"] {
            fs_err::create_dir_all(fake.cann.join(dir)).unwrap();
        }
        for file in [
            "include/pto/pto-inst.hpp",
            "lib64/libascendcl.so",
            "lib64/libc_sec.so",
            "tools/simulator/Ascend950PR_9599/lib/libruntime_camodel.so",
        ] {
            touch(&fake.cann.join(file));
        }
        let bisheng = fake.cann.join("bin/bisheng");
        fs_err::write(&bisheng, STAND_IN).unwrap();
        fs_err::set_permissions(&bisheng, std::fs::Permissions::from_mode(0o755)).unwrap();
        fake
    }

    /// The real root, this CANN, and a working directory of the user that is the temporary one.
    pub(crate) fn context(&self) -> Context {
        Context::fake("/", [("ASCEND_HOME_PATH", self.cann.as_os_str()), ("PATH", "/usr/bin:/bin".as_ref())])
    }

    /// A source file of the user.
    pub(crate) fn source(&self, name: &str) -> PathBuf {
        let path = self.tree.path().join("sources of the user").join(name);
        touch(&path);
        path
    }

    /// Where outputs go.
    pub(crate) fn out_dir(&self) -> PathBuf {
        self.tree.path().join("out")
    }

    /// What the stand-in was asked, call by call.
    pub(crate) fn calls(&self) -> Vec<Vec<String>> {
        let record = self.cann.join("record");
        let count = fs_err::read_dir(&record).unwrap().count();
        let read = |call: usize| fs_err::read_to_string(record.join(call.to_string())).unwrap();
        (0..count).map(|call| read(call).split_terminator('\0').map(str::to_owned).collect()).collect()
    }
}

pub(crate) fn touch(path: &Path) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, "").unwrap();
}

/// A request with nothing but what is necessary.
pub(crate) fn request(target: Target, core: Core) -> BishengRequest {
    BishengRequest {
        target,
        core,
        name: "vec_add".to_owned(),
        sources: vec!["vec_add.cpp".into()],
        generated: Vec::new(),
        launcher: None,
        out_dir: "out".into(),
        options: CompileOptions::default(),
    }
}

/// A host program with nothing but what is necessary.
pub(crate) fn program(target: Target, runtime: HostRuntime) -> HostProgramRequest {
    HostProgramRequest {
        target,
        name: "run_vec_add".to_owned(),
        sources: vec!["main.cpp".into()],
        kernel: Some(KernelLibrary { dir: "out".into(), name: "vec_add".to_owned() }),
        runtime,
        out_dir: "out".into(),
        options: CompileOptions::default(),
    }
}

/// Purpose and one argument per line: what changes in a plan is one line of the snapshot.
pub(crate) fn lines(plan: &Plan) -> String {
    let mut text: String = plan.notes.iter().map(|note| format!("note: {note}\n")).collect();
    for step in &plan.steps {
        text += &format!("[{}]\n{}\n", step.purpose, step.program.display());
        text.extend(step.args.iter().map(|arg| format!("  {arg}\n")));
    }
    text
}

/// The arguments hold these words one after another, other words between them or not.
pub(crate) fn has_in_order(args: &[String], words: &[&str]) -> bool {
    let mut args = args.iter();
    words.iter().all(|word| args.any(|arg| arg == word))
}
