//! Legacy tokens, which are stored in secrets: they do not expire, and are valid as long as their secret exists.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::key_ring::Signer;
use super::{
    Bound, BoundObject, BoundObjects, KeyRing, SignError, TokenIssuer, TokenUse, TokenUses, check_with_keys, encode,
    is_issued_by, meant_for, service_account_name, service_account_user, verify,
};
use crate::authentication::{Remarks, TokenAuthenticator, TokenUser, TokenVerdict, authenticated};
use crate::outcome::Outcome;
use crate::secret;

/// The issuer of legacy tokens, independent of the server's issuers.
const ISSUER: &str = "kubernetes/serviceaccount";

/// The label of a secret with an invalidated token.
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";

/// The warning for a token in a secret that no user requested, in kube-apiserver's words.
const GENERATED: &str = "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated \
                         secret-based tokens.";

/// The claims of a legacy token, in kube-controller-manager's field order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LegacyClaims {
    /// The issuer; filled in by [`TokenIssuer`].
    #[serde(rename = "iss")]
    pub issuer: String,
    /// The namespace of account and secret.
    #[serde(rename = "kubernetes.io/serviceaccount/namespace")]
    pub namespace: String,
    /// The name of the secret.
    #[serde(rename = "kubernetes.io/serviceaccount/secret.name")]
    pub secret: String,
    /// The name of the account.
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.name")]
    pub account: String,
    /// The UID of the account.
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid")]
    pub account_uid: String,
    /// The user name; filled in by [`TokenIssuer`].
    #[serde(rename = "sub")]
    pub subject: String,
}

/// A secret with a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenSecret {
    /// The token in the secret.
    pub token: Vec<u8>,
    /// True if the secret is being deleted.
    pub is_deleted: bool,
    /// True if the token is marked as invalid.
    pub is_invalid: bool,
    /// True if the account lists the secret, as older controllers made one for each account.
    pub is_generated: bool,
}

/// Access to secrets with tokens.
pub trait TokenSecrets: Send + Sync + fmt::Debug {
    /// Returns the secret; `None` if it does not exist.
    fn find(&self, namespace: &str, name: &str) -> Option<TokenSecret>;

    /// Records the use of a secret's token.
    fn note_use(&self, namespace: &str, name: &str);
}

/// Authenticates legacy tokens; cheap to clone.
#[derive(Clone)]
pub struct LegacyTokens {
    /// The keys that verify signatures.
    pub keys: KeyRing,
    /// The audiences of this server, which are those of legacy tokens.
    pub audiences: Vec<String>,
    /// Read access to accounts.
    pub objects: Arc<dyn BoundObjects>,
    /// Access to the secrets; `None` trusts the signature alone, even if the secret or the account is deleted.
    pub secrets: Option<Arc<dyn TokenSecrets>>,
    /// Counts the tokens.
    pub uses: Arc<dyn TokenUses>,
}

impl TokenIssuer {
    /// True if the issuer signs legacy tokens, which do not expire: an external signer signs none.
    #[must_use]
    pub fn signs_legacy(&self) -> bool {
        !self.keys.is_external()
    }

    /// Signs a legacy token with `claims`.
    ///
    /// # Errors
    ///
    /// The key is unavailable or external, or the token cannot be encoded.
    pub fn sign_legacy(&self, claims: LegacyClaims) -> Result<String, SignError> {
        let claims = LegacyClaims {
            issuer: ISSUER.to_owned(),
            subject: service_account_name(&claims.namespace, &claims.account),
            ..claims
        };
        match self.keys.signer()? {
            Signer::Key(key) => encode(&claims, key),
            Signer::External(_) => Err(SignError::Endless),
        }
    }
}

impl TokenAuthenticator for LegacyTokens {
    fn authenticate_token(&self, token: &str, audiences: &[String]) -> Outcome<'static, TokenVerdict> {
        if !is_issued_by(token, &[ISSUER]) {
            return Outcome::Ready(TokenVerdict::NoOpinion);
        }
        check_with_keys(self, &self.keys, (token, audiences), Self::check)
    }
}

