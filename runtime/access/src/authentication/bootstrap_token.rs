//! Bootstrap tokens: `ID.SECRET`, with which nodes join a cluster. Each is a secret in the namespace `kube-system`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use planesmith_machinery::clock::Clock;
use planesmith_machinery::time::Time;

use super::{TokenAuthenticator, TokenUser, TokenVerdict, authenticated};
use crate::outcome::Outcome;
use crate::secret;
use crate::user::UserInfo;

/// The type of a secret with a bootstrap token.
const TYPE: &str = "bootstrap.kubernetes.io/token";
/// The prefix of the names of such secrets; the token's ID follows.
const NAME_PREFIX: &str = "bootstrap-token-";
/// The prefix of user names; the token's ID follows.
const USER_PREFIX: &str = "system:bootstrap:";
/// The group of all bootstrap tokens, and the prefix of other groups.
const GROUP: &str = "system:bootstrappers";
/// The longest name of a group behind the prefix, in bytes.
const LONGEST_GROUP: usize = 256;

const ID_LENGTH: usize = 6;
const SECRET_LENGTH: usize = 16;

/// A secret that may have a bootstrap token.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BootstrapSecret {
    /// The type of the secret.
    pub secret_type: String,
    /// True if the secret is being deleted.
    pub is_deleted: bool,
    /// The data, decoded.
    pub data: BTreeMap<String, Vec<u8>>,
}

/// Read access to the secrets in the namespace `kube-system`.
pub trait BootstrapSecrets: Send + Sync + fmt::Debug {
    /// Returns the secret; `None` if it does not exist.
    fn find(&self, name: &str) -> Option<BootstrapSecret>;
}

/// Authenticates bootstrap tokens.
pub struct BootstrapTokens {
    /// The secrets.
    pub secrets: Arc<dyn BootstrapSecrets>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl TokenAuthenticator for BootstrapTokens {
    fn authenticate_token(&self, token: &str, _audiences: &[String]) -> Outcome<'static, TokenVerdict> {
        let found = parse(token).and_then(|(id, secret)| self.user(id, secret));
        Outcome::Ready(found.map_or(TokenVerdict::NoOpinion, TokenVerdict::Valid))
    }
}

impl BootstrapTokens {
    /// Returns the user of a token; `None` if it is not valid. The reason is logged, unless there is no such token.
    fn user(&self, id: &str, secret: &str) -> Option<TokenUser> {
        let name = format!("{NAME_PREFIX}{id}");
        let found = self.secrets.find(&name)?;
        match self.check(&found, id, secret) {
            Ok(user) => Some(user),
            Err(reason) => {
                tracing::debug!(secret = name, reason, "a bootstrap token is refused");
                None
            }
        }
    }

    fn check(&self, found: &BootstrapSecret, id: &str, secret: &str) -> Result<TokenUser, String> {
        if found.is_deleted {
            return Err("the secret is being deleted".to_owned());
        }
        if found.secret_type != TYPE {
            return Err(format!("the secret has the type {:?}, not {TYPE}", found.secret_type));
        }
        if !secret::equals(found.bytes("token-secret"), secret.as_bytes()) {
            return Err("token-secret differs".to_owned());
        }
        if found.bytes("token-id") != id.as_bytes() {
            return Err("token-id differs".to_owned());
        }
        let until = self.expiration(found)?;
        if found.bytes("usage-bootstrap-authentication") != b"true" {
            return Err("usage-bootstrap-authentication is not true".to_owned());
        }
        let user = authenticated(UserInfo {
            name: format!("{USER_PREFIX}{id}"),
            groups: groups(found.bytes("auth-extra-groups"))?,
            ..UserInfo::default()
        });
        Ok(TokenUser {
            until,
            ..TokenUser::of(user)
        })
    }

    /// Returns the time at which the token expires; `None` for a token without one.
    fn expiration(&self, found: &BootstrapSecret) -> Result<Option<SystemTime>, String> {
        let text = found.bytes("expiration");
        if text.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(text);
        let time: Time = text
            .parse()
            .map_err(|_| format!("expiration is {text:?}; expected a time such as 2026-01-31T12:00:00Z"))?;
        let seconds = u64::try_from(time.as_second()).unwrap_or(0);
        let until = UNIX_EPOCH + Duration::from_secs(seconds);
        match self.clock.now() > until {
            true => Err("the token has expired".to_owned()),
            false => Ok(Some(until)),
        }
    }
}

