//! A user in a kubeconfig, with which this server calls another one.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;
use planesmith_machinery::go_base64;
use planesmith_server::proxy::{ClientIdentity, Pem};
use serde_json::Value;

use crate::resource_client::text;

/// The credentials of a user.
#[derive(Clone, Debug)]
pub struct User {
    identity: Option<ClientIdentity>,
    authorization: Option<Authorization>,
}

#[derive(Clone)]
enum Authorization {
    Token(String),
    TokenFile(Arc<TokenFile>),
    Password { user: String, password: String },
}

/// A token that is read again for each request, since other programs replace its file.
struct TokenFile {
    path: PathBuf,
    /// The token that was read last, at first the one in the kubeconfig. Locked to take or replace it.
    last: Mutex<LastToken>,
}

struct LastToken {
    token: String,
    /// False after an attempt that failed, which is logged once.
    is_read: bool,
}

impl TokenFile {
    /// Returns the token in the file; the last one if that cannot be read now, or is empty.
    fn token(&self) -> Result<String, String> {
        let read = fs::read_to_string(&self.path).map_err(|error| error.to_string());
        let read = read.and_then(|content| match content.trim() {
            "" => Err("it is empty".to_owned()),
            token => Ok(token.to_owned()),
        });
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let was_read = std::mem::replace(&mut last.is_read, read.is_ok());
        match read {
            Ok(token) => last.token = token,
            Err(error) if was_read => {
                tracing::warn!(path = %self.path.display(), error, "the token for another server cannot be read");
            }
            Err(_) => {}
        }
        match last.token.is_empty() {
            true => Err("the token cannot be read".to_owned()),
            false => Ok(last.token.clone()),
        }
    }
}

impl User {
    /// A user without credentials.
    pub const ANONYMOUS: Self = Self {
        identity: None,
        authorization: None,
    };

    /// Reads the `user` of an entry of `users`. Files are relative to `folder`, that of the kubeconfig. As in client-go, a token file
    /// precedes a token, which is used while the file cannot be read.
    ///
    /// # Errors
    ///
    /// Credentials of another program (`exec`, `auth-provider`), a password beside a token, a certificate without its key, or data
    /// that is not base64.
    pub fn parse(user: &Value, folder: &Path) -> Result<Self> {
        for unsupported in ["exec", "auth-provider"] {
            if user.get(unsupported).is_some_and(|value| !value.is_null()) {
                bail!("{unsupported} is not supported; expected a certificate, a token or a password");
            }
        }
        let certificate = pem(user, "client-certificate", folder)?;
        let key = pem(user, "client-key", folder)?;
        if certificate.is_some() && key.is_none() {
            bail!("client-certificate has no client-key; expected both");
        }
        let identity = certificate.zip(key);
        let authorization = match (text(user, "/tokenFile"), text(user, "/token"), text(user, "/username")) {
            ("", "", "") => None,
            ("", "", name) => Some(Authorization::Password {
                user: name.to_owned(),
                password: text(user, "/password").to_owned(),
            }),
            ("", token, "") => Some(Authorization::Token(token.to_owned())),
            (file, token, "") => Some(Authorization::TokenFile(Arc::new(TokenFile {
                path: folder.join(file),
                last: Mutex::new(LastToken {
                    token: token.to_owned(),
                    is_read: true,
                }),
            }))),
            _ => bail!("a username and a token are set; expected one of them"),
        };
        Ok(Self {
            identity: identity.map(|(certificate, key)| ClientIdentity { certificate, key }),
            authorization,
        })
    }

    /// Returns the client certificate.
    #[must_use]
    pub fn identity(&self) -> Option<&ClientIdentity> {
        self.identity.as_ref()
    }

    /// Returns the value of the header `Authorization`.
    ///
    /// # Errors
    ///
    /// A token that cannot be read or sent. The message names no file.
    pub fn authorization(&self) -> Result<Option<HeaderValue>, String> {
        let value = match &self.authorization {
            None => return Ok(None),
            Some(Authorization::Token(token)) => format!("Bearer {token}"),
            Some(Authorization::TokenFile(file)) => format!("Bearer {}", file.token()?),
            Some(Authorization::Password { user, password }) => {
                format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
            }
        };
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| "the token has characters that a header cannot have".to_owned())?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

/// Returns a certificate or key of a kubeconfig, embedded or in a file beside it.
pub(crate) fn pem(holder: &Value, field: &str, folder: &Path) -> Result<Option<Pem>> {
    if let Some(data) = holder.get(format!("{field}-data")).and_then(Value::as_str) {
        let data = go_base64::decode(data).map_err(|why| anyhow!("{field}-data: {why}"))?;
        return Ok(Some(Pem::Text(data)));
    }
    let file = holder
        .get(field)
        .and_then(Value::as_str)
        .filter(|file| !file.is_empty());
    Ok(file.map(|file| Pem::File(folder.join(file))))
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content is secret.
        f.write_str(match self {
            Self::Token(_) => "Token",
            Self::TokenFile(_) => "TokenFile",
            Self::Password { .. } => "Password",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_user_sends_a_password_or_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let parse = |user: &Value| User::parse(user, folder.path());
        assert_eq!(sent(&parse(&json!({})).unwrap()), Ok(None));
        let mut user = json!({"username": "u", "password": "p"});
        assert_eq!(sent(&parse(&user).unwrap()).unwrap().unwrap(), "Basic dTpw");
        user["token"] = json!("t");
        let both = parse(&user).unwrap_err().to_string();
        assert!(both.starts_with("a username and a token are set"), "{both}");
        let token = parse(&json!({"token": "t"})).unwrap();
        assert_eq!(sent(&token).unwrap().unwrap(), "Bearer t");
    }

    #[test]
    fn the_last_token_is_sent_while_its_file_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let unread = User::parse(&json!({"tokenFile": "token"}), folder.path()).unwrap();
        assert_eq!(sent(&unread).unwrap_err(), "the token cannot be read");
        let user = User::parse(&json!({"tokenFile": "token", "token": "t"}), folder.path()).unwrap();
        assert_eq!(sent(&user).unwrap().unwrap(), "Bearer t");
        fs::write(&path, "of the file\n").unwrap();
        assert_eq!(sent(&user).unwrap().unwrap(), "Bearer of the file");
        fs::write(&path, "").unwrap();
        assert_eq!(sent(&user).unwrap().unwrap(), "Bearer of the file");
        fs::write(&path, "next").unwrap();
        assert_eq!(sent(&user).unwrap().unwrap(), "Bearer next");
    }

    #[test]
    fn a_certificate_needs_its_key() {
        let error = User::parse(&json!({"client-certificate": "c"}), Path::new(".")).unwrap_err();
        assert_eq!(error.to_string(), "client-certificate has no client-key; expected both");
    }

    /// Returns the text that a user sends.
    fn sent(user: &User) -> Result<Option<String>, String> {
        let value = user.authorization()?;
        Ok(value.map(|value| value.to_str().unwrap().to_owned()))
    }

    #[test]
    fn credentials_of_other_programs_are_refused() {
        let error = User::parse(&json!({"exec": {"command": "login"}}), Path::new(".")).unwrap_err();
        assert!(error.to_string().starts_with("exec is not supported"), "{error}");
    }
}
