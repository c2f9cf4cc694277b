//! Patches of JSON documents: merge patch, JSON patch and strategic merge patch, with the errors of kube-apiserver for
//! patches that cannot be applied.
//!
//! All of them take the document as its JSON text and give the new text. Merge patch and JSON patch read only the parts
//! of the document that they touch.

mod document;
mod json_patch;
mod merge;
mod strategic;

use std::fmt;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::json::{self, DecodeError, Findings, Strictness};
use planesmith_machinery::status::ApiError;

pub use json_patch::{MAX_OPERATIONS, Refusal, apply_list, apply_operations, decode_patch, json_patch};
pub use merge::merge_patch;
pub use strategic::strategic_merge_patch;

/// A patched document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched<'p> {
    /// The new document: compact JSON.
    pub document: Vec<u8>,
    /// The findings of strict reading of the patch, each as the text of a warning.
    pub findings: Vec<String>,
    /// The patch, if errors contain it in place of the document.
    patch: Option<&'p [u8]>,
}

impl Patched<'_> {
    fn new(document: Vec<u8>, findings: Vec<String>) -> Self {
        Self {
            document,
            findings,
            patch: None,
        }
    }

    /// 422: the new document is not an object of its kind.
    #[must_use]
    pub fn refuse(&self, why: impl fmt::Display) -> ApiError {
        let shown = match self.patch {
            Some(patch) => strategic::rendered(patch),
            None => String::from_utf8_lossy(&self.document).into_owned(),
        };
        let mut errors = FieldErrors::default();
        errors.invalid("patch", shown, why.to_string());
        ApiError::invalid(&GroupKind::default(), "", &errors)
    }

    /// Returns 422 if strict validation has findings in the patch or (`decoded`) in the new document; otherwise `None`.
    #[must_use]
    pub fn refuse_strictly(&self, decoded: &Findings) -> Option<ApiError> {
        let mut findings = self.findings.clone();
        findings.extend(decoded.messages().iter().cloned());
        (!findings.is_empty()).then(|| self.refuse(format_args!("strict decoding error: {}", findings.join(", "))))
    }
}

/// Returns the same JSON with sorted keys, as kube-apiserver prints it; `None` if it is malformed or has findings such
/// as duplicate keys, which must not be lost.
#[must_use]
pub fn sorted(json: &[u8]) -> Option<Vec<u8>> {
    let (document, findings) = json::parse_value(json, Strictness::Strict).ok()?;
    if !findings.is_empty() {
        return None;
    }
    let mut sorted = Vec::with_capacity(json.len());
    json::encode_value(&document, &mut sorted);
    Some(sorted)
}

/// 400 for a patch that cannot be decoded.
fn undecodable(why: &dyn fmt::Display, strictness: Strictness) -> ApiError {
    ApiError::bad_request(match strictness {
        Strictness::Strict => format!("error decoding patch: {why}"),
        Strictness::Lenient => why.to_string(),
    })
}

/// Reads a patch as a tree, with the findings of strict validation.
fn read(patch: &[u8], strictness: Strictness) -> Result<(serde_json::Value, Vec<String>), DecodeError> {
    let (value, findings) = json::parse_value(patch, strictness)?;
    Ok((value, findings.messages().to_vec()))
}

#[cfg(test)]
mod tests;
