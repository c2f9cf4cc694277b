//! The claims of a token.

use serde::{Deserialize, Deserializer, Serialize};

/// The claims of a token, in kube-apiserver's field order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The audiences; the API server if empty.
    #[serde(
        rename = "aud",
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "one_or_many"
    )]
    pub audiences: Vec<String>,
    /// The expiry, in Unix seconds; `None` for a token that never expires.
    #[serde(rename = "exp", skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// The time of issue, in Unix seconds.
    #[serde(rename = "iat", default)]
    pub issued_at: i64,
    /// The issuer; filled in by [`TokenIssuer`](super::TokenIssuer).
    #[serde(rename = "iss", default)]
    pub issuer: String,
    /// The unique token ID.
    #[serde(rename = "jti", default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The account and the bound objects.
    #[serde(rename = "kubernetes.io", default)]
    pub private: Private,
    /// The start of validity, in Unix seconds.
    #[serde(rename = "nbf", default)]
    pub not_before: i64,
    /// The user name.
    #[serde(rename = "sub", default)]
    pub subject: String,
}

/// The account of a token and the objects to which it is bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Private {
    /// The namespace of the account, the pod and the secret.
    #[serde(default)]
    pub namespace: String,
    /// The node to which the token is bound, or on which its pod runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Reference>,
    /// The pod to which the token is bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<Reference>,
    /// The secret to which the token is bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Reference>,
    /// The service account.
    #[serde(rename = "serviceaccount", default)]
    pub service_account: Reference,
    /// The time after which clients should use a new token, in Unix seconds.
    #[serde(rename = "warnafter", skip_serializing_if = "Option::is_none")]
    pub warn_after: Option<i64>,
}

/// A reference to an object by name and UID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// UID.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

/// The kinds of objects to which tokens can be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The token's account; every token is bound to it.
    ServiceAccount,
    /// A pod.
    Pod,
    /// A secret.
    Secret,
    /// A node.
    Node,
}

impl Bound {
    /// Returns the word at the start of error messages.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Bound::ServiceAccount => "service account",
            Bound::Pod => "pod",
            Bound::Secret => "secret",
            Bound::Node => "node",
        }
    }
}

/// Accepts a single audience without a list.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Audiences {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Audiences::deserialize(deserializer)? {
        Audiences::One(audience) => vec![audience],
        Audiences::Many(audiences) => audiences,
    })
}
