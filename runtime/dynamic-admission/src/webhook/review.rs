//! The review that a webhook gets, and its answer.

use std::borrow::Cow;
use std::collections::BTreeMap;

use planesmith_api_defs::admission::v1::{AdmissionRequest, AdmissionResponse, AdmissionReview};
use planesmith_api_defs::admission::v1beta1;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::{Status, TypeMeta};
use planesmith_machinery::scheme::not_registered;
use planesmith_machinery::yaml;
use planesmith_server::metrics::WebhookType::{self, Mutating, Validating};

const GROUP_VERSIONS: [(&str, &str); 2] = [("v1", "admission.k8s.io/v1"), ("v1beta1", "admission.k8s.io/v1beta1")];

/// Kinds that kube-apiserver's scheme of reviews knows in any version.
const UNVERSIONED: [&str; 5] = ["APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"];

/// Kinds that it knows in each version of reviews.
const ACCOMPANYING: [&str; 7] = [
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "ListOptions",
    "PatchOptions",
    "UpdateOptions",
    "WatchEvent",
];

/// Name of the kind of reviews.
const KIND: &str = "AdmissionReview";

/// A version of reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V1Beta1,
}

/// A review of one request.
pub(super) struct Review {
    version: Version,
    uid: String,
}

/// The decision of a webhook.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Decision {
    pub(super) allowed: bool,
    /// The reason of a refusal.
    pub(super) status: Option<Status>,
    /// The change of the object, as a JSON patch; empty if there is none.
    pub(super) patch: Vec<u8>,
    /// The type of the patch; empty if there is none.
    pub(super) patch_type: String,
    pub(super) audit_annotations: BTreeMap<String, String>,
    pub(super) warnings: Vec<String>,
}

/// An answer that is no decision.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadAnswer {
    /// It cannot be read as a review.
    Unreadable(String),
    /// It breaks the rules for reviews.
    Invalid(String),
}

impl Version {
    /// Returns the first of `accepted` that is known.
    pub(super) fn negotiate(accepted: &[String]) -> Result<Self, &'static str> {
        let known = accepted.iter().find_map(|version| match version.as_str() {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1Beta1),
            _ => None,
        });
        known.ok_or("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
    }

    const fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::V1 => GROUP_VERSIONS[0],
            Self::V1Beta1 => GROUP_VERSIONS[1],
        }
    }
}

impl Review {
    /// Returns the review of `request`, and its text.
    pub(super) fn new(version: Version, request: AdmissionRequest) -> (Self, Vec<u8>) {
        let uid = request.uid.clone();
        let mut body = Vec::with_capacity(1024);
        let request = Some(request);
        match version {
            Version::V1 => json::encode(
                &AdmissionReview {
                    request,
                    response: None,
                },
                &mut body,
            ),
            Version::V1Beta1 => json::encode(
                &v1beta1::AdmissionReview {
                    request,
                    response: None,
                },
                &mut body,
            ),
        }
        body.push(b'\n');
        (Self { version, uid }, body)
    }

    /// Reads the answer of a webhook of the given type.
    pub(super) fn decision(&self, answer: &[u8], webhook_type: WebhookType) -> Result<Decision, BadAnswer> {
        let unreadable = |why: &dyn std::fmt::Display| {
            BadAnswer::Unreadable(format!("couldn't get version/kind; json parse error: {why}"))
        };
        let answer = in_json(answer).map_err(BadAnswer::Unreadable)?;
        let answer = answer.as_ref();
        let meta = json::type_meta(answer).map_err(|error| unreadable(&error))?;
        self.check_kind(&meta).map_err(BadAnswer::Unreadable)?;
        let mut review = AdmissionReview::default();
        json::decode(answer, &mut review, Strictness::Lenient)
            .map_err(|error| BadAnswer::Unreadable(error.to_string()))?;
        let invalid = |why: String| Err(BadAnswer::Invalid(why));
        let Some(response) = review.response else {
            return invalid("webhook response was absent".to_owned());
        };
        if self.version == Version::V1Beta1 {
            return Ok(decision_of_beta(response, webhook_type));
        }
        if response.uid != self.uid {
            let (expected, uid) = (quote(&self.uid), quote(&response.uid));
            return invalid(format!("expected response.uid={expected}, got {uid}"));
        }
        let own = self.version.name().1;
        if (meta.api_version.as_str(), meta.kind.as_str()) != (own, KIND) {
            let GroupVersion { group, version } = GroupVersion::parse(&meta.api_version).unwrap_or_default();
            let kind = &meta.kind;
            return invalid(format!(
                "expected webhook response of {own}, Kind={KIND}, got {group}/{version}, Kind={kind}"
            ));
        }
        check_patch(&response, webhook_type).map_err(BadAnswer::Invalid)?;
        Ok(Decision {
            patch_type: response.patch_type.clone().unwrap_or_default(),
            ..decision_of(response)
        })
    }
}

