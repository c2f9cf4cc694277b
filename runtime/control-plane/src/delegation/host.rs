//! Another API server, described by a kubeconfig.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use http::header::{AUTHORIZATION, HeaderMap, RETRY_AFTER};
use http::{Method, Response, StatusCode, Uri};
use planesmith_machinery::yaml;
use planesmith_server::proxy::{
    AnswerBody, ClientIdentity, Destination, Link, LinkError, OutboundRequest, Pem, Target, Trust, client_tls_to, send,
};
use serde_json::Value;

use crate::dedicated_runtime::DedicatedRuntime;
use crate::kubeconfig::{User, pem};
use crate::outbound::{Network, Outbound};
use crate::resource_client::text;
use crate::running::Running;

/// The longest time the server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The number of attempts for a request that is repeated; kube-apiserver's, as those below.
const ATTEMPTS: u32 = 5;
/// The pause before the second attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The ratio of two pauses.
const BACKOFF_FACTOR: f64 = 1.5;
/// The random part of a pause.
const JITTER: f64 = 0.2;

/// An API server and the credentials there; cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    link: Link,
    timeout: Duration,
    secure: bool,
    destination: Destination,
    /// The prefix of all paths.
    path: String,
    user: User,
    dedicated: DedicatedRuntime,
}

impl Host {
    /// Reads the current context of a kubeconfig. Requests use direct connections of `outbound`.
    ///
    /// # Errors
    ///
    /// The entry that is missing in the file, or cannot be used.
    pub fn open(kubeconfig: &Path, outbound: &Outbound) -> Result<Self> {
        Self::read(kubeconfig, None, outbound)
    }

    /// As [`Host::open`], with the connections that are selected for `network`.
    ///
    /// # Errors
    ///
    /// As for [`Host::open`].
    pub fn open_in(network: Network, kubeconfig: &Path, outbound: &Outbound) -> Result<Self> {
        Self::read(kubeconfig, Some(network), outbound)
    }

    fn read(kubeconfig: &Path, network: Option<Network>, outbound: &Outbound) -> Result<Self> {
        let read = || {
            let bytes = fs::read(kubeconfig)?;
            let json = yaml::to_json(&bytes).map_err(|error| anyhow!("{error}"))?.json;
            let folder = kubeconfig.parent().unwrap_or(Path::new("."));
            Self::parse(&serde_json::from_slice(&json)?, folder, network, outbound)
        };
        read().with_context(|| format!("the kubeconfig {}", kubeconfig.display()))
    }

    /// Returns the server at a URL, whatever its certificate is.
    #[cfg(test)]
    pub(super) fn of_url(url: &str) -> Result<Self> {
        let config = serde_json::json!({
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": url, "insecure-skip-tls-verify": true}}],
            "users": [{"name": "u", "user": {}}],
        });
        Self::parse(&config, Path::new("."), None, &Outbound::default())
    }

    /// As [`Host::open`], with the URL `server` in place of the kubeconfig's.
    ///
    /// # Errors
    ///
    /// As for [`Host::open`].
    pub(crate) fn open_at(kubeconfig: &Path, server: Option<&str>, outbound: &Outbound) -> Result<Self> {
        let host = Self::open(kubeconfig, outbound)?;
        let Some(server) = server else {
            return Ok(host);
        };
        let url: Uri = server.parse().with_context(|| format!("the server {server:?}"))?;
        let (secure, destination, path) = place_of(&url)?;
        Ok(Self {
            secure,
            destination,
            path,
            ..host
        })
    }

    /// Describes the server that runs on a data folder, and its administrator.
    ///
    /// # Errors
    ///
    /// A file of the record cannot be used.
    pub(crate) fn of_running(running: &Running, outbound: &Outbound) -> Result<Self> {
        let identity = ClientIdentity {
            certificate: running.client_certificate.clone().into(),
            key: running.client_key.clone().into(),
        };
        let (secure, destination, path) = place_of(&running.url.parse()?)?;
        Ok(Self {
            timeout: TIMEOUT,
            secure,
            link: Link::new(
                client_tls_to(Trust::File(&running.authority), Some(&identity))?,
                TIMEOUT,
                &outbound.direct,
            ),
            destination,
            path,
            user: User::ANONYMOUS,
            dedicated: outbound.dedicated.clone(),
        })
    }

