//! `pods/exec`, `pods/attach` and `pods/portforward`: streams into pods, through kubelets.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_access::authorization::{self, Attributes, Authorizer, Decision};
use planesmith_api_defs::core::v1::{Pod, PodAttachOptions, PodExecOptions, PodPortForwardOptions};
use planesmith_machinery::feature::Features;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::discovery::ServedSubresource;
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::proxy::{LinkError, Target, tunnel};
use planesmith_server::request::Verb;
use planesmith_streams::remote_command::{self, StreamFlags};
use planesmith_streams::spdy_tunnel::{is_spdy_tunnel, tunnel_spdy};

use super::container;
use super::kubelets::Kubelets;
use super::parameters::{Parameters, Sent};
use super::stored::Stored;
use crate::features::{AUTHORIZE_POD_WEBSOCKET_UPGRADE_CREATE_PERMISSION, EXTEND_WEBSOCKETS_TO_KUBELET};

const CREATE: &str = "create";

/// The sort of a stream.
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
    /// Returns the name of the subresource.
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

    /// Reads the options of a stream from the query.
    fn wishes(self, parameters: Parameters<'_>) -> ApiResult<Wishes> {
        let container = parameters.text("container");
        let [stdin, stdout, stderr, tty] = ["stdin", "stdout", "stderr", "tty"].map(|name| parameters.flag(name));
        Ok(match self {
            Stream::Exec => Wishes::Exec(PodExecOptions {
                stdin,
                stdout,
                stderr,
                tty,
                container,
                command: parameters.0.all("command").map(Into::into).collect(),
            }),
            Stream::Attach => Wishes::Attach(PodAttachOptions {
                stdin,
                stdout,
                stderr,
                tty,
                container,
            }),
            Stream::PortForward => {
                let mut ports = Vec::new();
                for several in parameters.0.all("ports") {
                    for port in several.split(',') {
                        ports.push(port_number(port)?);
                    }
                }
                Wishes::PortForward(PodPortForwardOptions { ports })
            }
        })
    }
}

/// Parses a port as Go does unsigned numbers of 16 bits: digits alone.
fn port_number(text: &str) -> ApiResult<i32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = match text.parse::<u16>() {
        Ok(port) if is_number => return Ok(i32::from(port)),
        Err(_) if is_number => "value out of range",
        _ => "invalid syntax",
    };
    let quoted = planesmith_machinery::go_format::quote(text);
    Err(ApiError::bad_request(format!(
        "cannot convert to []int32: strconv.ParseUint: parsing {quoted}: {why}"
    )))
}

/// The options of a stream.
#[derive(Debug)]
enum Wishes {
    Exec(PodExecOptions),
    Attach(PodAttachOptions),
    PortForward(PodPortForwardOptions),
}

impl Wishes {
    /// Returns the options as the admission plugins leave them.
    async fn admitted(self, endpoint: &Endpoint, call: &Call) -> ApiResult<Self> {
        Ok(match self {
            Wishes::Exec(options) => Wishes::Exec(endpoint.admit_connection(call, options).await?),
            Wishes::Attach(options) => Wishes::Attach(endpoint.admit_connection(call, options).await?),
            Wishes::PortForward(options) => Wishes::PortForward(endpoint.admit_connection(call, options).await?),
        })
    }

    /// Returns the streams of a command; `None` for ports.
    fn stream_flags(&self) -> Option<StreamFlags> {
        let [stdin, stdout, stderr, tty] = match self {
            Wishes::Exec(options) => [options.stdin, options.stdout, options.stderr, options.tty],
            Wishes::Attach(options) => [options.stdin, options.stdout, options.stderr, options.tty],
            Wishes::PortForward(_) => return None,
        };
        Some(StreamFlags {
            stdin,
            stdout,
            stderr,
            tty,
        })
    }

    /// Returns the path at the kubelet.
    fn path(&self, pod: &Pod) -> ApiResult<String> {
        let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
        Ok(match self {
            Wishes::Exec(options) => format!(
                "/exec/{namespace}/{name}/{}",
                container::choose(pod, &options.container)?
            ),
            Wishes::Attach(options) => format!(
                "/attach/{namespace}/{name}/{}",
                container::choose(pod, &options.container)?
            ),
            Wishes::PortForward(_) => format!("/portForward/{namespace}/{name}"),
        })
    }