impl LegacyTokens {
    fn check(&self, token: &str, wanted: &[String]) -> Result<TokenUser, String> {
        let claims: LegacyClaims = verify(token, &self.keys.public())?;
        let audiences = meant_for(&[], &self.audiences, wanted)?;
        self.uses.used(TokenUse::Legacy);
        claims.check()?;
        let LegacyClaims {
            namespace,
            secret,
            account,
            ..
        } = &claims;
        let secrets = self.secrets.as_deref();
        let found = secrets.map(|secrets| self.check_secret(secrets, &claims, token));
        let remarks = found.transpose()?.map(|found| self.remarks(&found, secret));
        let mut user = service_account_user(namespace, account);
        user.uid.clone_from(&claims.account_uid);
        Ok(TokenUser {
            audiences: Some(audiences),
            remarks: remarks.map(Arc::new),
            ..TokenUser::of(authenticated(user))
        })
    }

    /// Returns the secret that holds `token`, unless it or the account is deleted or invalid. Records the use.
    fn check_secret(
        &self,
        secrets: &dyn TokenSecrets,
        claims: &LegacyClaims,
        token: &str,
    ) -> Result<TokenSecret, String> {
        let LegacyClaims {
            namespace,
            secret,
            account,
            ..
        } = claims;
        let invalidated = || "Token has been invalidated".to_owned();
        let found = secrets.find(namespace, secret).ok_or_else(invalidated)?;
        if found.is_deleted {
            return Err(invalidated());
        }
        if !secret::equals(&found.token, token.as_bytes()) {
            return Err("Token does not match server's copy".to_owned());
        }
        self.check_account(claims)?;
        secrets.note_use(namespace, secret);
        if found.is_invalid {
            self.uses.used(TokenUse::Invalidated);
            return Err(format!(
                "the token in secret {namespace}/{secret} for service account {namespace}/{account} has been marked invalid. \
                 Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the \
                 '{INVALID_SINCE}' label from the secret to temporarily allow use of this token"
            ));
        }
        Ok(found)
    }

    /// Counts the use of a token in a secret, and returns remarks about it.
    fn remarks(&self, found: &TokenSecret, secret: &str) -> Remarks {
        let (token, annotation, warnings) = if found.is_generated {
            (
                TokenUse::Generated,
                "authentication.k8s.io/legacy-token-autogenerated-secret",
                vec![GENERATED],
            )
        } else {
            (
                TokenUse::Manual,
                "authentication.k8s.io/legacy-token-manual-secret",
                Vec::new(),
            )
        };
        self.uses.used(token);
        Remarks {
            annotations: vec![(annotation, secret.to_owned())],
            warnings,
        }
    }

    fn check_account(&self, claims: &LegacyClaims) -> Result<(), String> {
        let LegacyClaims {
            namespace,
            account,
            account_uid,
            ..
        } = claims;
        let found = self.objects.find(Bound::ServiceAccount, namespace, account);
        let BoundObject { uid, deleted } = found.ok_or_else(|| format!("serviceaccounts \"{account}\" not found"))?;
        if deleted.is_some() {
            return Err(format!("ServiceAccount {namespace}/{account} has been deleted"));
        }
        if uid != *account_uid {
            return Err(format!(
                "ServiceAccount UID ({uid}) does not match claim ({account_uid})"
            ));
        }
        Ok(())
    }
}

impl LegacyClaims {
    /// Refuses incomplete claims.
    fn check(&self) -> Result<(), String> {
        for (claim, name) in [
            (&self.subject, "sub"),
            (&self.namespace, "namespace"),
            (&self.secret, "secretName"),
            (&self.account, "serviceAccountName"),
            (&self.account_uid, "serviceAccountUID"),
        ] {
            if claim.is_empty() {
                return Err(format!("{name} claim is missing"));
            }
        }
        if self.subject != service_account_name(&self.namespace, &self.account) {
            return Err("sub claim is invalid".to_owned());
        }
        Ok(())
    }
}