impl Review {
    /// Checks that an answer is a review of this version; an absent kind or version is this one.
    fn check_kind(&self, meta: &TypeMeta) -> Result<(), String> {
        /// Name of the scheme that has the kinds of answers.
        const SCHEME: &str = "k8s.io/apiserver/pkg/util/webhook/client.go:71";
        let (name, own) = self.version.name();
        let sent = GroupVersion::parse(&meta.api_version).map_err(|error| error.to_string())?;
        let version = Some(sent.to_string()).filter(|version| !version.is_empty());
        let version = version.unwrap_or_else(|| own.to_owned());
        let kind = Some(meta.kind.as_str()).filter(|kind| !kind.is_empty());
        let kind = kind.unwrap_or(KIND);
        if (version.as_str(), kind) == (own, KIND) {
            return Ok(());
        }
        let is_version = GROUP_VERSIONS.iter().any(|(_, known)| *known == version);
        let known = match kind {
            KIND => other_version(self.version, &version),
            _ if UNVERSIONED.contains(&kind) || is_version && ACCOMPANYING.contains(&kind) => Some("v1"),
            _ => None,
        };
        Err(match known {
            Some(other) => format!("converting ({other}.{kind}) to ({name}.{KIND}): unknown conversion"),
            None => not_registered(kind, &version, SCHEME),
        })
    }
}

/// Returns an answer in JSON. As in kube-apiserver, whose client does not look at the media type, what does not begin like a JSON
/// object is YAML.
fn in_json(answer: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    match answer.trim_ascii_start().starts_with(b"{") {
        true => Ok(Cow::Borrowed(answer)),
        false => {
            let document = yaml::to_json(answer).map_err(|error| error.to_string())?;
            Ok(Cow::Owned(document.json))
        }
    }
}

/// Returns the name of a known version of reviews that is not `own`.
fn other_version(own: Version, api_version: &str) -> Option<&'static str> {
    let mut others = GROUP_VERSIONS.iter().filter(|version| **version != own.name());
    others.find(|(_, other)| *other == api_version).map(|(name, _)| *name)
}

/// Checks the rules of `v1`: a patch comes with its type, and only from webhooks that may change objects.
fn check_patch(response: &AdmissionResponse, webhook_type: WebhookType) -> Result<(), String> {
    let has_patch = !response.patch.is_empty();
    let problem = match (webhook_type, has_patch, response.patch_type.as_deref()) {
        (Validating, true, _) => "validating webhook may not return response.patch",
        (Validating, _, Some(_)) => "validating webhook may not return response.patchType",
        (Mutating, true, None) => "webhook returned response.patch but not response.patchType",
        (Mutating, false, Some(_)) => "webhook returned response.patchType but not response.patch",
        (Mutating, true, Some("")) => r#"webhook returned invalid response.patchType of """#,
        _ => return Ok(()),
    };
    Err(problem.to_owned())
}

/// Version v1beta1 has no rules about patches: each counts as a JSON patch.
fn decision_of_beta(response: AdmissionResponse, webhook_type: WebhookType) -> Decision {
    let decision = decision_of(response);
    match webhook_type == Mutating && !decision.patch.is_empty() {
        true => Decision {
            patch_type: "JSONPatch".to_owned(),
            ..decision
        },
        false => Decision {
            patch: Vec::new(),
            ..decision
        },
    }
}

