//! What the verbs of images share: the configuration, the registry, the records.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use pto_context::{Context, counted, with_causes};
use pto_images::config::{Config, FILE, Image, RecipeSource, Severity};
use pto_images::promote::{Records, Upstream};
use pto_images::registry::{BadRepository, Credentials, Options, PlainHttp, Repository};
use pto_images::{Fault, PROXY_VARIABLE};
use pto_process::shell_word;
use pto_store::Store;

use crate::exit::Failure;
use crate::setup::{generated_dir, workspace_root};

/// Which image.
#[derive(Debug, Clone, clap::Args)]
pub struct ImageArgs {
    /// The image's name in the configuration
    #[arg(value_name = "IMAGE")]
    image: String,
    /// Where that is.
    #[command(flatten)]
    pub file: FileArgs,
}

/// Which configuration.
#[derive(Debug, Clone, clap::Args)]
pub struct FileArgs {
    /// The configuration [default: docker/images.json of the checkout]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Which repository, and the login there.
#[derive(Debug, Clone, clap::Args)]
pub struct RegistryArgs {
    /// The repository, instead of the configuration's
    #[arg(long, value_name = "HOST/PATH")]
    // Parsed later: clap would repeat a malformed value, and with it a password that must not be there.
    repository: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
}

/// The login at a registry.
#[derive(Debug, Clone, clap::Args)]
pub struct AccessArgs {
    /// The user's name; without it the first line of standard input is the name
    #[arg(long, value_name = "NAME", requires = "password_stdin")]
    username: Option<String>,
    /// Read the password from standard input, where it is the last line
    #[arg(long)]
    password_stdin: bool,
    /// Talk to a registry on another machine without TLS
    #[arg(long)]
    plain_http: bool,
}

/// Who reads what is published.
#[derive(Debug, Clone, clap::Args)]
pub struct ReaderArgs {
    /// Only users with a login read there: look at what was published with this one, not as anybody
    #[arg(long)]
    private: bool,
}

/// Where the steps are recorded.
#[derive(Debug, Clone, clap::Args)]
pub struct RecordArgs {
    /// The directory of records and manifests, to be kept [default: in $XDG_STATE_HOME/ptokit/images]
    #[arg(long, value_name = "DIR")]
    records: Option<PathBuf>,
}

impl FileArgs {
    /// As it was typed.
    pub fn typed(&self) -> String {
        self.config
            .as_ref()
            .map(|file| format!(" --config {}", shell_word(&file.to_string_lossy())))
            .unwrap_or_default()
    }

    /// The file: the one that was named, else that of the checkout around the working directory, else that of the workspace which
    /// this program was built in.
    pub fn file(&self, cx: &Context) -> PathBuf {
        self.file_of(cx, cx.cwd())
    }

    /// The same for the checkout around a directory.
    pub fn file_of(&self, cx: &Context, dir: &Path) -> PathBuf {
        let root = dir.ancestors().find(|dir| dir.join(".git").exists());
        let own = root.map(|root| root.join(FILE)).filter(|file| file.is_file());
        let usual = || crate::setup::shown(cx, &own.unwrap_or_else(|| workspace_root(cx).join(FILE)));
        self.config.clone().unwrap_or_else(usual)
    }

    /// The configuration.
    ///
    /// # Errors
    /// It is malformed.
    pub fn load(&self, cx: &Context) -> Result<Config, Failure> {
        self.load_of(cx, cx.cwd())
    }

    /// The same for the checkout around a directory.
    ///
    /// # Errors
    /// It is malformed.
    pub fn load_of(&self, cx: &Context, dir: &Path) -> Result<Config, Failure> {
        let loaded = Config::load(&self.file_of(cx, dir));
        let (config, _) = loaded.map_err(|mut findings| {
            findings.findings.retain(|finding| finding.severity == Severity::Error);
            let mistakes: Vec<_> = findings.findings.iter().map(|finding| finding.text(&findings.file)).collect();
            Failure::usage(mistakes.join("\n"), "`cargo xtask images validate` shows all of it".to_owned())
        })?;
        Ok(config)
    }
}

impl ImageArgs {
    /// The name, which no configuration need have.
    pub fn name(&self) -> &str {
        &self.image
    }

