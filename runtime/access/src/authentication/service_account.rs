//! Tokens of service accounts: signed JWTs that are bound to objects.
//!
//! Reading order: `claims` (the content of a token), `keys` (signing keys), `key_ring` (all keys of a server), then signing and
//! verification here; and `legacy`, the older kind of tokens, which are stored in secrets.

mod claims;
mod critical;
mod external;
mod key_der;
mod key_ring;
mod keys;
mod legacy;
mod signatures;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::{Header, Validation};
use planesmith_machinery::clock::Clock;
use planesmith_machinery::names;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use claims::{Bound, Claims, Private, Reference};
pub use external::ExternalSigner;
pub use key_ring::KeyRing;
pub use keys::{KeyError, KeyGenerator, PublicKey, SigningKey, key_set, key_set_document};
pub use legacy::{LegacyClaims, LegacyTokens, TokenSecret, TokenSecrets};

use self::key_ring::Signer;
use super::token::common;
use super::{Remarks, TokenAuthenticator, TokenUser, TokenVerdict, authenticated};
use crate::outcome::Outcome;
use crate::user::UserInfo;

/// The prefix of all service account user names.
const USER_PREFIX: &str = "system:serviceaccount:";
/// The group of all service accounts.
const ALL_ACCOUNTS: &str = "system:serviceaccounts";
/// The extra attribute with the node name of the pod to which the token is bound.
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
/// The reason to reject a token with an unknown signature, or whose header requests something unsupported.
const UNVERIFIED: &str = "go-jose/go-jose: error in cryptographic primitive";
/// The tolerated clock skew, in seconds.
const LEEWAY: i64 = 60;

/// Signs service account tokens.
#[derive(Debug)]
pub struct TokenIssuer {
    issuer: String,
    keys: KeyRing,
}

/// The reason why a token cannot be signed.
#[derive(Debug, Error)]
pub enum SignError {
    /// The signing key is unavailable.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The token cannot be encoded.
    #[error(transparent)]
    Token(#[from] jsonwebtoken::errors::Error),
    /// The external signer did not sign the token.
    #[error("{0}")]
    External(String),
    /// The token would not expire, and the external signer limits lifetimes.
    #[error("--service-account-signing-endpoint signs no tokens that do not expire")]
    Endless,
}

/// Read access to the objects to which tokens are bound.
pub trait BoundObjects: Send + Sync + fmt::Debug {
    /// Returns the object; `None` if it does not exist.
    fn find(&self, bound: Bound, namespace: &str, name: &str) -> Option<BoundObject>;
}

/// A use of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenUse {
    /// A token that is bound to objects.
    Valid,
    /// The same, after the time at which its client should have replaced it.
    Stale,
    /// A token that is stored in a secret, before the secret is compared.
    Legacy,
    /// A token in a secret that the account lists, as older controllers made them for each account.
    Generated,
    /// A token in a secret that a user made.
    Manual,
    /// A token in a secret that is marked as invalid.
    Invalidated,
}

/// Counts the uses of tokens. Each is counted when it is verified, not while its result is cached.
pub trait TokenUses: Send + Sync + fmt::Debug {
    /// Counts one.
    fn used(&self, token: TokenUse);
}

/// Counts nothing.
impl TokenUses for () {
    fn used(&self, _: TokenUse) {}
}

/// An object to which tokens are bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundObject {
    /// The UID of the object.
    pub uid: String,
    /// The deletion time, past or future, in Unix seconds; `None` if the object is not being deleted.
    pub deleted: Option<i64>,
}

