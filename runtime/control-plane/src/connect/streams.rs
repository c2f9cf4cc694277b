//! `pods/exec`, `pods/attach` and `pods/portforward`: streams into pods, through the agents of their nodes.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_api_defs::core::v1::Pod;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::proxy::{Target, tunnel};
use planesmith_server::request::Verb;
use planesmith_server::routes::ServedSubresource;

use super::container;
use super::kubelets::Kubelets;
use super::parameters::{Parameters, Sent};
use super::stored::Stored;

/// What a stream leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// A new process.
    Exec,
    /// The process of a container.
    Attach,
    /// Ports.
    PortForward,
}

impl Stream {
    /// The subresource.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Stream::Exec => "exec",
            Stream::Attach => "attach",
            Stream::PortForward => "portforward",
        }
    }

    const fn kind(self) -> &'static str {
        match self {
            Stream::Exec => "PodExecOptions",
            Stream::Attach => "PodAttachOptions",
            Stream::PortForward => "PodPortForwardOptions",
        }
    }

    /// The path at the agent.
    fn path(self, pod: &Pod, wanted: &str) -> ApiResult<String> {
        let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
        Ok(match self {
            Stream::Exec => format!("/exec/{namespace}/{name}/{}", container::choose(pod, wanted)?),
            Stream::Attach => format!("/attach/{namespace}/{name}/{}", container::choose(pod, wanted)?),
            Stream::PortForward => format!("/portForward/{namespace}/{name}"),
        })
    }

    /// The parameters as the agent calls them.
    fn query(self, parameters: Parameters<'_>) -> ApiResult<String> {
        let mut sent = Sent::default();
        if self == Stream::PortForward {
            let mut ports = Vec::new();
            for port in parameters.0.all("ports") {
                let parsed = port.parse::<i32>();
                ports.push(parsed.map_err(|_| {
                    let quoted = planesmith_machinery::go_format::quote(&port);
                    ApiError::bad_request(format!("strconv.ParseInt: parsing {quoted}: invalid syntax"))
                })?);
            }
            let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
            sent.add_if(!ports.is_empty(), "port", &ports.join(","));
            return Ok(sent.encode());
        }
        for (own, theirs) in [
            ("stdin", "input"),
            ("stdout", "output"),
            ("stderr", "error"),
            ("tty", "tty"),
        ] {
            sent.add_if(parameters.flag(own), theirs, "1");
        }
        if self == Stream::Exec {
            for word in parameters.0.all("command") {
                sent.add("command", word);
            }
        }
        Ok(sent.encode())
    }
}

/// Answers one of the streams.
pub(super) struct Streams {
    stream: Stream,
    objects: Arc<Stored>,
    kubelets: Arc<Kubelets>,
}

impl Streams {
    pub(super) fn new(stream: Stream, objects: Arc<Stored>, kubelets: Arc<Kubelets>) -> Self {
        Self {
            stream,
            objects,
            kubelets,
        }
    }

    async fn answer(&self, endpoint: &Endpoint, call: &Call) -> ApiResult<Response> {
        let parameters = Parameters(call.query());
        let query = self.stream.query(parameters)?;
        endpoint.admit_connection(call).await?;
        let pod: Pod = self.objects.get(call.namespace(), call.name())?;
        let path = self.stream.path(&pod, &parameters.text("container"))?;
        if pod.spec.node_name.is_empty() {
            let why = format!("pod {} does not have a host assigned", pod.metadata.name);
            return Err(ApiError::bad_request(why));
        }
        let target = Target {
            path,
            query,
            ..self.kubelets.find(&pod.spec.node_name)?
        };
        tunnel(&call.parts, &target, self.kubelets.link()).await
    }
}

impl Subresource for Streams {
    fn served(&self) -> ServedSubresource {
        let verbs = vec![Verb::Create, Verb::Get];
        super::served(self.stream.name(), self.stream.kind(), verbs, false)
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, _: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move { self.answer(&endpoint, call).await })
    }
}