    /// The configuration and the image.
    ///
    /// # Errors
    /// The configuration is malformed, or has no such image.
    pub fn load(&self, cx: &Context) -> Result<(Config, Image), Failure> {
        let config = self.file.load(cx)?;
        let image = find_image(&config, &self.image)?.clone();
        Ok((config, image))
    }

    /// The same for one that is built.
    ///
    /// # Errors
    /// As [`load`](Self::load), or it is not enabled.
    pub fn load_enabled(&self, cx: &Context) -> Result<(Config, Image), Failure> {
        let (config, image) = self.load(cx)?;
        if image.enabled {
            return Ok((config, image));
        }
        let needs = image.needs.join("; ");
        Err(Failure::usage(format!("`{}` is not enabled", image.name), format!("it still needs: {needs}")))
    }
}

/// An image of the configuration.
///
/// # Errors
/// There is none of that name.
pub fn find_image<'a>(config: &'a Config, name: &str) -> Result<&'a Image, Failure> {
    let names = || config.images.iter().map(|image| format!("`{}`", image.name)).collect::<Vec<_>>().join(", ");
    let missing = || Failure::usage(format!("there is no image `{name}`"), format!("the images are {}", names()));
    config.image(name).ok_or_else(missing)
}

impl RegistryArgs {
    /// Where it is published.
    ///
    /// # Errors
    /// What was given is not a repository.
    pub fn repository(&self, config: &Config) -> Result<Repository, Failure> {
        let Some(given) = &self.repository else { return Ok(config.repository.clone()) };
        given.parse().map_err(|error: BadRepository| Failure::usage(error.to_string(), None))
    }

    /// How the registry is talked to. Reads the password.
    ///
    /// # Errors
    /// Standard input has none.
    pub fn options(&self) -> Result<Options, Failure> {
        self.access.options()
    }

    /// The same for who reads what is published.
    ///
    /// # Errors
    /// As [`options`](Self::options).
    pub fn options_for(&self, readers: &ReaderArgs) -> Result<Options, Failure> {
        Ok(Options { private: readers.private, ..self.options()? })
    }
}

impl AccessArgs {
    /// How the registry is talked to. Reads the password.
    ///
    /// # Errors
    /// Standard input has none.
    pub fn options(&self) -> Result<Options, Failure> {
        let plain_http = if self.plain_http { PlainHttp::Anywhere } else { PlainHttp::Loopback };
        let credentials = if self.password_stdin { Some(self.credentials()?) } else { None };
        Ok(Options { credentials, plain_http, ..Options::default() })
    }

    fn credentials(&self) -> Result<Credentials, Failure> {
        let mut bytes = Vec::new();
        std::io::stdin().take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| Failure::io(&error))?;
        let expected = if self.username.is_some() { "one line, the password" } else { "two lines, name and password" };
        let refused = |found| Failure::usage(format!("standard input holds {found}, expected {expected}"), None);
        parse(&bytes, self.username.as_deref()).map_err(refused)
    }
}

/// More than any password or token has, and less than most files that are given by mistake.
const LONGEST: u64 = 64 << 10;

