//! A body as a document, whatever its encoding.

use std::borrow::Cow;

use planesmith_machinery::json;
use planesmith_machinery::meta::TypeMeta;
use planesmith_machinery::protobuf::Envelope;
use planesmith_machinery::{cbor, protobuf, yaml};

use super::Format;

/// A body, read as far as its encoding permits without the type of its object.
pub(crate) enum Document<'b> {
    /// JSON, or an encoding that is read by way of JSON.
    Json {
        /// The document.
        json: Cow<'b, [u8]>,
        /// Keys that the body repeats, which JSON no longer shows.
        repeated: Vec<String>,
    },
    /// A message of protobuf.
    Message(Envelope<'b>),
}

impl<'b> Document<'b> {
    /// Reads `body`, which is encoded in `format`.
    ///
    /// # Errors
    ///
    /// The body is not in that encoding, in the words of kube-apiserver. JSON is not checked here.
    pub(crate) fn read(format: Format, body: &'b [u8]) -> Result<Self, String> {
        let message = |error: &dyn std::fmt::Display| error.to_string();
        let owned = |json: Vec<u8>, repeated| Self::Json {
            json: Cow::Owned(json),
            repeated,
        };
        match format {
            Format::Json => Ok(Self::Json {
                json: Cow::Borrowed(body),
                repeated: Vec::new(),
            }),
            Format::Yaml => {
                let document = yaml::to_json(body).map_err(|error| message(&error))?;
                Ok(owned(document.json, document.duplicates))
            }
            Format::Cbor => {
                let json = cbor::to_json(body).map_err(|error| message(&error))?;
                Ok(owned(json, Vec::new()))
            }
            Format::Protobuf => {
                let envelope = protobuf::open(body).map_err(|error| message(&error))?;
                Ok(Self::Message(envelope))
            }
        }
    }

    /// Returns the kind and the version that the document names; either may be empty.
    ///
    /// # Errors
    ///
    /// The document is not an object of JSON.
    pub(crate) fn type_meta(&self) -> Result<TypeMeta, String> {
        match self {
            Self::Json { json, .. } => json::type_meta(json).map_err(|error| error.to_string()),
            Self::Message(envelope) => Ok(envelope.type_meta.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_names_its_type_in_every_encoding() {
        let json = br#"{"apiVersion":"v1","kind":"Pod"}"#;
        let mut message = Vec::new();
        protobuf::wrap("v1", "Pod", &mut message, |_| {});
        let mut cbor = Vec::new();
        cbor::from_json(json, &mut cbor).expect("a document");
        for (format, body) in [
            (Format::Json, json.as_slice()),
            (Format::Yaml, b"apiVersion: v1\nkind: Pod\n"),
            (Format::Protobuf, &message),
            (Format::Cbor, &cbor),
        ] {
            let document = Document::read(format, body).expect("in its encoding");
            let found = document.type_meta().expect("an object");
            assert_eq!(
                (found.api_version.as_str(), found.kind.as_str()),
                ("v1", "Pod"),
                "{format:?}"
            );
        }
    }

    #[test]
    fn keys_that_yaml_repeats_are_noted() {
        let read = Document::read(Format::Yaml, b"a: 1\na: 2\n");
        let Ok(Document::Json { repeated, .. }) = read else {
            panic!("not read");
        };
        assert_eq!(repeated.len(), 1);
    }

    #[test]
    fn a_body_in_another_encoding_is_refused() {
        for format in [Format::Yaml, Format::Protobuf, Format::Cbor] {
            assert!(Document::read(format, b"\t{").is_err(), "{format:?}");
        }
    }
}
