//! First step: the body is an object of the expected kind.

use std::borrow::Cow;

use bytes::Bytes;
use planesmith_dynamic::custom;
use planesmith_machinery::hex;
use planesmith_machinery::json::{self, DecodeError, Findings, Strictness};
use planesmith_machinery::meta::TypeMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::protobuf::{self, Envelope};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::time::Time;
use planesmith_machinery::value::Struct;

use super::SentBody;
use crate::endpoint::{Call, Endpoint};
use crate::negotiation::Document;
use crate::options::{FieldValidation, WriteOptions};
use crate::representation::{Expected, Mismatch};
use crate::request::{Stage, Warnings};

/// Maximum bytes of a body in messages.
const MAX_QUOTED_BODY: usize = 30;

/// An object as its client sent it, in the version of the body.
pub(crate) struct Decoded {
    pub(super) object: Box<dyn Object>,
    /// The body in JSON; empty for protobuf.
    pub(super) json: Bytes,
}

impl Decoded {
    /// Decodes the body of `call` as an object of `kind`.
    ///
    /// # Errors
    ///
    /// 400 in the words of kube-apiserver when the body is not such an object.
    pub(crate) fn read(
        endpoint: &Endpoint,
        call: &Call,
        kind: &ResourceFacts,
        options: &WriteOptions<'_>,
        body: &SentBody,
    ) -> ApiResult<Self> {
        let decoder = Decoder::new(endpoint, call, kind.into(), options);
        let mut object = kind.zero();
        let read = || decoder.read(body, &mut *object);
        let json = call.ctx.timeline.time(Stage::Decode, read)?;
        endpoint.record_object(call, &*object, &json)?;
        Ok(Self { object, json })
    }

    /// The same object without the fields that only the server sets.
    pub(crate) fn without_system_fields(mut self) -> Self {
        wipe_system_fields(&mut *self.object);
        self
    }
}

/// Clears the fields that only the server sets.
pub(super) fn wipe_system_fields(object: &mut dyn Object) {
    let meta = object.meta_mut();
    meta.creation_timestamp = Time::ZERO;
    meta.uid.clear();
    meta.deletion_timestamp = None;
    meta.deletion_grace_period_seconds = None;
    meta.self_link.clear();
}

/// Decodes bodies with objects of one kind.
pub(crate) struct Decoder<'a> {
    scheme: &'a Scheme,
    expected: Expected<'a>,
    validation: FieldValidation,
    warnings: &'a Warnings,
}

impl<'a> Decoder<'a> {
    /// Returns a decoder for the body of `call`, with an object of the kind `expected`.
    pub(crate) fn new(
        endpoint: &'a Endpoint,
        call: &'a Call,
        expected: Expected<'a>,
        options: &WriteOptions<'_>,
    ) -> Self {
        Self {
            scheme: endpoint.stores().scheme(),
            expected,
            validation: options.field_validation,
            warnings: &call.ctx.warnings,
        }
    }
}

