//! From JSON to a configuration. Reports every key that is missing, unknown or of another type, not only the first.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::findings::Findings;
use super::{Config, Image, RecipeSource, Source};
use crate::registry::{Digest, Repository};
use crate::strict::Strict;

/// The version of the document's form. There is only this one.
const VERSION: u32 = 1;

/// As much of the configuration as could be read. If something is missing, the rest is checked nevertheless.
pub(super) struct Draft {
    pub(super) repository: Option<Repository>,
    pub(super) legacy_tags: Option<Vec<String>>,
    pub(super) recipe: Option<RecipeSource>,
    pub(super) pypto: Option<Source>,
    pub(super) pypto_lib: Option<Source>,
    pub(super) proxy_required: Option<bool>,
    pub(super) build_jobs: Option<u32>,
    pub(super) task_timeout_seconds: Option<u32>,
    pub(super) task_max_seconds: Option<u32>,
    /// In the order of the document, with `None` for an image that lacks something.
    pub(super) images: Option<Vec<Option<Image>>>,
}

impl Draft {
    /// The images that could be read, with their indices in the document.
    pub(super) fn images(&self) -> impl Iterator<Item = (usize, &Image)> {
        let all = self.images.iter().flatten().enumerate();
        all.filter_map(|(index, image)| Some((index, image.as_ref()?)))
    }

    /// The configuration, if nothing is missing.
    pub(super) fn whole(self, file: &Path) -> Option<Config> {
        Some(Config {
            file: file.to_owned(),
            repository: self.repository?,
            legacy_tags: self.legacy_tags?,
            recipe: self.recipe?,
            pypto: self.pypto?,
            pypto_lib: self.pypto_lib?,
            proxy_required: self.proxy_required?,
            build_jobs: self.build_jobs?,
            task_timeout_seconds: self.task_timeout_seconds?,
            task_max_seconds: self.task_max_seconds?,
            images: self.images?.into_iter().collect::<Option<_>>()?,
        })
    }
}

pub(super) fn draft(text: &str, findings: &mut Findings) -> Option<Draft> {
    if text.starts_with('\u{feff}') {
        findings.error("1:1", "a byte order mark; expected UTF-8 without one");
        return None;
    }
    let value = match serde_json::from_str::<Strict>(text) {
        Ok(Strict { value, duplicates }) => {
            for place in duplicates {
                let key = place.rsplit('/').next().unwrap_or_default().to_owned();
                findings.error(place, format!("the key `{key}` is there twice"));
            }
            value
        }
        Err(error) => {
            let said = error.to_string();
            let message = said.split(" at line ").next().unwrap_or(&said).to_owned();
            findings.error(format!("{}:{}", error.line(), error.column()), message);
            return None;
        }
    };
    let mut object = Object::of(&value, String::new(), findings)?;
    let _: Option<String> = object.optional("$schema");
    if object.required::<u32>("version").is_some_and(|version| version != VERSION) {
        object.wrong("version", &format!("expected {VERSION}"));
    }
    let draft = Draft {
        repository: object.required("repository"),
        legacy_tags: object.required("legacy_tags"),
        recipe: object.nested("recipe", recipe),
        pypto: object.nested("pypto", source),
        pypto_lib: object.nested("pypto_lib", source),
        proxy_required: object.required("proxy_required"),
        build_jobs: object.required("build_jobs"),
        task_timeout_seconds: object.required("task_timeout_seconds"),
        task_max_seconds: object.required("task_max_seconds"),
        images: object.list("images", image),
    };
    object.finish();
    Some(draft)
}

fn recipe(object: &mut Object<'_>) -> Option<RecipeSource> {
    let (repository, branch) = (object.required("repository"), object.required("branch"));
    Some(RecipeSource { repository: repository?, branch: branch? })
}

fn source(object: &mut Object<'_>) -> Option<Source> {
    let (repository, reference) = (object.required("repository"), object.required("ref"));
    Some(Source { repository: repository?, reference: reference? })
}

