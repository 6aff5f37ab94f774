//! YAML as compilers write it: maps, lists, text and numbers.

use rmpv::Value;
use saphyr_parser::{Event, Parser, ScalarStyle};

/// The greatest depth of values: real values nest six deep.
const MAX_DEPTH: usize = 16;

/// Returns the first document as a tree.
pub(super) fn tree(text: &str) -> Result<Value, String> {
    /// A list or a map that is not complete.
    enum Open {
        List(Vec<Value>),
        /// A map with a key that may have no value yet.
        Map(Vec<(Value, Value)>, Option<Value>),
    }
    let mut open: Vec<Open> = vec![];
    for event in Parser::new_from_str(text) {
        let (event, place) = event.map_err(|e| e.to_string())?;
        let mut value = match event {
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                return Err(format!(
                    "line {}: values nest more than {MAX_DEPTH} deep",
                    place.start.line()
                ));
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(vec![]));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(vec![], None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(list)) => Value::Array(list),
                Some(Open::Map(map, _)) => Value::Map(map),
                None => return Err("an end without a start".into()),
            },
            // Compilers write no aliases, and few aliases can stand for very much data.
            Event::Alias(_) => return Err(format!("line {}: an alias", place.start.line())),
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(value),
            Some(Open::List(list)) => list.push(value),
            Some(Open::Map(_, key @ None)) => *key = Some(value),
            Some(Open::Map(map, key @ Some(_))) => {
                if let Some(key) = key.take() {
                    map.push((key, std::mem::replace(&mut value, Value::Nil)));
                }
            }
        }
    }
    Err("there is nothing in it".into())
}

/// Converts a scalar. Text without quotes may be a number or a truth value.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    match text {
        _ if style != ScalarStyle::Plain => text.into(),
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        _ => text.parse::<u64>().map_or_else(|_| text.into(), Value::from),
    }
}
