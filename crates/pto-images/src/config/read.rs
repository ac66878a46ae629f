//! From JSON to a configuration: every key that is missing, unknown or of another type is told, not only the first.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::findings::Findings;
use super::{Config, Image, RecipeSource, Source};

/// The only form of the document.
const VERSION: u32 = 1;

pub(super) fn config(file: &Path, text: &str, findings: &mut Findings) -> Option<Config> {
    let value = match serde_json::from_str::<Strict>(text) {
        Ok(Strict(value)) => value,
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
    let config = (
        object.required("repository"),
        object.required("legacy_tags"),
        object.nested("recipe", recipe),
        object.nested("pypto", source),
        object.nested("pypto_lib", source),
        object.required("proxy_required"),
        object.required("build_jobs"),
        object.required("task_timeout_seconds"),
        object.required("task_max_seconds"),
        object.list("images", image),
    );
    object.finish();
    Some(Config {
        file: file.to_owned(),
        repository: config.0?,
        legacy_tags: config.1?,
        recipe: config.2?,
        pypto: config.3?,
        pypto_lib: config.4?,
        proxy_required: config.5?,
        build_jobs: config.6?,
        task_timeout_seconds: config.7?,
        task_max_seconds: config.8?,
        images: config.9?,
    })
}

fn recipe(object: &mut Object<'_>) -> Option<RecipeSource> {
    let (repository, branch) = (object.required("repository"), object.required("branch"));
    Some(RecipeSource { repository: repository?, branch: branch? })
}

fn source(object: &mut Object<'_>) -> Option<Source> {
    let (repository, reference) = (object.required("repository"), object.required("ref"));
    Some(Source { repository: repository?, reference: reference? })
}

fn image(object: &mut Object<'_>) -> Option<Image> {
    let needs = object.optional("needs").unwrap_or_default();
    let runner_name = object.optional("runner_name");
    // `null` is said, not left out: what is not known or not pinned is meant so.
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
        cann_digest: cann_digest?,
        tag: tag?,
        devices: devices?,
        single_script: single_script?,
        single_args: single_args?,
        distributed_script: distributed_script?,
        distributed_args: distributed_args?,
    })
}

/// An object, and which of its keys were asked for.
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

    /// All elements, or nothing if one of them is wrong; each is read in any case.
    fn list<T>(&mut self, key: &'static str, read: fn(&mut Object<'_>) -> Option<T>) -> Option<Vec<T>> {
        let Value::Array(items) = self.must(key)? else {
            self.wrong(key, "expected a list");
            return None;
        };
        let elements: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                let mut object = Object::of(item, format!("{}/{key}/{index}", self.place), self.findings)?;
                let read = read(&mut object);
                object.finish();
                read
            })
            .collect();
        elements.into_iter().collect()
    }

    /// What was not asked for does not exist.
    fn finish(self) {
        for key in self.map.keys().filter(|key| !self.asked.contains(&key.as_str())) {
            let near = self.asked.iter().map(|known| (strsim::jaro_winkler(key, known), known));
            let near = near.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
            let meant = near.map(|(_, known)| format!("; did you mean `{known}`?"));
            let place = format!("{}/{key}", self.place);
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

/// JSON in which no key stands twice: readers disagree on which one counts.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = BTreeMap::new();
        let mut ordered = Map::new();
        while let Some((key, Strict(value))) = map.next_entry::<String, Strict>()? {
            if fields.insert(key.clone(), ()).is_some() {
                return Err(A::Error::custom(format!("the key `{key}` is there twice")));
            }
            ordered.insert(key, value);
        }
        Ok(Value::Object(ordered))
    }
}