impl BootstrapSecret {
    fn bytes(&self, key: &str) -> &[u8] {
        self.data.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Splits a token into ID and secret; `None` for other tokens.
fn parse(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.split_once('.')?;
    let is_part = |part: &str, length| {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        part.len() == length && part.bytes().all(is_allowed)
    };
    (is_part(id, ID_LENGTH) && is_part(secret, SECRET_LENGTH)).then_some((id, secret))
}

/// Returns the group of all bootstrap tokens and those in a list with commas, sorted.
fn groups(extra: &[u8]) -> Result<Vec<String>, String> {
    let mut groups = BTreeSet::from([GROUP.to_owned()]);
    if !extra.is_empty() {
        let extra = String::from_utf8_lossy(extra);
        for group in extra.split(',') {
            if !is_extra_group(group) {
                return Err(format!("auth-extra-groups has {group:?}; expected {GROUP}:NAME"));
            }
            groups.insert(group.to_owned());
        }
    }
    Ok(groups.into_iter().collect())
}

fn is_extra_group(group: &str) -> bool {
    let Some(name) = group.strip_prefix(GROUP).and_then(|rest| rest.strip_prefix(':')) else {
        return false;
    };
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_allowed = |byte: u8| is_alphanumeric(byte) || byte == b':' || byte == b'-';
    name.len() <= LONGEST_GROUP && name.bytes().all(is_allowed) && name.bytes().next_back().is_some_and(is_alphanumeric)
}

impl fmt::Debug for BootstrapSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BootstrapSecret")
            .field("secret_type", &self.secret_type)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for BootstrapTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BootstrapTokens").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::clock::ManualClock;

    use super::*;

    const TOKEN: &str = "abcdef.0123456789abcdef";
    const NOW: &str = "2026-06-01T00:00:00Z";

    /// A single secret, of the token above.
    #[derive(Debug)]
    struct One(BootstrapSecret);

    impl BootstrapSecrets for One {
        fn find(&self, name: &str) -> Option<BootstrapSecret> {
            (name == "bootstrap-token-abcdef").then(|| self.0.clone())
        }
    }

    fn secret(changes: &[(&str, &str)]) -> BootstrapSecret {
        let data = [
            ("token-id", "abcdef"),
            ("token-secret", "0123456789abcdef"),
            ("usage-bootstrap-authentication", "true"),
        ];
        let data = data.iter().chain(changes);
        BootstrapSecret {
            secret_type: TYPE.to_owned(),
            is_deleted: false,
            data: data
                .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
                .collect(),
        }
    }

    /// Returns the name and the groups of the token's user.
    fn user(secret: BootstrapSecret, token: &str) -> Option<String> {
        let now = NOW.parse::<Time>().unwrap().as_second();
        let tokens = BootstrapTokens {
            secrets: Arc::new(One(secret)),
            clock: Arc::new(ManualClock::new(now.unsigned_abs() * 1000)),
        };
        match tokens.authenticate_token(token, &[]).ready()? {
            TokenVerdict::Valid(found) => Some(format!("{} {}", found.user.name, found.user.groups.join(","))),
            TokenVerdict::NoOpinion => None,
            TokenVerdict::Invalid(reason) => panic!("{reason}"),
        }
    }

    #[test]
    fn a_token_names_a_user_and_groups() {
        let plain = "system:bootstrap:abcdef system:bootstrappers,system:authenticated";
        assert_eq!(user(secret(&[]), TOKEN).as_deref(), Some(plain));
        let extra = "system:bootstrappers:workers:a,system:bootstrappers:0-1";
        assert_eq!(
            user(secret(&[("auth-extra-groups", extra)]), TOKEN).as_deref(),
            Some(
                "system:bootstrap:abcdef system:bootstrappers,system:bootstrappers:0-1,system:bootstrappers:workers:a,\
                 system:authenticated"
            )
        );
        assert_eq!(
            user(secret(&[("expiration", NOW)]), TOKEN).as_deref(),
            Some(plain),
            "it expires now"
        );
    }

    #[test]
    fn texts_of_another_form_are_no_bootstrap_tokens() {
        for token in [
            "",
            "abcdef",
            "abcdef.0123456789abcde",
            "abcdef.0123456789abcdef0",
            "ABCDEF.0123456789abcdef",
            "abcdef.0123456789abcdef.",
            "abcdeg.0123456789abcdef",
            "abcdef.0123456789abcdeg",
        ] {
            assert_eq!(user(secret(&[]), token), None, "{token}");
        }
    }

    #[test]
    fn a_secret_that_is_no_valid_token_authenticates_nobody() {
        for change in [
            ("token-id", "abcdeg"),
            ("usage-bootstrap-authentication", "True"),
            ("usage-bootstrap-authentication", ""),
            ("expiration", "2026-05-31T23:59:59Z"),
            ("expiration", "tomorrow"),
            ("auth-extra-groups", "system:masters"),
            ("auth-extra-groups", "system:bootstrappers:a,"),
            ("auth-extra-groups", "system:bootstrappers:a-"),
            ("auth-extra-groups", "system:bootstrappers:A"),
        ] {
            assert_eq!(user(secret(&[change]), TOKEN), None, "{change:?}");
        }
        let deleted = BootstrapSecret {
            is_deleted: true,
            ..secret(&[])
        };
        assert_eq!(user(deleted, TOKEN), None);
        let opaque = BootstrapSecret {
            secret_type: "Opaque".to_owned(),
            ..secret(&[])
        };
        assert_eq!(user(opaque, TOKEN), None);
    }
}
