//! JSON with duplicate keys reported. Readers of JSON disagree on which of two values counts, and most do not report them.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A JSON value, and the places of keys that are in it twice.
pub(crate) struct Strict {
    pub(crate) value: Value,
    /// JSON pointers. The first of two values counts.
    pub(crate) duplicates: Vec<String>,
}

impl Strict {
    fn plain(value: impl Into<Value>) -> Self {
        Self { value: value.into(), duplicates: Vec::new() }
    }
}

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict::plain(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict::plain(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict::plain(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Strict, E> {
        Ok(Strict::plain(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict::plain(value))
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict::plain(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Strict, A::Error> {
        let (mut items, mut duplicates) = (Vec::new(), Vec::new());
        while let Some(item) = seq.next_element::<Strict>()? {
            duplicates.extend(item.duplicates.into_iter().map(|place| format!("/{}{place}", items.len())));
            items.push(item.value);
        }
        Ok(Strict { value: items.into(), duplicates })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Strict, A::Error> {
        let (mut fields, mut duplicates) = (Map::new(), Vec::new());
        while let Some((key, found)) = map.next_entry::<String, Strict>()? {
            duplicates.extend(found.duplicates.into_iter().map(|place| format!("/{key}{place}")));
            if fields.contains_key(&key) {
                duplicates.push(format!("/{key}"));
            } else {
                fields.insert(key, found.value);
            }
        }
        Ok(Strict { value: Value::Object(fields), duplicates })
    }
}
