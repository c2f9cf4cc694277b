//! A user in a kubeconfig, with which this server calls another one.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

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
    /// Read again for each request, since other programs replace the file.
    TokenFile(PathBuf),
    Password {
        user: String,
        password: String,
    },
}

impl User {
    /// A user without credentials.
    pub const ANONYMOUS: Self = Self {
        identity: None,
        authorization: None,
    };

    /// Reads the `user` of an entry of `users`. Files are relative to `folder`, that of the kubeconfig. As in client-go, a token file
    /// precedes a token, and this a password.
    ///
    /// # Errors
    ///
    /// Credentials of another program (`exec`, `auth-provider`), or data that is not base64.
    pub fn parse(user: &Value, folder: &Path) -> Result<Self> {
        for unsupported in ["exec", "auth-provider"] {
            if user.get(unsupported).is_some_and(|value| !value.is_null()) {
                bail!("{unsupported} is not supported; expected a certificate, a token or a password");
            }
        }
        let certificate = pem(user, "client-certificate", folder)?;
        let identity = certificate.zip(pem(user, "client-key", folder)?);
        let authorization = match (text(user, "/tokenFile"), text(user, "/token"), text(user, "/username")) {
            ("", "", "") => None,
            ("", "", name) => Some(Authorization::Password {
                user: name.to_owned(),
                password: text(user, "/password").to_owned(),
            }),
            ("", token, _) => Some(Authorization::Token(token.to_owned())),
            (file, ..) => Some(Authorization::TokenFile(folder.join(file))),
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
            Some(Authorization::TokenFile(path)) => {
                let token = fs::read_to_string(path).map_err(|error| {
                    tracing::warn!(path = %path.display(), %error, "the token for another server cannot be read");
                    "the token cannot be read".to_owned()
                })?;
                format!("Bearer {}", token.trim())
            }
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
    fn a_token_file_precedes_a_token_and_this_a_password() {
        let folder = tempfile::tempdir().unwrap();
        let sent = |user: &Value| {
            let user = User::parse(user, folder.path()).unwrap();
            user.authorization()
                .map(|value| value.map(|value| value.to_str().unwrap().to_owned()))
        };
        let mut user = json!({});
        assert_eq!(sent(&user), Ok(None));
        user["username"] = json!("u");
        user["password"] = json!("p");
        assert_eq!(sent(&user).unwrap().unwrap(), "Basic dTpw");
        user["token"] = json!("t");
        assert_eq!(sent(&user).unwrap().unwrap(), "Bearer t");
        user["tokenFile"] = json!("token");
        assert_eq!(sent(&user).unwrap_err(), "the token cannot be read");
        fs::write(folder.path().join("token"), "of the file\n").unwrap();
        assert_eq!(sent(&user).unwrap().unwrap(), "Bearer of the file");
    }

    #[test]
    fn credentials_of_other_programs_are_refused() {
        let error = User::parse(&json!({"exec": {"command": "login"}}), Path::new(".")).unwrap_err();
        assert!(error.to_string().starts_with("exec is not supported"), "{error}");
    }
}