    /// Returns the parameters under the kubelet's names.
    fn query(&self) -> String {
        let mut sent = Sent::default();
        let (streams, command) = match self {
            Wishes::Exec(options) => (
                [options.stdin, options.stdout, options.stderr, options.tty],
                options.command.as_slice(),
            ),
            Wishes::Attach(options) => ([options.stdin, options.stdout, options.stderr, options.tty], &[][..]),
            Wishes::PortForward(options) => {
                let ports: Vec<String> = options.ports.iter().map(ToString::to_string).collect();
                sent.add_if(!ports.is_empty(), "port", &ports.join(","));
                return sent.encode();
            }
        };
        for (set, name) in streams.into_iter().zip(["input", "output", "error", "tty"]) {
            sent.add_if(set, name, "1");
        }
        for word in command {
            sent.add("command", &word);
        }
        sent.encode()
    }
}

/// Requires the permission to create a stream. WebSocket opens it with GET, which policies grant to readers.
async fn authorize_create(authorizer: &dyn Authorizer, stream: Stream, call: &Call) -> ApiResult<()> {
    let is_checked = call
        .ctx
        .features
        .has(&AUTHORIZE_POD_WEBSOCKET_UPGRADE_CREATE_PERMISSION);
    if call.ctx.info.verb_text() == CREATE || !is_checked {
        return Ok(());
    }
    let target = authorization::Target::Resource {
        group: "",
        version: "v1",
        resource: "pods",
        subresource: stream.name(),
        namespace: call.namespace(),
        name: call.name(),
    };
    match authorizer
        .authorize(&Attributes::new(&call.ctx.user, CREATE, target))
        .wait()
        .await
    {
        Decision::Allow(_) => Ok(()),
        Decision::Deny(reason) | Decision::NoOpinion(reason) => {
            let pods = GroupResource::new("", "pods");
            Err(ApiError::forbidden(&pods, call.name(), reason))
        }
        Decision::Failed(error) | Decision::FailedClosed(error) => Err(ApiError::internal(error)),
    }
}

/// True if a kubelet that declares the features `declared` serves streams over WebSocket itself, and a server with
/// `features` passes them through.
fn speaks_web_socket(declared: &[String], features: &Features) -> bool {
    let extended = &EXTEND_WEBSOCKETS_TO_KUBELET;
    features.has(extended) && declared.iter().any(|feature| feature == extended.name())
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
        let wishes = self.stream.wishes(Parameters(call.query()))?;
        let wishes = wishes.admitted(endpoint, call).await?;
        let authorizer = &*endpoint.stores().options().authorizer;
        authorize_create(authorizer, self.stream, call).await?;
        let pod: Pod = self.objects.get(call.namespace(), call.name())?;
        let path = wishes.path(&pod)?;
        if pod.spec.node_name.is_empty() {
            let why = format!("pod {} does not have a host assigned", pod.metadata.name);
            return Err(ApiError::bad_request(why));
        }
        let kubelet = self.kubelets.find_for_pod(&pod.spec.node_name)?;
        let target = Target {
            path,
            query: wishes.query(),
            ..kubelet.target
        };
        let (headers, link) = (&call.parts.headers, self.kubelets.link());
        let features = &call.ctx.features;
        if speaks_web_socket(&kubelet.features, features) {
            return tunnel(call, &target, link).await;
        }
        if let Some(flags) = wishes.stream_flags()
            && remote_command::is_translated(headers, features)
        {
            // After the upgrade, an error could only be sent on the error channel.
            if let Err(error @ LinkError::NotAllowed) = link.check(&target.destination).await {
                return Err(ApiError::bad_request(error.to_string()));
            }
            return Ok(remote_command::translate(&call.parts, target, link.clone(), flags));
        }
        match wishes {
            Wishes::PortForward(_) if is_spdy_tunnel(headers, features) => tunnel_spdy(call, &target, link).await,
            _ => tunnel(call, &target, link).await,
        }
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

#[cfg(test)]
mod tests;
