//! A token for a service account, please.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;
use planesmith_machinery::time::Time;

/// Seconds that a token must live at least: clocks differ, and renewing costs.
const SHORTEST: i64 = 10 * 60;
/// Seconds that a token may live at most.
const LONGEST: i64 = 1 << 32;
/// Seconds that a token lives when nothing is said of it.
const USUAL: i64 = 60 * 60;

/// Asks for a token of a service account.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1", create_only, unserved, rules)]
pub struct TokenRequest {
    /// Standard metadata; name, namespace and UID are those of the service account.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Audiences, lifetime and bound object of the requested token.
    #[field(proto = 2, keep, optional)]
    pub spec: TokenRequestSpec,
    /// The token.
    #[field(proto = 3)]
    pub status: TokenRequestStatus,
}

/// Audiences, lifetime and bound object of a requested token.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenRequestSpec {
    /// Audiences of the token. Recipients outside of these audiences must refuse it. The API server when empty.
    #[field(proto = 1, keep, optional, list_type = atomic)]
    pub audiences: Vec<String>,
    /// Seconds that the token is wanted for; it may turn out to live shorter or longer.
    #[field(proto = 4, keep, optional)]
    pub expiration_seconds: Option<i64>,
    /// An object with which the token ends: when it is deleted, the token is no longer valid.
    #[field(proto = 3, keep, optional)]
    pub bound_object_ref: Option<BoundObjectReference>,
}

/// An object with which a token ends.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct BoundObjectReference {
    /// Kind: Pod, Secret or Node.
    #[field(proto = 1)]
    pub kind: String,
    /// API version of the kind.
    #[field(proto = 2)]
    pub api_version: String,
    /// Name.
    #[field(proto = 3)]
    pub name: String,
    /// UID; when given, an object of this name must have it.
    #[field(proto = 4, go_type = "types.UID")]
    pub uid: String,
}

/// A token that was made.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenRequestStatus {
    /// The token.
    #[field(proto = 1, keep, optional)]
    pub token: String,
    /// Time when the token expires.
    #[field(proto = 2, keep, optional)]
    pub expiration_timestamp: Time,
}

impl Rules for TokenRequest {
    fn default_values(&mut self) {
        self.spec.expiration_seconds.get_or_insert(USUAL);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let Some(seconds) = self.spec.expiration_seconds else {
            return;
        };
        if seconds < SHORTEST {
            let problem = "may not specify a duration less than 10 minutes";
            errors.invalid("spec.expirationSeconds", seconds, problem);
        }
        if seconds > LONGEST {
            let problem = "may not specify a duration larger than 2^32 seconds";
            errors.invalid("spec.expirationSeconds", seconds, problem);
        }
    }
}