    fn parse(config: &Value, folder: &Path, network: Option<Network>, outbound: &Outbound) -> Result<Self> {
        let context = named(config, "contexts", text(config, "/current-context"))?;
        let cluster = named(config, "clusters", text(context, "/context/cluster"))?;
        let user = named(config, "users", text(context, "/context/user"))?;
        let (cluster, user) = (&cluster["cluster"], &user["user"]);
        let server: Uri = text(cluster, "/server").parse().context("the server's URL")?;
        let (secure, destination, path) = place_of(&server)?;
        let authority = pem(cluster, "certificate-authority", folder)?;
        let trust = match (&authority, cluster["insecure-skip-tls-verify"] == true) {
            (_, true) => Trust::Anyone,
            (None, false) => Trust::System,
            (Some(Pem::File(path)), false) => Trust::File(path),
            (Some(Pem::Text(text)), false) => Trust::Bundle(text),
        };
        let user = User::parse(user, folder)?;
        let dialer = network.map_or(&outbound.direct, |network| outbound.dialer(network));
        let mut link = Link::new(client_tls_to(trust, user.identity())?, TIMEOUT, dialer);
        let name = text(cluster, "/tls-server-name");
        if !name.is_empty() {
            link = link.expecting(name);
        }
        Ok(Self {
            link: link.pooled(),
            timeout: TIMEOUT,
            secure,
            destination,
            path,
            user,
            dedicated: outbound.dedicated.clone(),
        })
    }

    /// Returns the runtime for requests whose answers must come whatever else the server does.
    #[must_use]
    pub fn dedicated_runtime(&self) -> &DedicatedRuntime {
        &self.dedicated
    }

    /// The same server, which may take up to `timeout` to answer.
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sends a request and waits for the JSON answer.
    ///
    /// # Errors
    ///
    /// Every answer outside 2xx.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let answer = self.send_once(&method, path, body).await;
        answer.map_err(|failure| failure.message)
    }

    /// Posts a document in JSON below the path of the kubeconfig, and waits for the JSON answer.
    ///
    /// # Errors
    ///
    /// Every answer outside 2xx.
    pub async fn post(&self, path: &str, document: Vec<u8>) -> Result<Value, String> {
        let answer = self.send_once(&Method::POST, path, document).await;
        answer.map_err(|failure| failure.message)
    }

    /// As [`Host::post`], and repeats the request after failures that may pass, for a few seconds.
    pub(crate) async fn post_repeatedly(&self, path: &str, document: Vec<u8>) -> Result<Value, String> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.send_once(&Method::POST, path, document.clone()).await {
                Err(failure) if failure.may_pass => {
                    tracing::debug!(error = failure.message, "a request to another server is repeated");
                }
                answer => return answer.map_err(|failure| failure.message),
            }
            tokio::time::sleep(pause.mul_f64(1.0 + JITTER * fastrand::f64())).await;
            pause = pause.mul_f64(BACKOFF_FACTOR);
        }
        let answer = self.send_once(&Method::POST, path, document).await;
        answer.map_err(|failure| failure.message)
    }

    async fn send_once(&self, method: &Method, path: &str, body: Vec<u8>) -> Result<Value, Failure> {
        let (target, headers) = self.address(path).map_err(|message| Failure {
            message,
            may_pass: false,
        })?;
        let request = OutboundRequest {
            method: method.clone(),
            ..OutboundRequest::post(headers, body)
        };
        let reply = request.send(&target, &self.link, self.timeout).await;
        let reply = reply.map_err(|error| Failure {
            may_pass: is_lost(&error),
            message: error.to_string(),
        })?;
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let is_busy = matches!(
            reply.status,
            StatusCode::INTERNAL_SERVER_ERROR | StatusCode::GATEWAY_TIMEOUT | StatusCode::TOO_MANY_REQUESTS
        );
        match reply.status.is_success() {
            true => Ok(answer),
            false => Err(Failure {
                message: format!("{}: {}", reply.status, text(&answer, "/message")),
                may_pass: is_busy || reply.headers.contains_key(RETRY_AFTER),
            }),
        }
    }

    /// Sends a request without a body, and returns the answer, whose body is streamed. `path` may have a query.
    ///
    /// # Errors
    ///
    /// There is no answer.
    pub(crate) async fn request(&self, method: Method, path: &str) -> Result<Response<AnswerBody>, String> {
        let (target, headers) = self.address(path)?;
        let answer = send(&method, headers, &target, &self.link).await;
        answer.map_err(|error| error.to_string())
    }

    /// The target of a request, and the credentials.
    fn address(&self, path: &str) -> Result<(Target, HeaderMap), String> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let target = Target {
            secure: self.secure,
            destination: self.destination.clone(),
            path: format!("{}{path}", self.path),
            query: query.to_owned(),
        };
        let mut headers = HeaderMap::new();
        if let Some(value) = self.user.authorization()? {
            headers.insert(AUTHORIZATION, value);
        }
        Ok((target, headers))
    }

    /// As [`Host::send`], where nothing can be awaited.
    pub(super) fn send_now(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let (host, path, body) = (self.clone(), path.to_owned(), body.cloned());
        self.dedicated
            .block_on(async move { host.send(method, &path, body.as_ref()).await })?
    }
}

