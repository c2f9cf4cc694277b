//! Connections to webhooks.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use http::{HeaderMap, Method, StatusCode};
use planesmith_api_defs::admissionregistration::v1::WebhookClientConfig;
use planesmith_control_plane::admission::PluginInitializer;
use planesmith_control_plane::loopback::Loopback;
use planesmith_control_plane::outbound::{Network, Outbound};
use planesmith_control_plane::service_resolver::{Resolver, ServicePort};
use planesmith_server::proxy::{
    BufferedResponse, ClientIdentity, Destination, Dialer, Link, LinkError, OutboundRequest, Target, Trust, TrustError,
    client_tls_to, shortest_path,
};
use serde_json::Value;

use super::Webhook;
use super::credentials::{self, Credentials};

/// Maximum number of clients with pooled connections; kube-apiserver's value.
const CLIENTS: usize = 200;

/// Maximum size of an answer, in bytes: several times the largest object, as text in base64.
const ANSWER_LIMIT: usize = 16 << 20;

/// Maximum time to open a connection.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

const HTTPS: u16 = 443;

/// The location of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Location {
    /// A URL.
    Url(String),
    /// A path of a service.
    Service {
        namespace: String,
        name: String,
        port: u16,
        path: String,
    },
    /// Neither: a configuration that was not validated.
    Unset,
}

/// The URL of a webhook, taken apart.
struct Endpoint {
    /// `host:port`, as in messages and headers.
    authority: String,
    /// The name that the certificate of the server has to be for.
    server_name: String,
    /// The shortest path with the meaning of the configured one.
    path: String,
    reached_at: ReachedAt,
}

enum ReachedAt {
    Destination(Destination),
    Service(ServicePort),
}

impl Location {
    pub(super) fn new(config: &WebhookClientConfig) -> Self {
        if let Some(service) = &config.service {
            return Self::Service {
                namespace: service.namespace.clone(),
                name: service.name.clone(),
                port: service.port.and_then(|port| u16::try_from(port).ok()).unwrap_or(HTTPS),
                path: service.path.clone().unwrap_or_default(),
            };
        }
        match &config.url {
            Some(url) => Self::Url(url.clone()),
            None => Self::Unset,
        }
    }

    fn endpoint(&self) -> Result<Endpoint, String> {
        match self {
            Self::Unset => Err("webhook configuration must have either service or URL".to_owned()),
            Self::Url(url) => {
                let uri: http::Uri = url.parse().map_err(|error| format!("Unparsable URL: {error}"))?;
                let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
                Ok(Endpoint {
                    authority: uri.authority().map(ToString::to_string).unwrap_or_default(),
                    server_name: host.clone(),
                    path: shortest_path(uri.path()),
                    reached_at: ReachedAt::Destination(Destination::unrestricted(
                        host,
                        uri.port_u16().unwrap_or(HTTPS),
                    )),
                })
            }
            Self::Service {
                namespace,
                name,
                port,
                path,
            } => {
                let service = ServicePort {
                    namespace: namespace.clone(),
                    name: name.clone(),
                    port: *port,
                };
                let host = service.host_name();
                Ok(Endpoint {
                    authority: format!("{host}:{port}"),
                    server_name: host,
                    path: shortest_path(path),
                    reached_at: ReachedAt::Service(service),
                })
            }
        }
    }
}

impl Location {
    /// The network of the webhook, as kube-apiserver has it.
    fn network(&self) -> Network {
        match self {
            Self::Service { .. } => Network::Cluster,
            Self::Url(_) | Self::Unset => Network::ControlPlane,
        }
    }

    /// True for the service of this server, whose webhooks other servers behind it serve. It is reached without a connection.
    fn is_own_server(&self) -> bool {
        let Self::Service {
            namespace, name, port, ..
        } = self
        else {
            return false;
        };
        (namespace.as_str(), name.as_str(), *port) == ("default", "kubernetes", HTTPS)
    }
}

/// The clients of webhooks: each has a pool of connections, which webhooks with the same location and authorities share.
pub(super) struct Clients {
    services: Arc<dyn Resolver>,
    /// Answers requests to the service of this server.
    loopback: Loopback,
    credentials: Credentials,
    outbound: Outbound,
    /// Locked only for a lookup.
    links: Mutex<Links>,
}

#[derive(Default)]
struct Links {
    by_server: HashMap<(Location, Vec<u8>), (Link, u64)>,
    uses: u64,
}