/// An image, if everything is there that other keys are checked against. In the place of what stands by itself and is malformed,
/// something sound is put, so that the rest is checked all the same: the configuration is refused in any case.
fn image(object: &mut Object<'_>) -> Option<Image> {
    let needs = object.optional("needs").unwrap_or_default();
    let runner_name = object.optional("runner_name");
    // These two have to be there and may be `null`, so that nobody forgets one by accident.
    let (driver, cann_digest) = (object.nullable("driver"), object.nullable("cann_digest"));
    let (name, enabled) = (object.required("name"), object.required("enabled"));
    let (architecture, validation_platform) = (object.required("architecture"), object.required("validation_platform"));
    let (runners, devices) = (object.required("runners"), object.required("devices"));
    let (cann_version, cann_repository) = (object.required("cann_version"), object.required("cann_repository"));
    let (cann_tag, tag) = (object.required("cann_tag"), object.required("tag"));
    let (single_script, single_args) = (object.required("single_script"), object.required("single_args"));
    let (distributed_script, distributed_args) =
        (object.required("distributed_script"), object.required("distributed_args"));
    Some(Image {
        name: name?,
        enabled: enabled?,
        needs,
        architecture: architecture?,
        validation_platform: validation_platform?,
        runners: runners?,
        runner_name,
        driver: driver?,
        cann_version: cann_version?,
        cann_repository: cann_repository?,
        cann_tag: cann_tag?,
        cann_digest: cann_digest.unwrap_or_else(|| Some(Digest::of(b""))),
        tag: tag?,
        devices: devices.unwrap_or_default(),
        single_script: single_script.unwrap_or_else(|| "x.py".to_owned()),
        single_args: single_args.unwrap_or_default(),
        distributed_script: distributed_script.unwrap_or_else(|| "x.py".to_owned()),
        distributed_args: distributed_args.unwrap_or_default(),
    })
}

/// An object of the document, and the keys that were asked for. The rest is unknown.
struct Object<'a> {
    map: &'a Map<String, Value>,
    place: String,
    asked: Vec<&'static str>,
    findings: &'a mut Findings,
}

impl<'a> Object<'a> {
    fn of(value: &'a Value, place: String, findings: &'a mut Findings) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self { map, place, asked: Vec::new(), findings }),
            other => {
                let place = if place.is_empty() { "/".to_owned() } else { place };
                findings.error(place, format!("expected an object, found {}", kind(other)));
                None
            }
        }
    }

    fn wrong(&mut self, key: &str, message: &str) {
        self.findings.error(format!("{}/{key}", self.place), message);
    }

    fn get(&mut self, key: &'static str) -> Option<&'a Value> {
        self.asked.push(key);
        self.map.get(key)
    }

    fn must(&mut self, key: &'static str) -> Option<&'a Value> {
        let value = self.get(key);
        if value.is_none() {
            let place = if self.place.is_empty() { "/" } else { self.place.as_str() };
            self.findings.error(place, format!("the key `{key}` is missing"));
        }
        value
    }

    fn required<T: DeserializeOwned>(&mut self, key: &'static str) -> Option<T> {
        let value = self.must(key)?;
        self.typed(key, value)
    }

    fn optional<T: DeserializeOwned>(&mut self, key: &'static str) -> Option<T> {
        let value = self.get(key)?;
        self.typed(key, value)
    }

    fn nullable<T: DeserializeOwned>(&mut self, key: &'static str) -> Option<Option<T>> {
        self.required(key)
    }

    fn typed<T: DeserializeOwned>(&mut self, key: &str, value: &Value) -> Option<T> {
        match T::deserialize(value) {
            Ok(value) => Some(value),
            Err(error) => {
                self.wrong(key, &error.to_string());
                None
            }
        }
    }

    fn nested<T>(&mut self, key: &'static str, read: fn(&mut Object<'_>) -> Option<T>) -> Option<T> {
        let value = self.must(key)?;
        let mut object = Object::of(value, format!("{}/{key}", self.place), self.findings)?;
        let read = read(&mut object);
        object.finish();
        read
    }

    /// The elements of a list, with `None` for an element that is wrong.
    fn list<T>(&mut self, key: &'static str, read: fn(&mut Object<'_>) -> Option<T>) -> Option<Vec<Option<T>>> {
        let Value::Array(items) = self.must(key)? else {
            self.wrong(key, "expected a list");
            return None;
        };
        let elements = items.iter().enumerate().map(|(index, item)| {
            let mut object = Object::of(item, format!("{}/{key}/{index}", self.place), self.findings)?;
            let read = read(&mut object);
            object.finish();
            read
        });
        Some(elements.collect())
    }

    /// Reports the keys that nobody asked for.
    fn finish(self) {
        for key in self.map.keys().filter(|key| !self.asked.contains(&key.as_str())) {
            let near = self.asked.iter().map(|known| (strsim::jaro_winkler(key, known), known));
            let near = near.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
            let meant = near.map(|(_, known)| format!("; did you mean `{known}`?"));
            // As a pointer into JSON has it.
            let place = format!("{}/{}", self.place, key.replace('~', "~0").replace('/', "~1"));
            self.findings.error(place, format!("there is no key `{key}`{}", meant.unwrap_or_default()));
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
