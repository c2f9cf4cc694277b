//! Requests to reset the managed fields.

use planesmith_wire::json::{Malformed, Next, Reader};

use planesmith_machinery::field_error::holds_empty;

/// True if the JSON of an object has an empty list of managers. It resets them, as a list of one empty entry
/// does; a decoded object could not tell it from none.
#[must_use]
pub fn resets_managers(json: &[u8]) -> bool {
    holds_empty(json) && is_empty_at(json).unwrap_or(false)
}

/// Of equal keys the last one counts.
fn is_empty_at(json: &[u8]) -> Result<bool, Malformed> {
    let mut empty = false;
    let mut reader = Reader::new(json);
    each_entry(&mut reader, "metadata", &mut |reader| {
        each_entry(reader, "managedFields", &mut |reader| {
            empty = match reader.peek()? {
                Next::Array => {
                    let list = reader.skip()?;
                    list[1..list.len() - 1].iter().all(u8::is_ascii_whitespace)
                }
                _ => {
                    reader.skip()?;
                    false
                }
            };
            Ok(())
        })
    })?;
    Ok(empty)
}

/// Reads a value, and lets the entries of the name `wanted` be read by `read` when it is an object.
fn each_entry(
    reader: &mut Reader<'_>,
    wanted: &str,
    read: &mut dyn FnMut(&mut Reader<'_>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    if !matches!(reader.peek()?, Next::Object) {
        reader.skip()?;
        return Ok(());
    }
    let mut more = reader.enter(b'}')?;
    while more {
        match reader.key()?.as_ref() == wanted {
            true => read(reader)?,
            false => drop(reader.skip()?),
        }
        more = reader.another(b'}')?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::resets_managers;

    #[test]
    fn only_an_empty_list_asks_for_it() {
        for (json, expected) in [
            (r#"{"metadata":{"managedFields":[]}}"#, true),
            (
                r#"{"kind":"A","metadata":{"name":"x","managedFields":[ ]},"data":{}}"#,
                true,
            ),
            (r#"{"metadata":{"managedFields":[{}]}}"#, false),
            (r#"{"metadata":{"managedFields":null}}"#, false),
            (r#"{"metadata":{"managedFields":[],"managedFields":[{}]}}"#, false),
            (r#"{"metadata":{"labels":{"managedFields":[]}}}"#, false),
            (r#"{"managedFields":[],"metadata":[]}"#, false),
            ("managedFields", false),
        ] {
            assert_eq!(resets_managers(json.as_bytes()), expected, "{json}");
        }
    }
}
