//! Decoding of request bodies.

use bytes::Bytes;
use planesmith_dynamic::custom;
use planesmith_machinery::cbor;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::{GroupKind, GroupVersion};
use planesmith_machinery::json::{self, DecodeError, Findings, Strictness};
use planesmith_machinery::meta::TypeMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::protobuf;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;
use planesmith_machinery::yaml;

use super::options::{FieldValidation, WriteOptions};
use crate::endpoint::{Call, Endpoint};
use crate::negotiation::Format;
use crate::request::{Stage, Warnings};

/// Maximum bytes of a body in messages.
const SHOWN: usize = 30;

/// The kind that a body must have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) group: &'static str,
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// The Go scheme that has the kind, for messages.
    pub(super) scheme: &'static str,
    /// True for custom kinds.
    pub(super) is_custom: bool,
    /// The message for a body that cannot be read, for readers that do not know the kind well enough to report more.
    pub(super) unknown: Option<&'static str>,
}

impl From<&'static ResourceFacts> for Expected {
    fn from(facts: &'static ResourceFacts) -> Self {
        Self {
            group: facts.group,
            api_version: facts.api_version,
            kind: facts.kind,
            scheme: facts.hub().extensions.scheme_name,
            is_custom: facts.custom.is_some(),
            unknown: None,
        }
    }
}

/// Decodes bodies with objects of one kind.
pub(super) struct Decoder<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) expected: Expected,
    pub(super) validation: FieldValidation,
    pub(super) warnings: &'a Warnings,
}

impl Endpoint {
    /// Returns a decoder for the body of `call`, with an object of the kind `expected`.
    pub(super) fn decoder<'a>(&'a self, call: &'a Call, expected: Expected, options: &WriteOptions<'_>) -> Decoder<'a> {
        Decoder {
            scheme: self.stores().scheme(),
            expected,
            validation: options.field_validation,
            warnings: &call.ctx.warnings,
        }
    }

    /// Decodes the body of `call` into an object of `kind`, and returns it with the body in JSON as [`Decoder::read`]
    /// does.
    pub(super) fn decode(
        &self,
        call: &Call,
        kind: &'static ResourceFacts,
        options: &WriteOptions<'_>,
        (format, body): (Format, &Bytes),
    ) -> ApiResult<(Box<dyn Object>, Bytes)> {
        let decoder = self.decoder(call, kind.into(), options);
        let mut object = kind.zero();
        let read = || decoder.read(format, body, &mut *object);
        let json = call.ctx.timeline.time(Stage::Decode, read)?;
        Ok((object, json))
    }
}