/// A request that failed.
struct Failure {
    message: String,
    /// True if the same request may succeed a little later.
    may_pass: bool,
}

/// True if a connection was lost that the other server had accepted.
fn is_lost(error: &LinkError) -> bool {
    match error {
        LinkError::Http(_) | LinkError::Cut | LinkError::ConnectionPool(_) => true,
        LinkError::Dial { source, .. } | LinkError::Tls(source) => source.kind() == io::ErrorKind::ConnectionReset,
        _ => false,
    }
}

/// Returns if the server at `url` has TLS, its destination, and the prefix of all paths.
fn place_of(url: &Uri) -> Result<(bool, Destination, String)> {
    let secure = url.scheme_str() == Some("https");
    let Some(host) = url.host().filter(|_| secure || url.scheme_str() == Some("http")) else {
        bail!("the server is {url}; expected https://HOST:PORT");
    };
    let port = url.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let destination = Destination::unrestricted(host.trim_matches(['[', ']']), port);
    Ok((secure, destination, url.path().trim_end_matches('/').to_owned()))
}

/// Returns the element of a list that has this name.
fn named<'c>(config: &'c Value, list: &str, name: &str) -> Result<&'c Value> {
    let elements = config.get(list).and_then(Value::as_array);
    let found = elements.into_iter().flatten().find(|element| element["name"] == name);
    found.with_context(|| format!("{list} has no `{name}`"))
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
        let host = Host::parse(&config(), folder.path(), None, &Outbound::default()).unwrap();
        assert_eq!(
            (host.destination.host(), host.destination.port(), host.path.as_str()),
            ("::1", 6443, "/k8s")
        );
        assert_eq!(host.user.authorization().unwrap().unwrap(), "Bearer secret");
    }

    #[test]
    fn a_missing_setting_is_named() {
        let mut config = config();
        config["contexts"][0]["context"]["user"] = json!("you");
        let error = Host::parse(&config, Path::new("."), None, &Outbound::default()).unwrap_err();
        assert_eq!(error.to_string(), "users has no `you`");
        config["contexts"][0]["context"]["user"] = json!("me");
        config["clusters"][0]["cluster"]["server"] = json!("ftp://far");
        let error = Host::parse(&config, Path::new("."), None, &Outbound::default()).unwrap_err();
        assert!(error.to_string().starts_with("the server is ftp://far"), "{error}");
    }
}