/// The reason that there is no answer.
#[derive(Debug)]
pub(super) enum ClientError {
    /// The configuration of the webhook cannot be used.
    Configuration(String),
    /// The server did not answer.
    Unanswered(String),
}

impl Clients {
    /// Returns the clients of a server whose parts are in `initializer`.
    ///
    /// # Errors
    ///
    /// The configuration of the plugin names credentials that cannot be read.
    pub(super) fn new(initializer: &PluginInitializer<'_>) -> Result<Self> {
        Ok(Self {
            services: Arc::new(initializer.services.clone()),
            loopback: initializer.loopback.clone(),
            credentials: Credentials::read(initializer.configuration)?,
            outbound: initializer.outbound.clone(),
            links: Mutex::default(),
        })
    }

    /// Sends `body` to a webhook, and waits for its answer for the time `timeout`.
    pub(super) async fn post(
        &self,
        webhook: &Webhook,
        timeout: Duration,
        body: Vec<u8>,
    ) -> Result<BufferedResponse, ClientError> {
        let endpoint = webhook.location.endpoint().map_err(ClientError::Configuration)?;
        let query = format!("timeout={}s", seconds(timeout));
        let path = &endpoint.path;
        let url = format!("https://{}{path}?{query}", endpoint.authority);
        let failed = |why: &dyn fmt::Display| ClientError::Unanswered(format!("Post \"{url}\": {why}"));
        if webhook.location.is_own_server() {
            let answer = tokio::time::timeout(timeout, self.call_own_server(&format!("{path}?{query}"), &body)).await;
            return answer.map_err(|_| failed(&LinkError::Late))?;
        }
        let (link, headers) = self.link(webhook, &endpoint).map_err(ClientError::Configuration)?;
        let destination = match endpoint.reached_at {
            ReachedAt::Destination(destination) => destination,
            ReachedAt::Service(service) => self.services.resolve(&service).map_err(|why| failed(&why))?,
        };
        let target = Target {
            secure: true,
            destination,
            path: path.clone(),
            query,
        };
        let mut request = OutboundRequest::post(headers, body).limited_to(ANSWER_LIMIT);
        request.host = Some(endpoint.authority.clone());
        request
            .send(&target, &link, timeout)
            .await
            .map_err(|error| failed(&error))
    }

    /// Sends `body` to this server itself.
    async fn call_own_server(&self, path: &str, body: &[u8]) -> Result<BufferedResponse, ClientError> {
        let review: Value = serde_json::from_slice(body).map_err(|error| ClientError::Unanswered(error.to_string()))?;
        let answer = self.loopback.send(Method::POST, path, Some(&review)).await;
        let answer = answer.map_err(|error| ClientError::Unanswered(error.client_message()))?;
        Ok(BufferedResponse {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body: answer.to_string().into(),
        })
    }

    /// Returns the client of a webhook's server, and the headers of its requests.
    fn link(&self, webhook: &Webhook, endpoint: &Endpoint) -> Result<(Link, HeaderMap), String> {
        let user = self.credentials.of_host(&endpoint.authority);
        let headers = credentials::headers(user)?;
        let key = (webhook.location.clone(), webhook.authorities.clone());
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.uses += 1;
        let now = links.uses;
        if let Some((link, used)) = links.by_server.get_mut(&key) {
            *used = now;
            return Ok((link.clone(), headers));
        }
        let identity = user.identity();
        let dialer = self.outbound.dialer(webhook.location.network());
        let link = client(&webhook.authorities, identity, &endpoint.server_name, dialer);
        let link = link.map_err(|error| error.to_string())?;
        if links.by_server.len() >= CLIENTS {
            let oldest = links.by_server.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                links.by_server.remove(&oldest);
            }
        }
        links.by_server.insert(key, (link.clone(), now));
        Ok((link, headers))
    }
}

/// Returns a client of servers whose certificate is for `name`. It speaks HTTP/1.1, as kube-apiserver's: a balancer behind one
/// address then spreads concurrent requests.
fn client(
    authorities: &[u8],
    identity: Option<&ClientIdentity>,
    name: &str,
    dialer: &Dialer,
) -> Result<Link, TrustError> {
    let trust = match authorities {
        [] => Trust::System,
        authorities => Trust::Bundle(authorities),
    };
    let tls = client_tls_to(trust, identity)?;
    Ok(Link::new(tls, DIAL_TIMEOUT, dialer).expecting(name).pooled_http1())
}

/// The time limit as the parameter of a request: in whole seconds, rounded up.
fn seconds(timeout: Duration) -> u64 {
    timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0)
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clients").finish_non_exhaustive()
    }
}
