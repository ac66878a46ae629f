//! A client for registries: with a configuration of its own, and without proxies.

use std::ffi::OsString;

use pto_process::{Invocation, Stdin};

use crate::credentials::Credentials;
use crate::docker::Docker;
use crate::error::Error;
use crate::private::PrivateDirectory;
use crate::proxies::Proxies;

/// A client with a configuration directory of its own: it does not see the user's logins, and its own login is gone with the
/// value. Its commands have no proxy, and mask every secret that was used to log in.
pub struct RegistryClient {
    docker: Docker,
    secrets: Vec<String>,
    // The last field, so that it is dropped after the client that uses it.
    config: PrivateDirectory,
}

impl RegistryClient {
    /// A client that is logged in nowhere: an anonymous one.
    ///
    /// # Errors
    /// No private directory can be made.
    pub fn new(docker: &Docker) -> Result<Self, Error> {
        let config = PrivateDirectory::new(docker.cx())?;
        // A client with another configuration does not see the contexts of the user's, so the address is asked for before.
        let docker = docker.with_config(config.path().to_owned(), docker.endpoint());
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
            // The client stores the login: this is its disk that is full, although the words are those of an engine.
            Err(Error::DiskFull { said }) if full(&said) => Err(Error::Private {
                path: self.config.path().to_owned(),
                source: std::io::ErrorKind::StorageFull.into(),
            }),
            login => login.map(drop),
        }
    }

    fn login_command(&self, registry: &str, credentials: &Credentials) -> Invocation {
        let password = Stdin::Bytes(credentials.password.clone().into_bytes());
        let words = ["login", "--username", credentials.user.as_str(), "--password-stdin", registry];
        credentials.secrets().into_iter().fold(self.command(words).stdin(password), Invocation::secret)
    }
}

impl std::fmt::Debug for RegistryClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RegistryClient").field("docker", &self.docker).finish_non_exhaustive()
    }
}
