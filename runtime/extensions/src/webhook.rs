//! Conversion of objects by a webhook.

mod metadata;
mod review;

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use planesmith_control_plane::dedicated_runtime::DedicatedRuntime;
use planesmith_control_plane::outbound::{Network, Outbound};
use planesmith_control_plane::service_resolver::{ServicePort, ServiceResolver};
use planesmith_dynamic::custom::{Converter, Converting};
use planesmith_machinery::go_base64;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_server::proxy::{Destination, Link, LinkError, OutboundRequest, Target, client_tls_by, shortest_path};
use serde_json::Value;

use self::review::{Review, kind_in_words};
use crate::definition::Definition;

/// The time limit of a webhook, which is part of its URL.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Calls the webhook of a definition.
pub(crate) struct Webhook {
    client: Arc<WebhookClient>,
    dedicated: DedicatedRuntime,
}

/// The webhook that is called.
struct WebhookClient {
    location: Location,
    link: Result<Link, String>,
    /// The time limit of a call.
    timeout: Duration,
    reviews: Vec<String>,
    services: Arc<dyn ServiceResolver>,
}

/// The location of a webhook.
enum Location {
    Url(String),
    Service { service: ServicePort, path: String },
}

/// The URL of a request, and the server whose certificate is expected there.
struct Address {
    url: String,
    name: String,
    target: Target,
}

impl Webhook {
    /// Returns the webhook of a definition, which is called over `outbound`; `None` if it has none.
    pub(crate) fn from_definition(
        definition: Definition<'_>,
        services: &Arc<dyn ServiceResolver>,
        outbound: &Outbound,
    ) -> Option<Arc<dyn Converter>> {
        let conversion = definition.spec().get("conversion")?;
        if conversion.get("strategy").and_then(Value::as_str) != Some("Webhook") {
            return None;
        }
        let config = conversion.pointer("/webhook/clientConfig")?;
        let text = |pointer: &str| config.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let location = match text("/url") {
            Some(url) => Location::Url(url),
            None => Location::Service {
                service: ServicePort {
                    namespace: text("/service/namespace").unwrap_or_default(),
                    name: text("/service/name").unwrap_or_default(),
                    port: config
                        .pointer("/service/port")
                        .and_then(Value::as_u64)
                        .and_then(|port| u16::try_from(port).ok())
                        .unwrap_or(443),
                },
                path: text("/service/path").unwrap_or_else(|| "/".to_owned()),
            },
        };
        let authorities = text("/caBundle")
            .and_then(|encoded| go_base64::decode(&encoded).ok())
            .unwrap_or_default();
        let network = match location {
            Location::Url(_) => Network::ControlPlane,
            Location::Service { .. } => Network::Cluster,
        };
        let dialer = outbound.dialer(network);
        let link = client_tls_by(&authorities).map(|tls| Link::new(tls, TIMEOUT, dialer));
        let reviews = conversion
            .pointer("/webhook/conversionReviewVersions")
            .and_then(Value::as_array);
        let reviews = reviews.into_iter().flatten().filter_map(Value::as_str);
        let client = Arc::new(WebhookClient {
            location,
            link: link.map_err(|error| error.to_string()),
            timeout: TIMEOUT,
            reviews: reviews.map(str::to_owned).collect(),
            services: Arc::clone(services),
        });
        Some(Arc::new(Self {
            client,
            dedicated: outbound.dedicated.clone(),
        }))
    }
}

impl WebhookClient {
    fn address(&self) -> Result<Address, String> {
        let query = format!("timeout={}s", TIMEOUT.as_secs());
        match &self.location {
            Location::Url(url) => {
                let uri: http::Uri = url.parse().map_err(|_| format!("parse {url:?}: invalid URL"))?;
                let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
                let authority = uri.authority().map_or("", |authority| authority.as_str());
                let path = shortest_path(uri.path());
                Ok(Address {
                    url: format!("https://{authority}{path}?{query}"),
                    name: host.clone(),
                    target: Target {
                        secure: true,
                        destination: Destination::unrestricted(host, uri.port_u16().unwrap_or(443)),
                        path,
                        query,
                    },
                })
            }
            Location::Service { service, path } => {
                let ServicePort { namespace, name, port } = service;
                let host = format!("{name}.{namespace}.svc");
                let path = shortest_path(path);
                let url = format!("https://{host}:{port}{path}?{query}");
                let found = self.services.resolve(service);
                let destination = found.map_err(|why| format!("Post \"{url}\": {why}"))?;
                Ok(Address {
                    url,
                    name: host,
                    target: Target {
                        secure: true,
                        destination,
                        path,
                        query,
                    },
                })
            }
        }
    }

    async fn call(&self, address: &Address, review: &Review) -> Result<Value, String> {
        let failed = |why: &dyn std::fmt::Display| format!("Post \"{}\": {why}", address.url);
        let link = self.link.as_ref().map_err(|why| failed(why))?;
        let document = review.document().to_string().into_bytes();
        let link = link.clone().expecting(address.name.as_str());
        let request = OutboundRequest::post(HeaderMap::new(), document);
        let answer = request.send(&address.target, &link, self.timeout).await;
        Review::read(&answer.map_err(|error: LinkError| failed(&error))?)
    }

    async fn convert(&self, documents: &[Value], to: &ResourceFacts) -> Result<Vec<Value>, String> {
        let Some(first) = documents.first() else {
            return Ok(Vec::new());
        };
        let review = Review::new(&self.reviews, documents, &to.api_version)?;
        let kind = kind_in_words(first);
        let failed = |why: String| format!("conversion webhook for {kind} failed: {why}");
        let address = self.address().map_err(failed)?;
        let answer = self.call(&address, &review).await.map_err(failed)?;
        let mut converted = review.answer(answer).map_err(failed)?;
        if converted.len() != documents.len() {
            let (count, expected) = (converted.len(), documents.len());
            return Err(format!(
                "conversion webhook for {kind} returned {count} objects, expected {expected}"
            ));
        }
        for (before, after) in documents.iter().zip(&mut converted) {
            let kind = kind_in_words(before);
            metadata::check(before, after, to)
                .map_err(|why| format!("conversion webhook for {kind} returned invalid object{why}"))?;
            metadata::restore(before, after)
                .map_err(|why| format!("conversion webhook for {kind} returned invalid metadata: {why}"))?;
        }
        Ok(converted)
    }
}

impl Converter for Webhook {
    fn convert<'a>(&'a self, documents: Vec<Value>, to: &'a ResourceFacts) -> Converting<'a, Vec<Value>> {
        let (client, to) = (Arc::clone(&self.client), to.clone());
        let work = async move { client.convert(&documents, &to).await };
        Box::pin(async move { self.dedicated.run(work).await? })
    }

    fn convert_now(&self, document: Value, to: &ResourceFacts) -> Result<Value, String> {
        let (client, to) = (Arc::clone(&self.client), to.clone());
        let work = async move { client.convert(&[document], &to).await };
        let mut converted = self.dedicated.block_on(work)??;
        Ok(converted.pop().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
