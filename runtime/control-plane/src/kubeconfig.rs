//! Kubeconfigs: the URL and the authority of a server, and the credentials of a user.

mod user;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub use self::user::User;
pub(crate) use self::user::pem;

/// The credentials of one user of a server.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// URL of the server.
    pub server: &'a str,
    /// The authority by which the server is verified, PEM.
    pub authority: &'a str,
    /// Name of the user.
    pub user: &'a str,
    /// The user's certificate, PEM.
    pub certificate: &'a str,
    /// Its key, PEM.
    pub key: &'a str,
}

/// Returns a kubeconfig with embedded certificates and key; to be kept private.
#[must_use]
pub fn render(access: &Access<'_>) -> String {
    let authority = STANDARD.encode(access.authority);
    let certificate = STANDARD.encode(access.certificate);
    let key = STANDARD.encode(access.key);
    let user = quoted(access.user);
    let server = access.server;
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: planesmith\n  \
           cluster:\n    \
             server: {server}\n    \
             certificate-authority-data: {authority}\n\
         users:\n\
         - name: {user}\n  \
           user:\n    \
             client-certificate-data: {certificate}\n    \
             client-key-data: {key}\n\
         contexts:\n\
         - name: planesmith\n  \
           context:\n    \
             cluster: planesmith\n    \
             user: {user}\n\
         current-context: planesmith\n"
    )
}

/// Quotes a text for YAML, whatever characters it has.
fn quoted(text: &str) -> String {
    // A JSON string is valid YAML.
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::yaml;
    use serde_json::Value;

    use super::*;

    #[test]
    fn users_may_be_called_anything() {
        for user in ["admin", "yes", "system:node:a", "a\"b\\c: #d"] {
            let text = render(&Access {
                server: "https://[::1]:6443",
                authority: "A",
                user,
                certificate: "C",
                key: "K",
            });
            let document: Value = serde_json::from_slice(&yaml::to_json(text.as_bytes()).unwrap().json).unwrap();
            assert_eq!(document["users"][0]["name"], user);
            assert_eq!(document["contexts"][0]["context"]["user"], user);
            assert_eq!(document["clusters"][0]["cluster"]["server"], "https://[::1]:6443");
        }
    }
}
