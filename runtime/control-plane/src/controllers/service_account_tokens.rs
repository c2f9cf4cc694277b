//! Adds tokens to secrets of service accounts, and deletes these secrets with the account.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_access::authentication::service_account::{LegacyClaims, TokenIssuer};
use planesmith_server::stores::Stores;
use planesmith_store::{Event, EventKind};
use serde_json::Value;

use super::MANAGER;
use crate::loopback::{Loopback, LoopbackError};
use crate::reconciler::Reconcile;
use crate::resource_client::{ResourceClient, parse, text};
use crate::service_accounts::token_secrets::{ACCOUNT_NAME, ACCOUNT_UID, TYPE};

/// Keeps secrets with tokens in line with their accounts. With an external signer, which signs no tokens without an end, secrets get
/// no tokens.
///
/// A key is the namespace and name of a secret; for a deleted secret, also the account that may still list it.
pub(super) struct TokenController {
    secrets: ResourceClient,
    accounts: ResourceClient,
    issuer: Arc<TokenIssuer>,
    authority: String,
}

impl TokenController {
    /// Creates the controller, which stores `authority`, PEM, beside each token. `None` for a server without secrets
    /// or service accounts.
    pub(super) fn new(
        stores: &Stores,
        loopback: &Loopback,
        issuer: &Arc<TokenIssuer>,
        authority: &str,
    ) -> Option<Self> {
        let objects = |plural| Some(ResourceClient::of(stores, loopback, "", "v1", plural)?.managed_by(MANAGER));
        Some(Self {
            secrets: objects("secrets")?,
            accounts: objects("serviceaccounts")?,
            issuer: Arc::clone(issuer),
            authority: authority.to_owned(),
        })
    }

    fn keys(&self, namespace: &str) -> Vec<String> {
        let secrets = self.secrets.selected_by(namespace, "type", TYPE);
        let keys = secrets.iter().map(|secret| {
            let (namespace, name) = (text(secret, "/metadata/namespace"), text(secret, "/metadata/name"));
            format!("{namespace}/{name}")
        });
        keys.collect()
    }

    /// Returns the account of a secret, if its UID still matches.
    fn account_of(&self, secret: &Value) -> Option<Value> {
        let namespace = text(secret, "/metadata/namespace");
        let account = self.accounts.get(namespace, annotation(secret, ACCOUNT_NAME))?;
        let uid = annotation(secret, ACCOUNT_UID);
        (uid.is_empty() || uid == text(&account, "/metadata/uid")).then_some(account)
    }

    /// Returns the secret with missing data filled in; `None` if nothing is missing.
    fn filled(&self, secret: &Value, account: &Value) -> Option<Value> {
        let authority = STANDARD.encode(&self.authority);
        let namespace = text(secret, "/metadata/namespace");
        let needs_authority = !self.authority.is_empty() && text(secret, "/data/ca.crt") != authority;
        let needs_namespace = text(secret, "/data/namespace").is_empty();
        let needs_token = self.issuer.signs_legacy() && text(secret, "/data/token").is_empty();
        if !needs_authority && !needs_namespace && !needs_token {
            return None;
        }
        let mut filled = secret.clone();
        let (name, uid) = (text(account, "/metadata/name"), text(account, "/metadata/uid"));
        if needs_token {
            let token = self.issuer.sign_legacy(LegacyClaims {
                namespace: namespace.to_owned(),
                secret: text(secret, "/metadata/name").to_owned(),
                account: name.to_owned(),
                account_uid: uid.to_owned(),
                ..LegacyClaims::default()
            });
            match token {
                Ok(token) => filled["data"]["token"] = STANDARD.encode(token).into(),
                Err(error) => tracing::error!(%error, "a token for a secret cannot be signed"),
            }
        }
        if needs_authority {
            filled["data"]["ca.crt"] = authority.into();
        }
        if needs_namespace {
            filled["data"]["namespace"] = STANDARD.encode(namespace).into();
        }
        for (annotation, value) in [(ACCOUNT_NAME, name), (ACCOUNT_UID, uid)] {
            filled["metadata"]["annotations"][annotation] = value.into();
        }
        Some(filled)
    }

    /// Removes a deleted secret from the list of an account.
    async fn forget(&self, namespace: &str, name: &str, account: &str) -> Result<(), LoopbackError> {
        let Some(mut account) = self.accounts.get(namespace, account) else {
            return Ok(());
        };
        let Some(Value::Array(mentioned)) = account.get_mut("secrets") else {
            return Ok(());
        };
        let before = mentioned.len();
        mentioned.retain(|secret| secret["name"] != name);
        if mentioned.len() == before {
            return Ok(());
        }
        self.accounts.replace(&account).await
    }
}

impl Reconcile for TokenController {
    const NAME: &'static str = "token in a secret";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.secrets, &self.accounts]
    }

    fn all(&self) -> Vec<String> {
        self.keys("")
    }

    fn touched(&self, _kind: usize, namespace: &str, _name: &str) -> Vec<String> {
        self.keys(namespace)
    }

    fn touched_by(&self, kind: usize, event: &Event) -> Vec<String> {
        let entry = event.entry();
        let (namespace, name) = self.watched()[kind].names_of(entry);
        if kind == 1 {
            return self.touched(kind, namespace, name);
        }
        if self.secrets.field(entry, "type") != Some(TYPE) {
            return Vec::new();
        }
        let key = self.secrets.key_of(entry);
        if event.kind() != EventKind::Delete {
            return vec![key];
        }
        let secret = parse(entry).unwrap_or_default();
        vec![format!("{key}/{}", annotation(&secret, ACCOUNT_NAME))]
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        let mut parts = key.split('/');
        let (Some(namespace), Some(name)) = (parts.next(), parts.next()) else {
            return Ok(());
        };
        let secret = self.secrets.get(namespace, name);
        let Some(secret) = secret.filter(|secret| secret["type"] == TYPE) else {
            let account = parts.next().unwrap_or_default();
            return self.forget(namespace, name, account).await;
        };
        let Some(account) = self.account_of(&secret) else {
            return self.secrets.delete_exactly(&secret, None).await;
        };
        match self.filled(&secret, &account) {
            Some(filled) => self.secrets.replace(&filled).await,
            None => Ok(()),
        }
    }
}

fn annotation<'o>(object: &'o Value, name: &str) -> &'o str {
    let found = object["metadata"]["annotations"].get(name);
    found.and_then(Value::as_str).unwrap_or_default()
}