impl Decoder<'_> {
    /// Decodes `body` into `target`, a zero object of the kind. Returns the body in JSON, which is empty for protobuf.
    ///
    /// # Errors
    ///
    /// 400 in the words of kube-apiserver when the body is not such an object.
    pub(super) fn read(&self, format: Format, body: &Bytes, target: &mut dyn Struct) -> ApiResult<Bytes> {
        let (json, repeated) = match format {
            Format::Json => (body.clone(), Vec::new()),
            Format::Yaml => {
                let document = yaml::to_json(body).map_err(|error| self.unrecognized(&error, body))?;
                (document.json.into(), document.duplicates)
            }
            Format::Cbor => {
                let json = cbor::to_json(body).map_err(|error| self.unrecognized(&error, body))?;
                (json.into(), Vec::new())
            }
            Format::Protobuf => {
                self.read_protobuf(body, target)?;
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
        if strictness == Strictness::Strict {
            findings.add_yaml(repeated.to_vec());
        }
        self.check_findings(&findings, |why| self.unfit(&sent, why))
    }

    fn read_protobuf(&self, body: &[u8], target: &mut dyn Struct) -> ApiResult<()> {
        let envelope = protobuf::open(body).map_err(|error| self.unrecognized(&error, body))?;
        let sent = self.check_kind(envelope.type_meta, body, &[])?;
        protobuf::decode_sent(envelope.raw, target).map_err(|error| self.unfit(&sent, &error.to_string()))
    }

    /// Refuses, warns of or ignores unknown and repeated fields.
    pub(super) fn check_findings(&self, findings: &Findings, refuse: impl FnOnce(&str) -> ApiError) -> ApiResult<()> {
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
        let version = GroupVersion::parse(&sent.api_version).map_err(|error| self.unrecognized(&error, body))?;
        if self.expected.is_custom {
            return self.check_custom_kind(sent, body, json);
        }
        let sent = complete(sent, &version, self.expected);
        match mismatch(self.scheme, self.expected, &sent, json) {
            None => Ok(sent),
            Some(Mismatch::Version) => Err(ApiError::version_mismatch(&sent.api_version, self.expected.api_version)),
            Some(Mismatch::Kind(why)) => Err(self.unfit(&sent, &why)),
        }
    }

    /// Checks the kind and version of a custom object, which are required. Any kind of the version is accepted here,
    /// and checked later.
    fn check_custom_kind(&self, sent: TypeMeta, body: &[u8], json: &[u8]) -> ApiResult<TypeMeta> {
        let expected = self.expected;
        if sent.kind.is_empty() {
            return Err(self.unrecognized(&missing_kind(json), body));
        }
        if sent.api_version != expected.api_version {
            return Err(ApiError::version_mismatch(&sent.api_version, expected.api_version));
        }
        if sent.kind == expected.kind {
            return Ok(sent);
        }
        let document: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
        let name = document.pointer("/metadata/name").and_then(serde_json::Value::as_str);
        let mut errors = FieldErrors::default();
        errors.invalid("kind", &sent.kind, format!("must be {}", expected.kind));
        let kind = GroupKind::new(expected.group, sent.kind);
        Err(ApiError::invalid(&kind, name.unwrap_or_default(), &errors))
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

/// The message for a document without a kind.
pub(super) fn missing_kind(document: &[u8]) -> String {
    format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(document))
}

/// A difference between a document's kind and the expected one.
pub(super) enum Mismatch {
    /// Another version of the kind.
    Version,
    /// Another kind; with kube-apiserver's message.
    Kind(String),
}

/// Sets the parts of kind and version that a document leaves out.
fn complete(mut sent: TypeMeta, version: &GroupVersion, expected: Expected) -> TypeMeta {
    if version.version.is_empty() && (version.group.is_empty() || version.group == expected.group) {
        expected.api_version.clone_into(&mut sent.api_version);
    }
    if sent.kind.is_empty() {
        expected.kind.clone_into(&mut sent.kind);
    }
    sent
}

/// True if a document is a Status, a list of versions or the options of a request, which are known beside the kinds of
/// `version`, whatever that is.
pub(super) fn is_of_machinery(sent: &TypeMeta, version: &str) -> bool {
    match sent.kind.as_str() {
        "Status" | "APIVersions" | "APIGroup" | "APIGroupList" | "APIResourceList" => sent.api_version == "v1",
        "ListOptions" | "GetOptions" | "CreateOptions" | "UpdateOptions" | "PatchOptions" | "WatchEvent" => {
            sent.api_version == "v1" || sent.api_version == version
        }
        _ => false,
    }
}

/// The difference between a document of the kind `sent` and the expected kind; `json` is the document, or empty.
pub(super) fn mismatch(scheme: &Scheme, expected: Expected, sent: &TypeMeta, json: &[u8]) -> Option<Mismatch> {
    let TypeMeta { api_version, kind } = sent;
    let fits = |own: &str, expected: &str| own.is_empty() || own == expected;
    if fits(api_version, expected.api_version) && fits(kind, expected.kind) {
        return None;
    }
    let is_near = |other: &&'static ResourceFacts| other.hub().extensions.scheme_name == expected.scheme;
    let known = scheme.object_kind(api_version, kind).filter(is_near);
    // It is decoded as its own kind before that is compared with the expected one.
    if let Some(known) = known.filter(|_| !json.is_empty())
        && let Err(DecodeError::Syntax(why) | DecodeError::Type(why)) =
            custom::decode(json, &mut *known.zero(), Strictness::Lenient)
    {
        return Some(Mismatch::Kind(why));
    }
    if known.is_some_and(|known| known.group == expected.group && known.kind == expected.kind) {
        return Some(Mismatch::Version);
    }
    let listed = kind.strip_suffix("List");
    let is_list = listed.is_some_and(|kind| {
        scheme
            .object_kind(api_version, kind)
            .is_some_and(|listed| is_near(&listed))
    }) || (api_version == "v1" && kind == "List");
    let is_options = is_of_machinery(sent, expected.api_version) || kind == "DeleteOptions" && known.is_none();
    Some(Mismatch::Kind(if known.is_some() || is_list || is_options {
        let package = expected.group.split('.').next().filter(|group| !group.is_empty());
        let package = package.unwrap_or("core");
        let version = api_version.rsplit('/').next().unwrap_or_default();
        format!(
            "converting ({version}.{kind}) to ({package}.{}): unknown conversion",
            expected.kind
        )
    } else {
        let scheme = expected.scheme;
        format!("no kind \"{kind}\" is registered for version \"{api_version}\" in scheme \"{scheme}\"")
    }))
}

/// The start of a body: as text if it looks like JSON, otherwise in hexadecimal digits.
fn summary(body: &[u8]) -> String {
    let start = &body[..body.len().min(SHOWN)];
    let mut shown = match body.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if body.len() > SHOWN {
        shown.push_str(" ...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::strategy::Extensions;

    use super::*;

    fn decoder_of_foo<'a>(scheme: &'a Scheme, warnings: &'a Warnings) -> Decoder<'a> {
        let expected = Expected {
            group: "ex.com",
            api_version: "ex.com/v1",
            kind: "Foo",
            scheme: Extensions::NONE.scheme_name,
            is_custom: true,
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
            let read = decoder.read(format, &Bytes::from(body), &mut ObjectMeta::default());
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
            let read = decoder.read(Format::Json, &Bytes::from(body), &mut ObjectMeta::default());
            assert_eq!(read.expect_err(body).message(), expected);
        }
    }
}
