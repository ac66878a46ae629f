//! Which image of which configuration.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_images::config::{Config, FILE, Image, Severity};
use pto_process::shell_word;

use crate::exit::Failure;
use crate::setup::workspace_root;

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
