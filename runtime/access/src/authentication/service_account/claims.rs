//! What a token states.

use serde::{Deserialize, Deserializer, Serialize};

/// What a token states, in the order in which kube-apiserver writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Whom the token is meant for; the API server when empty.
    #[serde(
        rename = "aud",
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "one_or_many"
    )]
    pub audiences: Vec<String>,
    /// When it ends, in seconds since 1970; never when absent.
    #[serde(rename = "exp", skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// When it was made, in seconds since 1970.
    #[serde(rename = "iat", default)]
    pub issued_at: i64,
    /// Who made it; filled in by the issuer.
    #[serde(rename = "iss", default)]
    pub issuer: String,
    /// Its name.
    #[serde(rename = "jti", default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Whose it is and what it ends with.
    #[serde(rename = "kubernetes.io", default)]
    pub private: Private,
    /// From when on it is valid, in seconds since 1970.
    #[serde(rename = "nbf", default)]
    pub not_before: i64,
    /// The user name.
    #[serde(rename = "sub", default)]
    pub subject: String,
}

/// Whose a token is and what it ends with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Private {
    /// Namespace of the account, and of pod and secret.
    #[serde(default)]
    pub namespace: String,
    /// The node that the token ends with, or that its pod runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Reference>,
    /// The pod that the token ends with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<Reference>,
    /// The secret that the token ends with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Reference>,
    /// The account.
    #[serde(rename = "serviceaccount", default)]
    pub service_account: Reference,
    /// When a client should have asked for a new token, in seconds since 1970.
    #[serde(rename = "warnafter", skip_serializing_if = "Option::is_none")]
    pub warn_after: Option<i64>,
}

/// An object by name and UID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// UID.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

/// What a token can end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Its account; every token does.
    ServiceAccount,
    /// A pod.
    Pod,
    /// A secret.
    Secret,
    /// A node.
    Node,
}

impl Bound {
    /// The word that messages start with.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Bound::ServiceAccount => "service account",
            Bound::Pod => "pod",
            Bound::Secret => "secret",
            Bound::Node => "node",
        }
    }
}

/// A single audience may stand alone.
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
