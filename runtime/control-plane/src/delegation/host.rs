//! Another API server, described by a kubeconfig.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::{Method, Uri};
use planesmith_machinery::{go_base64, yaml};
use planesmith_server::proxy::{ClientIdentity, Destination, Link, Pem, Question, Target, Trust, ask, client_tls_to};
use serde_json::Value;

use crate::dedicated_runtime;
use crate::resource_client::text;

/// The longest time the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// An API server and the credentials there; cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    link: Link,
    destination: Destination,
    /// The prefix of all paths.
    path: String,
    token: Token,
}

#[derive(Clone)]
enum Token {
    None,
    Text(String),
    /// Read again for each request, since other programs replace the file.
    File(PathBuf),
}

impl Host {
    /// Reads the current context of a kubeconfig.
    ///
    /// # Errors
    ///
    /// The entry that is missing in the file, or cannot be used.
    pub fn open(kubeconfig: &Path) -> Result<Self> {
        let read = || {
            let bytes = fs::read(kubeconfig)?;
            let json = yaml::to_json(&bytes).map_err(|error| anyhow!("{error}"))?.json;
            let folder = kubeconfig.parent().unwrap_or(Path::new("."));
            Self::parse(&serde_json::from_slice(&json)?, folder)
        };
        read().with_context(|| format!("the kubeconfig {}", kubeconfig.display()))
    }

    fn parse(config: &Value, folder: &Path) -> Result<Self> {
        let context = named(config, "contexts", text(config, "/current-context"))?;
        let cluster = named(config, "clusters", text(context, "/context/cluster"))?;
        let user = named(config, "users", text(context, "/context/user"))?;
        let (cluster, user) = (&cluster["cluster"], &user["user"]);
        let server: Uri = text(cluster, "/server").parse().context("the server's URL")?;
        let Some(host) = server.host().filter(|_| server.scheme_str() == Some("https")) else {
            bail!("the server is {server}; expected https://HOST:PORT");
        };
        let authority = pem(cluster, "certificate-authority", folder)?;
        let trust = match (&authority, cluster["insecure-skip-tls-verify"] == true) {
            (_, true) => Trust::Anyone,
            (None, false) => Trust::System,
            (Some(Pem::File(path)), false) => Trust::File(path),
            (Some(Pem::Text(text)), false) => Trust::Bundle(text),
        };
        let certificate = pem(user, "client-certificate", folder)?;
        let identity = certificate.zip(pem(user, "client-key", folder)?);
        let identity = identity.map(|(certificate, key)| ClientIdentity { certificate, key });
        let mut link = Link::new(client_tls_to(trust, identity.as_ref())?, PATIENCE);
        let name = text(cluster, "/tls-server-name");
        if !name.is_empty() {
            link = link.expecting(name);
        }
        let token = match (text(user, "/token"), text(user, "/tokenFile")) {
            ("", "") => Token::None,
            ("", file) => Token::File(folder.join(file)),
            (token, _) => Token::Text(token.to_owned()),
        };
        Ok(Self {
            link: link.pooled(),
            destination: Destination::unrestricted(host.trim_matches(['[', ']']), server.port_u16().unwrap_or(443)),
            path: server.path().trim_end_matches('/').to_owned(),
            token,
        })
    }

    /// Sends a request and waits for the JSON answer.
    ///
    /// # Errors
    ///
    /// Every answer outside 2xx.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        self.send_bytes(method, path, body).await
    }

    /// Posts a document in JSON below the path of the kubeconfig, and waits for the JSON answer.
    ///
    /// # Errors
    ///
    /// Every answer outside 2xx.
    pub async fn post(&self, path: &str, document: Vec<u8>) -> Result<Value, String> {
        self.send_bytes(Method::POST, path, document).await
    }

    async fn send_bytes(&self, method: Method, path: &str, body: Vec<u8>) -> Result<Value, String> {
        let target = Target {
            secure: true,
            destination: self.destination.clone(),
            path: format!("{}{path}", self.path),
            query: String::new(),
        };
        let mut headers = HeaderMap::new();
        if let Some(token) = self.token.read() {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            headers.insert(
                AUTHORIZATION,
                value.map_err(|_| "the token has characters that a header cannot have")?,
            );
        }
        let question = Question {
            method,
            ..Question::post(headers, body)
        };
        let reply = ask(&target, &self.link, PATIENCE, question).await;
        let reply = reply.map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        match reply.status.is_success() {
            true => Ok(answer),
            false => Err(format!("{}: {}", reply.status, text(&answer, "/message"))),
        }
    }

    /// As [`Host::send`], where nothing can be awaited.
    pub(super) fn send_now(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let (host, path, body) = (self.clone(), path.to_owned(), body.cloned());
        dedicated_runtime::block_on(async move { host.send(method, &path, body.as_ref()).await })?
    }
}

impl Token {
    fn read(&self) -> Option<String> {
        match self {
            Token::None => None,
            Token::Text(text) => Some(text.clone()),
            Token::File(path) => Some(fs::read_to_string(path).ok()?.trim().to_owned()),
        }
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::None => f.write_str("None"),
            Token::Text(_) => f.write_str("Text"),
            Token::File(path) => path.fmt(f),
        }
    }
}

/// Returns the element of a list that has this name.
fn named<'c>(config: &'c Value, list: &str, name: &str) -> Result<&'c Value> {
    let elements = config.get(list).and_then(Value::as_array);
    let found = elements.into_iter().flatten().find(|element| element["name"] == name);
    found.with_context(|| format!("{list} has no `{name}`"))
}

/// Returns a certificate or key, embedded or in a file beside the kubeconfig.
fn pem(holder: &Value, field: &str, folder: &Path) -> Result<Option<Pem>> {
    if let Some(data) = holder.get(format!("{field}-data")).and_then(Value::as_str) {
        let data = go_base64::decode(data).map_err(|why| anyhow!("{field}-data: {why}"))?;
        return Ok(Some(Pem::Text(data)));
    }
    let file = holder.get(field).and_then(Value::as_str);
    Ok(file.map(|file| Pem::File(folder.join(file))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config() -> Value {
        json!({
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "far", "user": "me"}}],
            "clusters": [{"name": "far", "cluster": {"server": "https://[::1]:6443/k8s/", "insecure-skip-tls-verify": true}}],
            "users": [{"name": "me", "user": {"tokenFile": "token"}}],
        })
    }

    #[test]
    fn the_current_context_counts() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("token"), "secret\n").unwrap();
        let host = Host::parse(&config(), folder.path()).unwrap();
        assert_eq!(
            (host.destination.host(), host.destination.port(), host.path.as_str()),
            ("::1", 6443, "/k8s")
        );
        assert_eq!(host.token.read().as_deref(), Some("secret"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut config = config();
        config["contexts"][0]["context"]["user"] = json!("you");
        let error = Host::parse(&config, Path::new(".")).unwrap_err();
        assert_eq!(error.to_string(), "users has no `you`");
        config["contexts"][0]["context"]["user"] = json!("me");
        config["clusters"][0]["cluster"]["server"] = json!("http://far");
        let error = Host::parse(&config, Path::new(".")).unwrap_err();
        assert!(error.to_string().starts_with("the server is http://far"), "{error}");
    }
}
