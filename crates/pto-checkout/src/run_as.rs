//! Commands that write sources, as the user who owns them.

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_context::places::pypto_home;
use pto_process::Invocation;

use crate::error::Error;
use crate::owner::Owner;

/// Whose rights a command has.
///
/// Root acts as the owner of the checkout, so that what it writes there stays the owner's; nothing changes hands
/// afterwards. The owner gets a `HOME` and a compiler cache of its own below `PYPTO_HOME`, as root's are closed to it and
/// must not be read on its behalf. Everybody else acts as themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunAs(Option<Other>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Other {
    owner: Owner,
    home: PathBuf,
    ccache: PathBuf,
    /// For files that nobody keeps.
    temp: PathBuf,
    /// Of [`OF_THE_CALLER`], those that are set, and what leads to a directory for such files that is the caller's alone.
    forgotten: Vec<&'static str>,
}

/// What leads past `HOME` to directories of the caller's.
const OF_THE_CALLER: [&str; 4] = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "UV_CACHE_DIR"];
const TEMP: &str = "TMPDIR";
/// Everybody's.
const SHARED_TEMP: &str = "/tmp";

impl RunAs {
    /// As this process.
    pub fn caller() -> Self {
        Self(None)
    }

    /// As an owner, if this process may become another user and has to.
    pub fn owner(cx: &Context, owner: Owner) -> Self {
        if owner.is_root() || !Owner::of_this_process().is_root() {
            return Self::caller();
        }
        let (home, uid) = (pypto_home(cx), owner.uid.to_string());
        let is_shared = owner.can_write_in(&cx.temp_dir());
        let is_set = |name: &&str| cx.var_os(name).is_some();
        let unusable = (!is_shared).then_some(TEMP);
        Self(Some(Other {
            owner,
            ccache: home.join("cache/ccache").join(&uid),
            home: home.join("users").join(&uid),
            temp: if is_shared { cx.temp_dir() } else { SHARED_TEMP.into() },
            forgotten: OF_THE_CALLER.into_iter().chain(unusable).filter(is_set).collect(),
        }))
    }

    /// Whose files a command would write.
    pub fn user(&self) -> Owner {
        self.0.as_ref().map_or_else(Owner::of_this_process, |other| other.owner)
    }

    /// Whether that is another user than this process's.
    pub fn is_other(&self) -> bool {
        self.0.is_some()
    }

    /// Where files are that nobody keeps and these commands use.
    pub fn temp_dir(&self, cx: &Context) -> PathBuf {
        self.0.as_ref().map_or_else(|| cx.temp_dir(), |other| other.temp.clone())
    }

    /// A command, to be given its arguments.
    pub fn command(&self, program: impl Into<OsString>) -> Invocation {
        let Some(Other { owner, home, ccache, forgotten, .. }) = &self.0 else { return Invocation::new(program) };
        // The kernel forgets whom to end with its parent when a process changes its user, so that is said again.
        let command = Invocation::new("setpriv")
            .args([format!("--reuid={}", owner.uid), format!("--regid={}", owner.gid)])
            .args(["--clear-groups", "--pdeathsig=KILL", "--"])
            .arg(program)
            .env("HOME", home)
            .env("CCACHE_DIR", ccache);
        forgotten.iter().fold(command, |command, name| command.env_remove(*name))
    }

    /// Makes the directories that the other user needs, where they are missing. One that is there is left as it is.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn prepare(&self) -> Result<(), Error> {
        let Some(Other { owner, home, ccache, .. }) = &self.0 else { return Ok(()) };
        [home, ccache].into_iter().try_for_each(|dir| make_for(*owner, dir))
    }
}

/// A directory for one user alone, who has it from its first moment under this name: it is made beside its place.
fn make_for(owner: Owner, dir: &Path) -> Result<(), Error> {
    let failed = Error::io("cannot make a directory for the owner of the checkout");
    if dir.is_dir() {
        return Ok(());
    }
    let parent = dir.parent().unwrap_or(Path::new("/"));
    fs_err::create_dir_all(parent).map_err(&failed)?;
    // Its user has to get to it, whatever the umask of whoever makes it.
    fs_err::set_permissions(parent, std::fs::Permissions::from_mode(0o755)).map_err(&failed)?;
    let draft = parent.join(format!(".new-{}-{}", owner.uid, std::process::id()));
    std::fs::DirBuilder::new().mode(0o700).create(&draft).map_err(&failed)?;
    std::os::unix::fs::chown(&draft, Some(owner.uid), Some(owner.gid)).map_err(&failed)?;
    match fs_err::rename(&draft, dir) {
        // Another process was faster: its directory is as good.
        Err(_) if dir.is_dir() => fs_err::remove_dir(&draft).map_err(&failed),
        renamed => renamed.map_err(&failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_becomes_the_owner_and_nobody_else_does() {
        let cx = Context::fake("/", [("PYPTO_HOME", "/h"), ("XDG_CACHE_HOME", "/root/.cache")]);
        let line = |owner: Owner| RunAs::owner(&cx, owner).command("git").arg("fetch").to_shell_line();
        let other = line(Owner { uid: 4711, gid: 4712 });
        if Owner::of_this_process().is_root() {
            let expected = "env -u XDG_CACHE_HOME CCACHE_DIR=/h/cache/ccache/4711 HOME=/h/users/4711 \
                            setpriv '--reuid=4711' '--regid=4712' --clear-groups '--pdeathsig=KILL' -- git fetch";
            assert_eq!(other, expected);
        } else {
            assert_eq!(other, "git fetch");
        }
        assert_eq!(line(Owner { uid: 0, gid: 0 }), "git fetch");
    }
}