/// Authenticates service account tokens; cheap to clone.
#[derive(Clone)]
pub struct ServiceAccountTokens {
    /// The accepted issuers; tokens of other issuers are left to other authenticators.
    pub issuers: Vec<String>,
    /// The keys that verify signatures.
    pub keys: KeyRing,
    /// The audiences of this server, which also apply to tokens without an audience.
    pub audiences: Vec<String>,
    /// Read access to accounts, pods, secrets and nodes.
    pub objects: Arc<dyn BoundObjects>,
    /// Counts the tokens.
    pub uses: Arc<dyn TokenUses>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl TokenIssuer {
    /// Creates an issuer that signs with the key of `keys` in the name of `issuer`.
    #[must_use]
    pub fn new(issuer: impl Into<String>, keys: KeyRing) -> Self {
        Self {
            issuer: issuer.into(),
            keys,
        }
    }

    /// Signs a token with `claims`. The result is pending if an external signer signs it.
    pub fn sign(&self, claims: Claims) -> Outcome<'static, Result<String, SignError>> {
        let claims = Claims {
            issuer: self.issuer.clone(),
            ..claims
        };
        let signed = self
            .keys
            .signer()
            .map_err(SignError::from)
            .and_then(|signer| match signer {
                Signer::Key(key) => Ok(Outcome::Ready(encode(&claims, key))),
                Signer::External(signer) => Ok(Outcome::Pending(external::sign(signer, &claims)?)),
            });
        signed.unwrap_or_else(|error| Outcome::Ready(Err(error)))
    }
}

fn encode(claims: &impl Serialize, key: &SigningKey) -> Result<String, SignError> {
    signatures::install();
    let mut header = Header::new(key.public().algorithm());
    header.typ = None;
    header.kid = Some(key.public().id().to_owned());
    Ok(jsonwebtoken::encode(&header, claims, key.encoding())?)
}

impl TokenAuthenticator for ServiceAccountTokens {
    fn authenticate_token(&self, token: &str, audiences: &[String]) -> Outcome<'static, TokenVerdict> {
        if !is_issued_by(token, &self.issuers) {
            return Outcome::Ready(TokenVerdict::NoOpinion);
        }
        check_with_keys(self, &self.keys, (token, audiences), Self::check)
    }
}

impl ServiceAccountTokens {
    fn check(&self, token: &str, wanted: &[String]) -> Result<TokenUser, String> {
        let claims: Claims = verify(token, &self.keys.public())?;
        let audiences = meant_for(&claims.audiences, &self.audiences, wanted)?;
        self.check_times(&claims)?;
        self.check_objects(&claims.private)?;
        Ok(TokenUser {
            audiences: Some(audiences),
            until: claims.expires.and_then(end_of),
            remarks: self.remarks(&claims).map(Arc::new),
            ..TokenUser::of(authenticated(user_of(&claims)))
        })
    }

    /// Counts the use of a token. Returns a remark about one that its client should have replaced.
    fn remarks(&self, claims: &Claims) -> Option<Remarks> {
        let overdue = claims.private.warn_after.map(|warn_after| self.now() - warn_after);
        let Some(overdue) = overdue.filter(|overdue| *overdue > 0) else {
            self.uses.used(TokenUse::Valid);
            return None;
        };
        self.uses.used(TokenUse::Stale);
        let subject = service_account_name(&claims.private.namespace, &claims.private.service_account.name);
        let note = format!("subject: {subject}, seconds after warning threshold: {overdue}");
        Some(Remarks {
            annotations: vec![("authentication.k8s.io/stale-token", note)],
            warnings: Vec::new(),
        })
    }