impl Decoder<'_> {
    /// Decodes `body` into `target`, a zero object of the kind. Returns the body in JSON, which is empty for protobuf.
    ///
    /// # Errors
    ///
    /// 400 in the words of kube-apiserver when the body is not such an object.
    pub(crate) fn read(&self, body: &SentBody, target: &mut dyn Struct) -> ApiResult<Bytes> {
        let SentBody { format, bytes: body } = body;
        let (json, repeated) = match Document::read(*format, body).map_err(|error| self.unrecognized(&error, body))? {
            Document::Json { json, repeated } => match json {
                Cow::Borrowed(_) => (body.clone(), repeated),
                Cow::Owned(json) => (json.into(), repeated),
            },
            Document::Message(envelope) => {
                self.read_message(envelope, body, target)?;
                return Ok(Bytes::new());
            }
        };
        self.read_json(&json, body, &repeated, target)?;
        Ok(json)
    }

    fn read_json(&self, json: &[u8], body: &[u8], repeated: &[String], target: &mut dyn Struct) -> ApiResult<()> {
        let sent = json::type_meta(json).map_err(|error| {
            let why = format!("couldn't get version/kind; json parse error: {error}");
            self.unrecognized(&why, body)
        })?;
        let sent = self.check_kind(sent, body, json)?;
        let strictness = match self.validation {
            FieldValidation::Ignore => Strictness::Lenient,
            FieldValidation::Warn | FieldValidation::Strict => Strictness::Strict,
        };
        let mut findings = custom::decode(json, target, strictness).map_err(|error| match error {
            DecodeError::Syntax(why) | DecodeError::Type(why) => self.unfit(&sent, &why),
        })?;
        self.check_conversion(&sent, target)?;
        if strictness == Strictness::Strict {
            findings.add_yaml(repeated.to_vec());
        }
        self.check_findings(&findings, |why| self.unfit(&sent, why))
    }

    fn read_message(&self, envelope: Envelope<'_>, body: &[u8], target: &mut dyn Struct) -> ApiResult<()> {
        let sent = self.check_kind(envelope.type_meta, body, &[])?;
        protobuf::decode_sent(envelope.raw, target).map_err(|error| self.unfit(&sent, &error.to_string()))?;
        self.check_conversion(&sent, target)
    }

    /// Refuses an object that kube-apiserver could not convert to its internal type.
    fn check_conversion(&self, sent: &TypeMeta, object: &dyn Struct) -> ApiResult<()> {
        match self.expected.hooks.conversion_problem(object) {
            Some(why) => Err(self.unfit(sent, &why)),
            None => Ok(()),
        }
    }

    /// Refuses, warns of or ignores unknown and repeated fields.
    fn check_findings(&self, findings: &Findings, refuse: impl FnOnce(&str) -> ApiError) -> ApiResult<()> {
        if findings.is_empty() {
            return Ok(());
        }
        match self.validation {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => {
                for message in findings.messages() {
                    self.warnings.add(message.as_str());
                }
            }
            FieldValidation::Strict => return Err(refuse(&format!("strict decoding error: {findings}"))),
        }
        Ok(())
    }

    /// Completes the body's kind and version, and checks them against the expected kind. `json` is the body in JSON, or
    /// empty.
    fn check_kind(&self, sent: TypeMeta, body: &[u8], json: &[u8]) -> ApiResult<TypeMeta> {
        let checked = self
            .expected
            .representation
            .check_kind(sent, json, self.expected, self.scheme);
        checked.map_err(|why| match why {
            Mismatch::Unknown(why) => self.unrecognized(&why, body),
            Mismatch::Kind(sent, why) => self.unfit(&sent, &why),
            Mismatch::Refused(error) => error,
        })
    }

    /// 400 for a body whose kind is not known.
    fn unrecognized(&self, why: &dyn std::fmt::Display, body: &[u8]) -> ApiError {
        if let Some(why) = self.expected.unknown {
            return ApiError::bad_request(why);
        }
        let kind = self.expected.kind;
        let shown = summary(body);
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({shown})"
        ))
    }

    /// 400 for a body of a known kind.
    fn unfit(&self, sent: &TypeMeta, why: &str) -> ApiError {
        if let Some(why) = self.expected.unknown {
            return ApiError::bad_request(why);
        }
        let version = sent.api_version.rsplit('/').next().unwrap_or_default();
        let TypeMeta { kind, .. } = sent;
        ApiError::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a {}: {why}",
            self.expected.kind
        ))
    }
}

/// The start of a body: as text if it looks like JSON, otherwise in hexadecimal digits.
fn summary(body: &[u8]) -> String {
    let start = &body[..body.len().min(MAX_QUOTED_BODY)];
    let mut shown = match body.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => hex::encode(start),
    };
    if body.len() > MAX_QUOTED_BODY {
        shown.push_str(" ...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::strategy::Extensions;

    use super::*;
    use crate::negotiation::Format;

    fn decoder_of_foo<'a>(scheme: &'a Scheme, warnings: &'a Warnings) -> Decoder<'a> {
        let expected = Expected {
            group: "ex.com",
            api_version: "ex.com/v1",
            kind: "Foo",
            former_versions: &[],
            scheme: Extensions::NONE.scheme_name,
            representation: &crate::representation::Custom,
            hooks: Extensions::NONE.hooks,
            unknown: None,
        };
        Decoder {
            scheme,
            expected,
            validation: FieldValidation::Strict,
            warnings,
        }
    }

    #[test]
    fn objects_of_another_kind_are_called_by_their_names_in_any_form() {
        let (scheme, warnings) = (Scheme::new(), Warnings::default());
        let decoder = decoder_of_foo(&scheme, &warnings);
        let json = r#"{"apiVersion":"ex.com/v1","kind":"Bar","metadata":{"name":"one"}}"#;
        let yaml = "apiVersion: ex.com/v1\nkind: Bar\nmetadata: {name: one}\n";
        for (format, body) in [(Format::Json, json), (Format::Yaml, yaml)] {
            let body = SentBody {
                format,
                bytes: body.into(),
            };
            let read = decoder.read(&body, &mut ObjectMeta::default());
            assert_eq!(
                read.expect_err("another kind").message(),
                "Bar.ex.com \"one\" is invalid: kind: Invalid value: \"Bar\": must be Foo"
            );
        }
    }

    #[test]
    fn custom_objects_say_what_they_are() {
        let (scheme, warnings) = (Scheme::new(), Warnings::default());
        let decoder = decoder_of_foo(&scheme, &warnings);
        for (body, expected) in [
            (
                r#"{"apiVersion":"ex.com/v1"}"#,
                "the object provided is unrecognized (must be of type Foo): Object 'Kind' is missing in \
                 '{\"apiVersion\":\"ex.com/v1\"}' ({\"apiVersion\":\"ex.com/v1\"})",
            ),
            (
                r#"{"kind":"Foo"}"#,
                "the API version in the data () does not match the expected API version (ex.com/v1)",
            ),
        ] {
            let sent = SentBody {
                format: Format::Json,
                bytes: body.into(),
            };
            let read = decoder.read(&sent, &mut ObjectMeta::default());
            assert_eq!(read.expect_err(body).message(), expected);
        }
    }
}
