//! `pods/log`: the output of a container.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::StatusCode;
use planesmith_api_defs::core::v1::{Pod, PodLogOptions};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::status::{ApiError, ApiResult, Cause, Details};
use planesmith_server::discovery::ServedSubresource;
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::negotiation::check_streamed;
use planesmith_server::proxy::{self, LinkError, Target};
use planesmith_server::request::Verb;
use planesmith_server::response;

use super::container;
use super::kubelets::Kubelets;
use super::parameters::{Parameters, Sent};
use super::stored::Stored;

/// The most bytes of a kubelet's refusal that are passed on.
const REFUSAL_LIMIT: usize = 10_000;

/// Answers `pods/log` from the node's kubelet.
pub(super) struct Logs {
    objects: Arc<Stored>,
    kubelets: Arc<Kubelets>,
}

impl Logs {
    pub(super) fn new(objects: Arc<Stored>, kubelets: Arc<Kubelets>) -> Self {
        Self { objects, kubelets }
    }

    async fn answer(&self, call: &Call) -> ApiResult<Response> {
        check_streamed(&call.parts, "text/plain")?;
        let options = options(Parameters(call.query()))?;
        check(call.name(), &options)?;
        let pod: Pod = self.objects.get(call.namespace(), call.name())?;
        let container = container::choose(&pod, &options.container)?;
        if pod.spec.node_name.is_empty() {
            // Nothing is written yet.
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            return Ok(response);
        }
        let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
        let target = Target {
            path: format!("/containerLogs/{namespace}/{name}/{container}"),
            query: query(&options),
            ..self.kubelets.find_for_pod(&pod.spec.node_name)?.target
        };
        let link = match options.insecure_skip_tls_verify_backend {
            true => self.kubelets.trusting_link(),
            false => self.kubelets.link(),
        };
        let answer = proxy::fetch(&target, link).await;
        let answer = answer.map_err(|error| {
            if matches!(error, LinkError::NotAllowed) {
                return ApiError::bad_request(error.to_string());
            }
            let url = format!("https://{}{}", target.authority(), target.path);
            let query = match target.query.as_str() {
                "" => String::new(),
                query => format!("?{query}"),
            };
            ApiError::unnamed(500, format!("Get \"{url}{query}\": {error}"))
        })?;
        let status = answer.status();
        if !(200..=206).contains(&status.as_u16()) {
            return Err(refusal(call.name(), status, Body::new(answer.into_body())).await);
        }
        Ok(response::stream(
            StatusCode::OK,
            "text/plain",
            Body::new(answer.into_body()),
        ))
    }
}

impl Subresource for Logs {
    fn served(&self) -> ServedSubresource {
        ServedSubresource {
            name: "log".into(),
            kind: None,
            verbs: vec![Verb::Get],
            open_ended: false,
        }
    }

    fn serve<'a>(&'a self, _: Arc<Endpoint>, call: &'a Call, _: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(self.answer(call))
    }
}

fn options(parameters: Parameters<'_>) -> ApiResult<PodLogOptions> {
    Ok(PodLogOptions {
        container: parameters.text("container"),
        follow: parameters.flag("follow"),
        previous: parameters.flag("previous"),
        since_seconds: parameters.number("sinceSeconds")?,
        since_time: parameters.time("sinceTime")?,
        timestamps: parameters.flag("timestamps"),
        tail_lines: parameters.number("tailLines")?,
        limit_bytes: parameters.number("limitBytes")?,
        insecure_skip_tls_verify_backend: parameters.flag("insecureSkipTLSVerifyBackend"),
        stream: parameters.0.first("stream").map(std::borrow::Cow::into_owned),
    })
}

fn check(name: &str, options: &PodLogOptions) -> ApiResult<()> {
    let mut errors = FieldErrors::default();
    if let Some(lines) = options.tail_lines.filter(|lines| *lines < 0) {
        errors.invalid("tailLines", lines, "must be greater than or equal to 0");
    }
    if let Some(bytes) = options.limit_bytes.filter(|bytes| *bytes < 1) {
        errors.invalid("limitBytes", bytes, "must be greater than 0");
    }
    match (options.since_seconds, &options.since_time) {
        (Some(_), Some(_)) => {
            // The path of the options as a whole, as Go prints it.
            errors.forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified");
        }
        (Some(seconds), None) if seconds < 1 => errors.invalid("sinceSeconds", seconds, "must be greater than 0"),
        _ => {}
    }
    if options.stream.is_some() {
        // Kubelets send single streams only behind a feature that is off.
        errors.forbidden("stream", "may not be specified");
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(&GroupKind::new("", "PodLogOptions"), name, &errors))
}

fn query(options: &PodLogOptions) -> String {
    let mut sent = Sent::default();
    sent.add_if(options.follow, "follow", "true");
    sent.add_if(options.previous, "previous", "true");
    sent.add_if(options.timestamps, "timestamps", "true");
    let numbers = [
        ("sinceSeconds", options.since_seconds),
        ("tailLines", options.tail_lines),
        ("limitBytes", options.limit_bytes),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            sent.add(name, &number);
        }
    }
    if let Some(time) = &options.since_time {
        sent.add("sinceTime", &time);
    }
    sent.encode()
}

/// Turns a kubelet's refusal into a Status.
async fn refusal(name: &str, status: StatusCode, body: Body) -> ApiError {
    let text = axum::body::to_bytes(body, REFUSAL_LIMIT).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    match status {
        StatusCode::INTERNAL_SERVER_ERROR => ApiError::internal(text),
        StatusCode::BAD_REQUEST => ApiError::bad_request(text),
        _ => {
            let mut error = match status {
                StatusCode::NOT_FOUND => {
                    let mut error = ApiError::path_not_found();
                    "the server could not find the requested resource".clone_into(&mut error.status_mut().message);
                    error
                }
                status => ApiError::unnamed(
                    i32::from(status.as_u16()),
                    format!(
                        "the server responded with the status code {} but did not return more information",
                        status.as_u16()
                    ),
                ),
            };
            let message = &mut error.status_mut().message;
            *message = format!("{message} ( pods/log {name})");
            error.status_mut().details = Some(Details {
                name: name.to_owned(),
                kind: "pods/log".to_owned(),
                causes: vec![Cause {
                    reason: "UnexpectedServerResponse".to_owned(),
                    message: text,
                    field: String::new(),
                }],
                ..Details::default()
            });
            error
        }
    }
}