fn decision_of(response: AdmissionResponse) -> Decision {
    Decision {
        allowed: response.allowed,
        status: response.status,
        patch: response.patch.0,
        patch_type: String::new(),
        audit_annotations: response.audit_annotations,
        warnings: response.warnings,
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::raw::RawExtension;
    use serde_json::{Value, json};

    use super::*;

    fn new_review(version: Version) -> (Review, Vec<u8>) {
        let request = AdmissionRequest {
            uid: "u".to_owned(),
            name: "n".to_owned(),
            operation: "CREATE".to_owned(),
            object: RawExtension::from_compact(br#"{"kind":"K","a":1}"#.to_vec()),
            dry_run: Some(false),
            ..AdmissionRequest::default()
        };
        Review::new(version, request)
    }

    fn review(version: Version) -> Review {
        new_review(version).0
    }

    fn answer(api_version: &str, response: &Value) -> Vec<u8> {
        let answer = json!({"apiVersion": api_version, "kind": "AdmissionReview", "response": response});
        answer.to_string().into_bytes()
    }

    fn invalid(answer: &[u8], webhook_type: WebhookType) -> String {
        match review(Version::V1).decision(answer, webhook_type) {
            Err(BadAnswer::Invalid(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reviews_are_written_in_the_order_of_their_fields_on_a_line() {
        let (_, body) = new_review(Version::V1Beta1);
        let kind = r#"{"group":"","version":"","kind":""}"#;
        let resource = r#"{"group":"","version":"","resource":""}"#;
        let expected = format!(
            r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","request":{{"uid":"u","kind":{kind},"resource":{resource},"name":"n","operation":"CREATE","userInfo":{{}},"object":{{"kind":"K","a":1}},"oldObject":null,"dryRun":false,"options":null}}}}"#
        );
        assert_eq!(String::from_utf8(body).unwrap(), expected + "\n");
    }

    #[test]
    fn decisions_are_read() {
        let response = json!({"uid": "u", "allowed": true, "patch": "W10=", "patchType": "JSONPatch",
            "warnings": ["w"], "auditAnnotations": {"k": "v"}});
        let decision = review(Version::V1)
            .decision(&answer("admission.k8s.io/v1", &response), Mutating)
            .unwrap();
        assert!(decision.allowed);
        assert_eq!(
            (decision.patch.as_slice(), &*decision.patch_type),
            (&b"[]"[..], "JSONPatch")
        );
        assert_eq!(decision.warnings, ["w"]);
        assert_eq!(decision.audit_annotations["k"], "v");
    }

    #[test]
    fn answers_follow_the_rules_of_v1() {
        let at = |response: Value| answer("admission.k8s.io/v1", &response);
        let problem = |response: Value, webhook_type| invalid(&at(response), webhook_type);
        assert_eq!(invalid(b"{}", Mutating), "webhook response was absent");
        assert_eq!(
            problem(json!({"uid": "v"}), Mutating),
            r#"expected response.uid="u", got "v""#
        );
        assert_eq!(
            invalid(br#"{"response": {"uid": "u"}}"#, Mutating),
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="
        );
        assert_eq!(
            problem(json!({"uid": "u", "patch": "W10="}), Mutating),
            "webhook returned response.patch but not response.patchType"
        );
        assert_eq!(
            problem(json!({"uid": "u", "patch": "W10="}), Validating),
            "validating webhook may not return response.patch"
        );
        assert_eq!(
            problem(json!({"uid": "u", "patchType": "JSONPatch"}), Validating),
            "validating webhook may not return response.patchType"
        );
    }

    #[test]
    fn answers_may_be_yaml() {
        let answer = b"apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: {uid: u, allowed: true}\n";
        assert!(review(Version::V1).decision(answer, Mutating).unwrap().allowed);
        let Err(BadAnswer::Unreadable(why)) = review(Version::V1).decision(b"hello", Mutating) else {
            panic!("it is no review");
        };
        let expected = "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type \
                        struct { APIVersion string ";
        assert!(why.starts_with(expected), "{why}");
        assert_eq!(invalid(b"# nothing", Mutating), "webhook response was absent");
    }

    #[test]
    fn beta_reviews_have_no_rules() {
        let response = json!({"allowed": true, "patch": "W10="});
        let answer = json!({"response": response}).to_string().into_bytes();
        let decision = review(Version::V1Beta1).decision(&answer, Mutating).unwrap();
        assert_eq!(decision.patch_type, "JSONPatch");
        assert!(
            review(Version::V1Beta1)
                .decision(&answer, Validating)
                .unwrap()
                .patch
                .is_empty()
        );
    }

    #[test]
    fn answers_of_another_version_cannot_be_read() {
        let why = "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion".to_owned();
        let answer = answer("admission.k8s.io/v1beta1", &json!({"uid": "u"}));
        let read = review(Version::V1).decision(&answer, Mutating);
        assert_eq!(read, Err(BadAnswer::Unreadable(why)));
    }

    #[test]
    fn answers_of_kinds_beside_reviews_are_no_reviews() {
        for (kind, version) in [
            ("Status", "v1"),
            ("Status", "foo/v2"),
            ("APIGroupList", ""),
            ("DeleteOptions", "admission.k8s.io/v1beta1"),
        ] {
            let answer = json!({"kind": kind, "apiVersion": version, "status": "Success"});
            let why = format!("converting (v1.{kind}) to (v1.AdmissionReview): unknown conversion");
            let read = review(Version::V1).decision(answer.to_string().as_bytes(), Mutating);
            assert_eq!(read, Err(BadAnswer::Unreadable(why)));
        }
    }

    #[test]
    fn answers_of_another_kind_cannot_be_read() {
        let scheme = "k8s.io/apiserver/pkg/util/webhook/client.go:71";
        let cases = [
            (json!({"kind": "Foo"}), "Foo", "admission.k8s.io/v1"),
            (
                json!({"kind": "AdmissionReview", "apiVersion": "foo/v1"}),
                "AdmissionReview",
                "foo/v1",
            ),
        ];
        for (answer, kind, version) in cases {
            let why = format!("no kind \"{kind}\" is registered for version \"{version}\" in scheme \"{scheme}\"");
            let read = review(Version::V1).decision(answer.to_string().as_bytes(), Mutating);
            assert_eq!(read, Err(BadAnswer::Unreadable(why)));
        }
    }

    #[test]
    fn the_first_known_version_is_spoken() {
        let negotiate = |accepted: &[&str]| {
            let accepted: Vec<String> = accepted.iter().map(|version| (*version).to_owned()).collect();
            Version::negotiate(&accepted)
        };
        assert_eq!(negotiate(&["v2", "v1beta1", "v1"]), Ok(Version::V1Beta1));
        assert!(negotiate(&["v2"]).is_err());
    }
}