    fn now(&self) -> i64 {
        let since = self.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    fn check_times(&self, claims: &Claims) -> Result<(), String> {
        let now = self.now();
        let latest = now.saturating_add(LEEWAY);
        let problem = match claims {
            Claims { not_before, .. } if latest < *not_before => "is not valid yet",
            Claims { expires: Some(end), .. } if now - LEEWAY > *end => "has expired",
            Claims { issued_at, .. } if latest < *issued_at => "is issued in the future",
            _ => return Ok(()),
        };
        Err(format!("service account token {problem}"))
    }

    /// Checks that the account and the bound objects still exist.
    fn check_objects(&self, private: &Private) -> Result<(), String> {
        let (namespace, account) = (private.namespace.as_str(), &private.service_account);
        let found = self.objects.find(Bound::ServiceAccount, namespace, &account.name);
        let found = found.ok_or_else(|| format!("serviceaccounts \"{}\" not found", account.name))?;
        if found.uid != account.uid {
            let (own, claimed) = (&found.uid, &account.uid);
            return Err(format!("service account UID ({own}) does not match claim ({claimed})"));
        }
        if self.is_deleted(&found) {
            return Err(format!("service account {namespace}/{} has been deleted", account.name));
        }
        let node = private.node.as_ref().filter(|_| private.pod.is_none());
        let bound = [
            (Bound::Secret, private.secret.as_ref(), "secret"),
            (Bound::Pod, private.pod.as_ref(), "pod"),
            (Bound::Node, node, "node"),
        ];
        for (kind, reference, noun) in bound {
            let Some(reference) = reference else { continue };
            let invalidated = || "service account token has been invalidated".to_owned();
            let found = self
                .objects
                .find(kind, namespace, &reference.name)
                .ok_or_else(invalidated)?;
            if found.uid != reference.uid {
                return Err(format!(
                    "{} UID ({}) does not match service account {noun} ref claim ({})",
                    kind.title(),
                    found.uid,
                    reference.uid
                ));
            }
            if self.is_deleted(&found) {
                return Err(invalidated());
            }
        }
        Ok(())
    }

    fn is_deleted(&self, object: &BoundObject) -> bool {
        object.deleted.is_some_and(|deleted| deleted < self.now() - LEEWAY)
    }
}

/// Returns the time at which a token with expiry `seconds` becomes invalid; `None` if it is not representable.
fn end_of(seconds: i64) -> Option<SystemTime> {
    let last = u64::try_from(seconds.saturating_add(LEEWAY)).unwrap_or(0);
    UNIX_EPOCH.checked_add(Duration::from_secs(last.saturating_add(1)))
}

/// Returns the verdict about a token of an accepted issuer.
/// Checks a token for its audiences, after the keys of an external signer are read again if none is the one that the token names.
fn check_with_keys<T: Clone + Send + 'static>(
    authenticator: &T,
    keys: &KeyRing,
    (token, audiences): (&str, &[String]),
    check: fn(&T, &str, &[String]) -> Result<TokenUser, String>,
) -> Outcome<'static, TokenVerdict> {
    let Some(refreshed) = keys.refresh_for(token) else {
        return Outcome::Ready(verdict(check(authenticator, token, audiences)));
    };
    let (authenticator, token, audiences) = (authenticator.clone(), token.to_owned(), audiences.to_vec());
    Outcome::pending(async move {
        refreshed.await;
        verdict(check(&authenticator, &token, &audiences))
    })
}

fn verdict(checked: Result<TokenUser, String>) -> TokenVerdict {
    match checked {
        Ok(user) => TokenVerdict::Valid(user),
        Err(reason) => TokenVerdict::Invalid(reason),
    }
}

/// True if the token's unverified issuer is one of `issuers`.
fn is_issued_by(token: &str, issuers: &[impl AsRef<str>]) -> bool {
    #[derive(Deserialize)]
    struct Issued {
        #[serde(default)]
        iss: String,
    }
    token.split('.').count() == 3
        && jsonwebtoken::decode_header(token).is_ok()
        && jsonwebtoken::dangerous::insecure_decode_claims::<Issued>(token)
            .is_ok_and(|issued| issuers.iter().any(|issuer| issuer.as_ref() == issued.iss))
}

