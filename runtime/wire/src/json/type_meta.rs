//! Finds out what a document is before it is decoded.

use super::reader::{Malformed, Next, Reader};
use super::{DecodeError, syntax_error};
use crate::type_meta::TypeMeta;

/// The type that the errors of kube-apiserver show: it reads the two fields through a struct without a name.
const GO_TYPE: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// Reads kind and apiVersion of a document; checks all of its syntax on the way.
///
/// # Errors
///
/// When the document is not JSON, not an object (or `null`), or one of the two is no text.
pub fn type_meta(input: &[u8]) -> Result<TypeMeta, DecodeError> {
    let mut reader = Reader::new(input);
    let mut wrong = None;
    let meta = read(&mut reader, &mut wrong).and_then(|meta| reader.end().map(|()| meta));
    match (meta, wrong) {
        (Err(Malformed), _) => Err(syntax_error(input)),
        (Ok(_), Some(message)) => Err(DecodeError::Type(message)),
        (Ok(meta), None) => Ok(meta),
    }
}

fn read(reader: &mut Reader<'_>, wrong: &mut Option<String>) -> Result<TypeMeta, Malformed> {
    let mut meta = TypeMeta::default();
    let next = reader.peek()?;
    if next != Next::Object {
        if next != Next::Null {
            *wrong = Some(format!(
                "json: cannot unmarshal {} into Go value of type {GO_TYPE}",
                next.name()
            ));
        }
        reader.skip()?;
        return Ok(meta);
    }
    let mut more = reader.enter(b'}')?;
    while more {
        let key = reader.key()?;
        // This first look is the one place where names in other case count.
        let field = if key.eq_ignore_ascii_case("kind") {
            Some(("kind", &mut meta.kind))
        } else if key.eq_ignore_ascii_case("apiVersion") {
            Some(("apiVersion", &mut meta.api_version))
        } else {
            None
        };
        match (reader.peek()?, field) {
            (Next::Text, Some((_, target))) => *target = reader.text()?.into_owned(),
            (Next::Null, Some(_)) => reader.null()?,
            (next, Some((name, _))) => {
                let message = format!(
                    "json: cannot unmarshal {} into Go struct field .{name} of type string",
                    next.name()
                );
                wrong.get_or_insert(message);
                reader.skip()?;
            }
            (_, None) => drop(reader.skip()?),
        }
        more = reader.another(b'}')?;
    }
    Ok(meta)
}
