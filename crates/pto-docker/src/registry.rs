//! What is asked of a registry: with credentials of its own, and directly.

use std::ffi::OsString;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pto_process::{Invocation, Stdin};

use crate::docker::Docker;
use crate::error::Error;
use crate::private::PrivateDirectory;
use crate::proxies::Proxies;

/// Who we are to a registry. `Debug` shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user.
    pub user: String,
    /// The password or token.
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A client with a configuration directory of its own: logins of the user are not seen, and ours is gone with the value.
/// Its commands have no proxy, and every secret it has learnt is masked in what they show.
pub struct RegistryClient {
    docker: Docker,
    secrets: Vec<String>,
    // Last, as fields are dropped in order.
    config: PrivateDirectory,
}

impl RegistryClient {
    /// A client that is logged in nowhere: an anonymous one.
    ///
    /// # Errors
    /// No private directory can be made, or the engine's address cannot be found out.
    pub fn new(docker: &Docker) -> Result<Self, Error> {
        let config = PrivateDirectory::new(docker.cx())?;
        let docker = docker.with_config(config.path().to_owned(), engine(docker)?);
        Ok(Self { docker, secrets: Vec::new(), config })
    }

    /// The client below, for facts about images.
    pub fn docker(&self) -> &Docker {
        &self.docker
    }

    /// The configuration directory, for other programs that read the same file: `config.json`.
    pub fn config(&self) -> &std::path::Path {
        self.config.path()
    }

    /// `docker` with these arguments, without proxies, and with every secret masked.
    pub fn command(&self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Invocation {
        let command = Proxies::take_away(self.docker.command(args));
        self.secrets.iter().fold(command, |all, secret| all.secret(secret))
    }

    /// Logs in; the password goes to the client's standard input.
    ///
    /// # Errors
    /// The registry cannot be reached, or refuses.
    pub fn login(&mut self, registry: &str, credentials: &Credentials) -> Result<(), Error> {
        self.secrets.extend(credentials.secrets());
        let full = |said: &str| said.contains(&*self.config.path().to_string_lossy());
        match self.docker.run(&self.login_command(registry, credentials), registry) {
            // The client writes the login down, and says of its own disk what an engine says of its.
            Err(Error::DiskFull { said }) if full(&said) => Err(Error::Private {
                path: self.config.path().to_owned(),
                source: std::io::ErrorKind::StorageFull.into(),
            }),
            login => login.map(drop),
        }
    }

    /// How [`login`](Self::login) does it.
    pub fn login_command(&self, registry: &str, credentials: &Credentials) -> Invocation {
        let password = Stdin::Bytes(credentials.password.clone().into_bytes());
        let words = ["login", "--username", credentials.user.as_str(), "--password-stdin", registry];
        credentials.secrets().into_iter().fold(self.command(words).stdin(password), Invocation::secret)
    }
}

impl Credentials {
    /// What nobody may see: the password, and both as they stand in the client's configuration and in headers.
    fn secrets(&self) -> [String; 2] {
        [self.password.clone(), STANDARD.encode(format!("{}:{}", self.user, self.password))]
    }
}

impl std::fmt::Debug for RegistryClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RegistryClient").field("docker", &self.docker).finish_non_exhaustive()
    }
}

/// The engine's address. A context of the user's configuration is not seen by a client with another configuration, so it is
/// asked for before.
fn engine(docker: &Docker) -> Result<Option<String>, Error> {
    if let Some(host) = docker.host() {
        return Ok(Some(host));
    }
    let asked = docker.question(["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]).run(docker.cx())?;
    let address = asked.stdout.text().trim().to_owned();
    // A client that has no contexts (before 19.03, Podman) has no other address than the usual one.
    Ok(Some(address).filter(|address| asked.success() && !address.is_empty()))
}
