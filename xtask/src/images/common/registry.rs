//! Which repository of a registry, and the login there.

use std::io::Read as _;

use pto_context::counted;
use pto_images::config::Config;
use pto_images::registry::{BadRepository, Credentials, Options, PlainHttp, Repository};
use pto_process::shell_word;

use crate::exit::Failure;

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

    /// As it was typed.
    pub fn typed(&self) -> String {
        let AccessArgs { username, password_stdin, plain_http } = &self.access;
        let repository = self.repository.as_ref().map(|repository| format!(" --repository {}", shell_word(repository)));
        let user = username.as_ref().map(|user| format!(" --username {}", shell_word(user)));
        let plain = plain_http.then(|| " --plain-http".to_owned());
        let password = password_stdin.then(|| " --password-stdin".to_owned());
        [repository, plain, user, password].into_iter().flatten().collect()
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