/// The name, if it was not given, and the password, a line each; else what was found, which may be a secret and is not repeated.
fn parse(bytes: &[u8], username: Option<&str>) -> Result<Credentials, String> {
    if bytes.len() as u64 > LONGEST {
        return Err(format!("more than {LONGEST} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "text that is not UTF-8".to_owned())?;
    if text.starts_with('\u{feff}') {
        return Err("a byte order mark".to_owned());
    }
    let lines: Vec<&str> = text.lines().collect();
    let (user, password) = match (username, lines.as_slice()) {
        (Some(user), [password]) => (user, *password),
        (None, [user, password]) => (*user, *password),
        (_, []) => return Err("nothing".to_owned()),
        (_, lines) => return Err(counted(lines.len(), "line").to_string()),
    };
    if user.is_empty() || password.is_empty() {
        return Err("an empty line".to_owned());
    }
    // Docker's client takes them away, and a registry would be told two passwords.
    if password.trim() != password {
        return Err("blanks around the password".to_owned());
    }
    Ok(Credentials { user: user.to_owned(), password: password.to_owned() })
}

/// The two kinds of records of an image, each with a directory of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A publication.
    Publication,
    /// A rollback.
    Rollback,
}

impl RecordArgs {
    /// The directory, with records of this image in this repository.
    ///
    /// # Errors
    /// None was named, and there is no home directory.
    pub fn records(
        &self,
        cx: &Context,
        kept: Kept,
        image: &Image,
        repository: &Repository,
    ) -> Result<Records, Failure> {
        let dir = match &self.records {
            Some(named) => named.clone(),
            None => usual_records(cx, kept, image, repository)?,
        };
        Ok(Records::in_dir(dir).about(&image.name, repository, &image.names()))
    }

    /// The records that were named, or all that exist in the usual places.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn existing(&self, cx: &Context, image: &Image, repository: &Repository) -> Result<Vec<Records>, Failure> {
        let places = match (self.named(), usual_records(cx, Kept::Publication, image, repository)) {
            (Some(_), _) => vec![Kept::Publication],
            (None, Ok(_)) => vec![Kept::Publication, Kept::Rollback],
            // Without a home there are none.
            (None, Err(_)) => Vec::new(),
        };
        let mut existing = Vec::new();
        for kept in places {
            let records = self.records(cx, kept, image, repository)?;
            if records.last()?.is_some_and(|record| record.tag == image.tag) {
                existing.push(records);
            }
        }
        Ok(existing)
    }

    /// The usual records of a publication, for a rollback; `None` if `--records` names those of the rollback.
    ///
    /// # Errors
    /// There is no home directory.
    pub fn publication(
        &self,
        cx: &Context,
        image: &Image,
        repository: &Repository,
    ) -> Result<Option<Records>, Failure> {
        let usual = || self.records(cx, Kept::Publication, image, repository);
        self.records.is_none().then(usual).transpose()
    }

    /// The directory, if one was named.
    pub fn named(&self) -> Option<&Path> {
        self.records.as_deref()
    }

    /// As it was typed.
    fn typed(&self) -> Option<String> {
        self.records.as_ref().map(|dir| format!(" --records {}", shell_word(&dir.to_string_lossy())))
    }
}

/// Where records are kept unless a directory is named: not among the generated files of a workspace, which may be deleted at any
/// time.
fn usual_records(cx: &Context, kept: Kept, image: &Image, repository: &Repository) -> Result<PathBuf, Failure> {
    let xdg = cx.var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let state = xdg.or_else(|| cx.var_os("HOME").map(|home| PathBuf::from(home).join(".local/state")));
    let state = state.ok_or_else(|| {
        Failure::blocked("there is no place for records: `HOME` is not set", "name one: `--records DIR`".to_owned())
    })?;
    let what = match kept {
        Kept::Publication => "publication",
        Kept::Rollback => "rollback",
    };
    // No name of a repository has a plus.
    let repository = repository.to_string().replace('/', "+");
    Ok(state.join("ptokit/images").join(repository).join(&image.name).join(what))
}

/// The options that were typed to say where an image is, for a command that continues.
pub fn typed(file: &FileArgs, registry: &RegistryArgs, records: &RecordArgs) -> String {
    let password = registry.access.password_stdin.then(|| " --password-stdin".to_owned());
    let repository = registry.repository.as_ref().map(|repository| format!(" --repository {}", shell_word(repository)));
    let user = registry.access.username.as_ref().map(|user| format!(" --username {}", shell_word(user)));
    let plain = registry.access.plain_http.then(|| " --plain-http".to_owned());
    file.typed() + &[repository, plain, user, records.typed(), password].into_iter().flatten().collect::<String>()
}

/// An error with the image, and what was typed to say where it is, in the commands of its hint.
pub fn named(error: pto_images::Error, image: &str, typed: &str) -> Failure {
    Failure::from(error).naming("IMAGE", &format!("{image}{typed}"))
}

/// An error of a promotion, with the command that goes on where it was begun: the same one again would be refused.
pub fn going_on(error: pto_images::Error, records: &Records, image: &str, typed: &str) -> Failure {
    let is_accident = matches!(error.fault(), Fault::Machine | Fault::Interrupt)
        || matches!(error, pto_images::Error::NotKept { .. } | pto_images::Error::Contradiction { .. });
    let record = records.load().ok().flatten().filter(|_| is_accident);
    let failure = named(error, image, typed);
    match record.filter(|record| record.before.is_some() && !record.is_over()) {
        Some(record) => {
            let undo = if record.outcome().is_some() { "" } else { ", and with `--undo` takes it back" };
            failure.advise(&format!(
                "the promotion was begun: `cargo xtask images promote {image} --resume{typed}` goes on{undo}"
            ))
        }
        None => failure,
    }
}

/// Where the validation of an image writes unless a directory is named.
pub fn validation_dir(cx: &Context, image: &Image) -> PathBuf {
    generated_dir(cx).join("images").join(format!("{}-validation", image.name))
}

/// Locks that all processes of this machine share.
pub fn locks(cx: &Context) -> Result<PathBuf, Failure> {
    let root = Store::default_root(cx).map_err(|error| Failure::blocked(with_causes(&error), error.hint()))?;
    Ok(root.join("images"))
}

/// Where the newest recipe is, and the proxy for asking.
pub fn upstream(cx: &Context, config: &Config) -> Upstream {
    let RecipeSource { repository, branch } = config.recipe.clone();
    Upstream { repository, branch, proxy: proxy(cx) }
}

/// The proxy for git, and for the registries of bases.
pub fn proxy(cx: &Context) -> Option<String> {
    cx.var(PROXY_VARIABLE)
}

/// The number of a run. Anything but a number could make a tag that belongs to something else.
pub fn number(text: &str) -> Result<String, String> {
    let is_number = !text.is_empty() && text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok(text.to_owned()) } else { Err("expected a number of up to 20 digits".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_one_line_each() {
        let found = |bytes: &[u8], username| match parse(bytes, username) {
            Ok(Credentials { user, password }) => format!("{user}|{password}"),
            Err(found) => found,
        };
        let too_long = vec![b'x'; LONGEST as usize + 1];
        for (bytes, username, expected) in [
            (&b"p\n"[..], Some("u"), "u|p"),
            (b"p", Some("u"), "u|p"),
            (b"u\r\np\r\n", None, "u|p"),
            ("p :\"'$\u{e4}".as_bytes(), Some("u"), "u|p :\"'$\u{e4}"),
            (b" p", Some("u"), "blanks around the password"),
            ("\u{feff}p".as_bytes(), Some("u"), "a byte order mark"),
            (b"", Some("u"), "nothing"),
            (b"\n", Some("u"), "an empty line"),
            (b"\np", None, "an empty line"),
            (b"p", None, "1 line"),
            (b"u\np", Some("u"), "2 lines"),
            (b"u\np\nq\n", None, "3 lines"),
            (b"\xff\xfe", Some("u"), "text that is not UTF-8"),
            (&too_long, Some("u"), "more than 65536 bytes"),
        ] {
            assert_eq!(found(bytes, username), expected);
        }
    }
}
