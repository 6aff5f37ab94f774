//! The JSON schema of manifests, for editors.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};
use warploom::images::{AddressMode, Dim, Filter, Layout};
use warploom_ir::special::Reciprocals;

use crate::Dtype;
use crate::manifest::{Arg, Manifest};
use crate::raw::{self, Part, Register};

/// Returns the schema of manifests.
pub fn manifest() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<Manifest>()
}

/// Returns the schema of one of some names.
fn one_of<T: Serialize>(all: &[T]) -> Schema {
    json_schema!({ "enum": all })
}

pub(crate) fn reciprocals(_: &mut SchemaGenerator) -> Schema {
    one_of(&[Reciprocals::Rounded, Reciprocals::Table])
}

pub(crate) fn dim(_: &mut SchemaGenerator) -> Schema {
    use Dim::*;
    one_of(&[D1, D1Buffer, D1Array, D2, D2Array, D3, Cube, CubeArray])
}

pub(crate) fn layout(_: &mut SchemaGenerator) -> Schema {
    one_of(&[Layout::Pitch, Layout::BlockLinear])
}

pub(crate) fn filter(_: &mut SchemaGenerator) -> Schema {
    one_of(&[Filter::Nearest, Filter::Linear])
}

const MODES: [AddressMode; 4] = [
    AddressMode::ClampToEdge,
    AddressMode::ClampToBorder,
    AddressMode::Repeat,
    AddressMode::MirroredRepeat,
];

pub(crate) fn address(_: &mut SchemaGenerator) -> Schema {
    let mode = one_of(&MODES);
    json_schema!({ "anyOf": [mode, { "type": "array", "items": mode, "maxItems": 3 }] })
}

pub(crate) fn up_to_three(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "type": "integer", "minimum": 0 },
        "minItems": 1,
        "maxItems": 3,
    })
}

/// Returns the schema of a number of this type: integers may be strings in hex.
fn number(dtype: Dtype) -> Value {
    match dtype {
        Dtype::F16 | Dtype::F32 | Dtype::F64 => json!({ "type": "number" }),
        _ => json!({ "type": ["integer", "string"] }),
    }
}

/// Returns the schema of a table with one of these keys, and with these others.
fn exactly_one(keys: Map<String, Value>, others: &[(&str, Value)]) -> Schema {
    let tables: Vec<Value> = keys
        .into_iter()
        .map(|(key, value)| {
            let mut required = vec![key.clone()];
            let mut properties = Map::from_iter([(key, value)]);
            for (other, value) in others {
                required.push((*other).to_string());
                properties.insert((*other).to_string(), value.clone());
            }
            json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            })
        })
        .collect();
    json_schema!({ "oneOf": tables })
}

impl JsonSchema for Arg {
    fn schema_name() -> Cow<'static, str> {
        "Arg".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut keys = Map::new();
        for dtype in Dtype::ALL {
            keys.insert(dtype.name().into(), number(dtype));
        }
        for name in ["buffer", "sparse", "surface", "texture", "bytes"] {
            keys.insert(name.into(), json!({ "type": "string" }));
        }
        keys.insert("local".into(), json!({ "type": "integer", "minimum": 0 }));
        let sampler = json!({
            "type": "object",
            "properties": {
                "filter": one_of(&[Filter::Nearest, Filter::Linear]),
                "address": one_of(&MODES),
                "normalized": { "type": "boolean" },
            },
            "required": ["filter", "address"],
            "additionalProperties": false,
        });
        keys.insert("sampler".into(), sampler);
        exactly_one(keys, &[])
    }
}

/// Returns the schema of a value at a position, which `position` names.
fn placed(position: &str) -> Schema {
    let value = |key: &str| match Dtype::from_name(key) {
        Some(dtype) => number(dtype),
        None if ["buffer", "buffer_low", "builtin"].contains(&key) => json!({ "type": "string" }),
        None if key == "values" => json!({ "type": "array" }),
        None => json!({ "type": "object" }),
    };
    let keys = raw::KEYS.split(", ").map(|key| (key.to_string(), value(key))).collect();
    exactly_one(keys, &[(position, json!({ "type": "integer", "minimum": 0 }))])
}

impl JsonSchema for Register {
    fn schema_name() -> Cow<'static, str> {
        "Register".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        placed("first")
    }
}

impl JsonSchema for Part {
    fn schema_name() -> Cow<'static, str> {
        "Part".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        placed("at")
    }
}