impl fmt::Debug for LegacyTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LegacyTokens")
            .field("audiences", &self.audiences)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::authentication::service_account::SigningKey;

    /// A single account and a single secret.
    #[derive(Debug, Default)]
    struct One {
        secret: Mutex<Option<TokenSecret>>,
        used: Mutex<Vec<String>>,
    }

    impl BoundObjects for One {
        fn find(&self, _: Bound, _: &str, name: &str) -> Option<BoundObject> {
            (name == "bot").then(|| BoundObject {
                uid: "uid".to_owned(),
                deleted: None,
            })
        }
    }

    impl TokenSecrets for One {
        fn find(&self, _: &str, _: &str) -> Option<TokenSecret> {
            self.secret.lock().unwrap().clone()
        }

        fn note_use(&self, namespace: &str, name: &str) {
            self.used.lock().unwrap().push(format!("{namespace}/{name}"));
        }
    }

    fn claims() -> LegacyClaims {
        LegacyClaims {
            namespace: "ns".to_owned(),
            secret: "key".to_owned(),
            account: "bot".to_owned(),
            account_uid: "uid".to_owned(),
            ..LegacyClaims::default()
        }
    }

    /// Returns the result for a token with `claims` whose secret was `changed`, and the number of recorded uses.
    fn said(claims: LegacyClaims, changed: impl FnOnce(&mut TokenSecret)) -> (String, usize) {
        verdict(claims, changed, true)
    }

    fn verdict(claims: LegacyClaims, changed: impl FnOnce(&mut TokenSecret), looks_up: bool) -> (String, usize) {
        let pem = super::super::tests::KEY;
        let keys = KeyRing::new(SigningKey::from_pem(pem.as_bytes()).unwrap(), Vec::new());
        let issuer = TokenIssuer::new("https://issuer", keys.clone());
        let token = issuer.sign_legacy(claims).unwrap();
        let one = Arc::new(One::default());
        let mut secret = TokenSecret {
            token: token.clone().into_bytes(),
            ..TokenSecret::default()
        };
        changed(&mut secret);
        *one.secret.lock().unwrap() = Some(secret);
        let tokens = LegacyTokens {
            keys,
            audiences: vec!["api".to_owned()],
            objects: Arc::clone(&one) as Arc<dyn BoundObjects>,
            secrets: looks_up.then(|| Arc::clone(&one) as Arc<dyn TokenSecrets>),
            uses: Arc::new(()),
        };
        let audiences = ["api".to_owned()];
        let verdict = tokens.authenticate_token(&token, &audiences).ready();
        let said = match verdict.expect("no other server is asked") {
            TokenVerdict::Valid(found) => {
                let warnings = found.remarks.map_or(0, |remarks| remarks.warnings.len());
                let warned = if warnings > 0 { " warned" } else { "" };
                format!("{} {}{warned}", found.user.name, found.user.uid)
            }
            TokenVerdict::NoOpinion => "no opinion".to_owned(),
            TokenVerdict::Invalid(reason) => reason,
        };
        let used = one.used.lock().unwrap().len();
        (said, used)
    }

    #[test]
    fn a_token_is_good_while_its_secret_holds_it() {
        assert_eq!(
            said(claims(), |_| {}),
            ("system:serviceaccount:ns:bot uid".to_owned(), 1)
        );
        let (generated, _) = said(claims(), |secret| secret.is_generated = true);
        assert_eq!(generated, "system:serviceaccount:ns:bot uid warned");
        let (other, used) = said(claims(), |secret| secret.token.push(b'x'));
        assert_eq!((other.as_str(), used), ("Token does not match server's copy", 0));
        let (deleted, _) = said(claims(), |secret| secret.is_deleted = true);
        assert_eq!(deleted, "Token has been invalidated");
    }

    #[test]
    fn without_lookup_the_signature_is_enough() {
        let deleted = verdict(claims(), |secret| secret.is_deleted = true, false);
        assert_eq!(deleted, ("system:serviceaccount:ns:bot uid".to_owned(), 0));
        let mut nobody = claims();
        nobody.account = "nobody".to_owned();
        assert_eq!(verdict(nobody, |_| {}, false).0, "system:serviceaccount:ns:nobody uid");
        let mut empty = claims();
        empty.secret.clear();
        assert_eq!(verdict(empty, |_| {}, false).0, "secretName claim is missing");
    }

    #[test]
    fn the_use_of_an_invalid_token_is_noted_and_refused() {
        let (invalid, used) = said(claims(), |secret| secret.is_invalid = true);
        assert!(invalid.starts_with("the token in secret ns/key for service account ns/bot has been marked invalid. "));
        assert_eq!(used, 1);
    }

    #[test]
    fn a_token_is_of_its_account() {
        let mut other = claims();
        other.account_uid = "other".to_owned();
        assert_eq!(
            said(other, |_| {}).0,
            "ServiceAccount UID (uid) does not match claim (other)"
        );
        let mut nobody = claims();
        nobody.account = "nobody".to_owned();
        assert_eq!(said(nobody, |_| {}).0, "serviceaccounts \"nobody\" not found");
        let mut empty = claims();
        empty.secret.clear();
        assert_eq!(said(empty, |_| {}).0, "secretName claim is missing");
    }
}