/// Verifies the signature with any of `keys` and returns the claims.
fn verify<C: DeserializeOwned + Clone>(token: &str, keys: &[PublicKey]) -> Result<C, String> {
    let header = jsonwebtoken::decode_header(token).map_err(|error| error.to_string())?;
    if critical::is_unsupported(token) {
        return Err(UNVERIFIED.to_owned());
    }
    signatures::install();
    let fits = |key: &&PublicKey| header.kid.as_deref().is_none_or(|id| id.is_empty() || id == key.id());
    let mut keys = keys.iter().filter(fits).peekable();
    if keys.peek().is_none() {
        return Err("invalid signature, no keys found".to_owned());
    }
    keys.find_map(|key| {
        let mut validation = Validation::new(key.algorithm());
        // Times and audiences are verified here, with the error texts of kube-apiserver.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        let verified = jsonwebtoken::decode::<C>(token, key.decoding(), &validation);
        verified.ok().map(|verified| verified.claims)
    })
    .ok_or_else(|| UNVERIFIED.to_owned())
}

/// Returns the audiences in `wanted` that match the token's audiences `own`, which default to those of the server.
fn meant_for(own: &[String], server: &[String], wanted: &[String]) -> Result<Vec<String>, String> {
    let own = if own.is_empty() { server } else { own };
    let audiences = match wanted {
        [] => own.to_vec(),
        wanted => common(own, wanted),
    };
    if audiences.is_empty() && !server.is_empty() {
        let (own, wanted) = (rendered(own), rendered(wanted));
        return Err(format!(
            "token audiences {own} is invalid for the target audiences {wanted}"
        ));
    }
    Ok(audiences)
}

/// Returns the user of a token.
fn user_of(claims: &Claims) -> UserInfo {
    let private = &claims.private;
    let mut user = service_account_user(&private.namespace, &private.service_account.name);
    user.uid.clone_from(&private.service_account.uid);
    let mut extra = |name: &str, value: String| {
        user.extra
            .insert(format!("authentication.kubernetes.io/{name}"), vec![value]);
    };
    if !claims.id.is_empty() {
        extra("credential-id", format!("JTI={}", claims.id));
    }
    for (reference, noun) in [(&private.pod, "pod"), (&private.node, "node")] {
        let Some(reference) = reference else { continue };
        extra(&format!("{noun}-name"), reference.name.clone());
        if !reference.uid.is_empty() || noun == "pod" {
            extra(&format!("{noun}-uid"), reference.uid.clone());
        }
    }
    user
}

/// Returns the user of a service account, without the attributes that only a token provides.
#[must_use]
pub fn service_account_user(namespace: &str, name: &str) -> UserInfo {
    UserInfo {
        name: service_account_name(namespace, name),
        groups: vec![ALL_ACCOUNTS.to_owned(), format!("{ALL_ACCOUNTS}:{namespace}")],
        ..UserInfo::default()
    }
}

/// Returns the user name of a service account.
#[must_use]
pub fn service_account_name(namespace: &str, name: &str) -> String {
    format!("{USER_PREFIX}{namespace}:{name}")
}

/// Splits the user name of a service account into namespace and name; `None` for other users.
#[must_use]
pub fn split_service_account_name(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(USER_PREFIX)?.split_once(':')?;
    let is_well_formed = names::dns_label(namespace).is_empty() && names::dns_subdomain(name).is_empty();
    is_well_formed.then_some((namespace, name))
}

/// Returns the node of the pod to which the user's token is bound; `None` for other users.
#[must_use]
pub fn node_of_pod(user: &UserInfo) -> Option<&str> {
    split_service_account_name(&user.name)?;
    match user.extra.get(NODE_NAME)?.as_slice() {
        [node] => Some(node),
        _ => None,
    }
}

/// Renders a list of strings as Go prints it.
fn rendered(list: &[String]) -> String {
    let quoted: Vec<String> = list
        .iter()
        .map(|text| planesmith_machinery::go_format::quote(text))
        .collect();
    format!("[{}]", quoted.join(" "))
}

impl fmt::Debug for ServiceAccountTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccountTokens")
            .field("issuers", &self.issuers)
            .field("audiences", &self.audiences)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
