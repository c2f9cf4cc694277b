//! Requests for tokens of service accounts.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::time::Time;

/// Minimum lifetime of a token in seconds, because of clock skew and the cost of renewals.
const MIN_LIFETIME: i64 = 10 * 60;
/// Maximum lifetime of a token in seconds.
const MAX_LIFETIME: i64 = 1 << 32;
/// Default lifetime of a token in seconds.
const USUAL: i64 = 60 * 60;

/// Requests a token of a service account.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1", create_only, unserved, strategy)]
pub struct TokenRequest {
    /// Standard metadata. Name, namespace and UID are those of the service account.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Audiences, lifetime and bound object of the requested token.
    #[field(proto = 2, keep, optional)]
    pub spec: TokenRequestSpec,
    /// The issued token.
    #[field(proto = 3)]
    pub status: TokenRequestStatus,
}

/// Audiences, lifetime and bound object of a requested token.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenRequestSpec {
    /// Audiences of the token. Recipients outside of these audiences must refuse it. The API server when empty.
    #[field(proto = 1, keep, optional, list_type = atomic)]
    pub audiences: Vec<String>,
    /// Requested lifetime of the token in seconds. The actual lifetime may differ.
    #[field(proto = 4, keep, optional)]
    pub expiration_seconds: Option<i64>,
    /// Object that the token is bound to. The token becomes invalid when the object is deleted.
    #[field(proto = 3, keep, optional)]
    pub bound_object_ref: Option<BoundObjectReference>,
}

/// The object that a token is bound to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct BoundObjectReference {
    /// Kind of the object: Pod, Secret or Node.
    #[field(proto = 1)]
    pub kind: String,
    /// API version of the kind.
    #[field(proto = 2)]
    pub api_version: String,
    /// Name of the object.
    #[field(proto = 3)]
    pub name: String,
    /// UID of the object. If set, the object of this name must have it.
    #[field(proto = 4, go_type = "types.UID")]
    pub uid: String,
}

/// An issued token.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenRequestStatus {
    /// The token.
    #[field(proto = 1, keep, optional)]
    pub token: String,
    /// Time when the token expires.
    #[field(proto = 2, keep, optional)]
    pub expiration_timestamp: Time,
}

impl Strategy for TokenRequest {
    fn set_defaults(&mut self) {
        self.spec.expiration_seconds.get_or_insert(USUAL);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let Some(seconds) = self.spec.expiration_seconds else {
            return;
        };
        if seconds < MIN_LIFETIME {
            let problem = "may not specify a duration less than 10 minutes";
            errors.invalid("spec.expirationSeconds", seconds, problem);
        }
        if seconds > MAX_LIFETIME {
            let problem = "may not specify a duration larger than 2^32 seconds";
            errors.invalid("spec.expirationSeconds", seconds, problem);
        }
    }
}
