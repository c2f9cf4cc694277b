//! From a request body to an object.

use bytes::Bytes;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json::{self, DecodeError, Findings, Strictness};
use planesmith_machinery::meta::TypeMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::protobuf;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;
use planesmith_machinery::yaml;

use super::options::FieldValidation;
use crate::negotiation::Format;
use crate::request::Warnings;

/// How much of a body messages show.
const SHOWN: usize = 30;
/// How kube-apiserver names the list of its kinds.
const SCHEME: &str = "pkg/api/legacyscheme/scheme.go:30";

/// Reads bodies that hold objects of one kind.
pub(super) struct Decoder<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) facts: &'static ResourceFacts,
    pub(super) validation: FieldValidation,
    pub(super) warnings: &'a Warnings,
}

impl Decoder<'_> {
    /// The object in `body`, as it was sent.
    ///
    /// # Errors
    ///
    /// 400 in the words of kube-apiserver when the body is not such an object.
    pub(super) fn object(&self, format: Format, body: &Bytes) -> ApiResult<Box<dyn Object>> {
        let mut object = (self.facts.new)();
        self.read(format, body, &mut *object)?;
        Ok(object)
    }

    /// Reads `body` over `target`, a zero object of the kind.
    pub(super) fn read(&self, format: Format, body: &Bytes, target: &mut dyn Struct) -> ApiResult<()> {
        match format {
            Format::Json => self.read_json(body, body, &[], target),
            Format::Yaml => {
                let document = yaml::to_json(body).map_err(|error| self.unrecognized(&error, body))?;
                self.read_json(&document.json, body, &document.duplicates, target)
            }
            Format::Protobuf => self.read_protobuf(body, target),
        }
    }

    fn read_json(&self, json: &[u8], body: &[u8], repeated: &[String], target: &mut dyn Struct) -> ApiResult<()> {
        let sent = json::type_meta(json).map_err(|error| {
            let why = format!("couldn't get version/kind; json parse error: {error}");
            self.unrecognized(&why, body)
        })?;
        let sent = self.check_kind(sent, body)?;
        let strictness = match self.validation {
            FieldValidation::Ignore => Strictness::Lenient,
            FieldValidation::Warn | FieldValidation::Strict => Strictness::Strict,
        };
        let mut findings = json::decode(json, target, strictness).map_err(|error| match error {
            DecodeError::Syntax(why) | DecodeError::Type(why) => self.unfit(&sent, &why),
        })?;
        if strictness == Strictness::Strict {
            findings.add_yaml(repeated.to_vec());
        }
        self.judge(&findings, |why| self.unfit(&sent, why))
    }

    fn read_protobuf(&self, body: &[u8], target: &mut dyn Struct) -> ApiResult<()> {
        let envelope = protobuf::open(body).map_err(|error| self.unrecognized(&error, body))?;
        let sent = self.check_kind(envelope.type_meta, body)?;
        protobuf::decode(envelope.raw, target).map_err(|error| self.unfit(&sent, &error.to_string()))
    }

    /// What to make of fields that are unknown or stand twice.
    pub(super) fn judge(&self, findings: &Findings, refuse: impl FnOnce(&str) -> ApiError) -> ApiResult<()> {
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

    /// Completes what the body says it is, and checks it against the kind.
    fn check_kind(&self, mut sent: TypeMeta, body: &[u8]) -> ApiResult<TypeMeta> {
        let version = GroupVersion::parse(&sent.api_version).map_err(|error| self.unrecognized(&error, body))?;
        if version.version.is_empty() && (version.group.is_empty() || version.group == self.facts.group) {
            self.facts.api_version.clone_into(&mut sent.api_version);
        }
        if sent.kind.is_empty() {
            self.facts.kind.clone_into(&mut sent.kind);
        }
        let (facts, TypeMeta { api_version, kind }) = (self.facts, &sent);
        if *api_version == facts.api_version && *kind == facts.kind {
            return Ok(sent);
        }
        let known = self.scheme.object_kind(api_version, kind);
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let is_list = || {
            let listed = kind.strip_suffix("List");
            listed.is_some_and(|kind| self.scheme.object_kind(api_version, kind).is_some())
        };
        if known.is_some_and(|known| known.group == facts.group && known.kind == facts.kind) {
            return Err(ApiError::version_mismatch(api_version, facts.api_version));
        }
        let why = if known.is_some() || is_list() {
            let package = facts
                .group
                .split('.')
                .next()
                .filter(|group| !group.is_empty())
                .unwrap_or("core");
            format!(
                "converting ({version}.{kind}) to ({package}.{}): unknown conversion",
                facts.kind
            )
        } else {
            format!("no kind \"{kind}\" is registered for version \"{api_version}\" in scheme \"{SCHEME}\"")
        };
        Err(self.unfit(&sent, &why))
    }

    /// 400 about a body that is not known to be of any kind.
    fn unrecognized(&self, why: &dyn std::fmt::Display, body: &[u8]) -> ApiError {
        let kind = self.facts.kind;
        let shown = summary(body);
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({shown})"
        ))
    }

    /// 400 about a body of a known kind.
    fn unfit(&self, sent: &TypeMeta, why: &str) -> ApiError {
        let version = sent.api_version.rsplit('/').next().unwrap_or_default();
        let TypeMeta { kind, .. } = sent;
        ApiError::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a {}: {why}",
            self.facts.kind
        ))
    }
}

/// The start of a body: as text when it looks like JSON, else in hexadecimal digits.
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
