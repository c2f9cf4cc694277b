//! The server as its own client.
//!
//! Bootstrap and embedded controllers make requests like any client, so that every write passes the same filters,
//! admission and validation. The identity is that of kube-apiserver's own loopback client.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use axum::body::{Body, to_bytes};
use axum::response::Response;
use http::{Method, Request, StatusCode, header};
use planesmith_access::user::{PRIVILEGED_GROUP, UserInfo};
use planesmith_machinery::clock::Clock;
use planesmith_server::connection::Connection;
use planesmith_server::lifecycle::Front;
use planesmith_server::stores::{STORE_CLOSED, STORE_CLOSED_MEANWHILE};
use serde_json::Value;
use tokio::sync::watch;

/// The largest answer that is read; the body of a successful [`Loopback::call`] is not read at all.
const ANSWER_LIMIT: usize = 16 << 20;

const JSON: &str = "application/json";

/// A client of the server inside the server's process.
#[derive(Clone)]
pub struct Loopback {
    inner: Arc<Inner>,
    /// Writes wait until it is true; `None` for a client whose writes wait for nothing.
    leads: Option<watch::Receiver<bool>>,
}

struct Inner {
    token: String,
    clock: Arc<dyn Clock>,
    /// Not owned: authentication and admission, which the server owns, have clients of it.
    front: OnceLock<Weak<Front>>,
}

/// A reason why a request to the server itself failed.
#[derive(Debug, thiserror::Error)]
pub enum LoopbackError {
    /// The server is not assembled yet, or has stopped.
    #[error("the server is not ready for its own requests")]
    NotReady,
    /// The answer is a failure.
    #[error("{method} {path} was answered with {status}: {message}")]
    Refused {
        /// Method of the request.
        method: Method,
        /// Path of the request.
        path: String,
        /// Status code of the answer.
        status: StatusCode,
        /// Message of the Status.
        message: String,
    },
    /// The answer could not be read.
    #[error("the answer to {method} {path} is not a JSON object")]
    Answer {
        /// Method of the request.
        method: Method,
        /// Path of the request.
        path: String,
    },
}

impl LoopbackError {
    /// Returns the status code, if the request was refused.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            LoopbackError::Refused { status, .. } => Some(*status),
            LoopbackError::NotReady | LoopbackError::Answer { .. } => None,
        }
    }

    /// Returns the text that clients may read: the message of the Status if the request was refused.
    #[must_use]
    pub fn client_message(&self) -> String {
        match self {
            LoopbackError::Refused { message, .. } => message.clone(),
            LoopbackError::NotReady | LoopbackError::Answer { .. } => self.to_string(),
        }
    }
}

impl Loopback {
    /// A client of the server with `clock`, with a new random token.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let token = format!("loopback-{}", uuid::Uuid::new_v4().simple());
        Self {
            inner: Arc::new(Inner {
                token,
                clock,
                front: OnceLock::new(),
            }),
            leads: None,
        }
    }

    /// Returns a client of the same server whose writes wait until the server leads, as `leads` tells.
    #[must_use]
    pub(crate) fn of_leader(&self, leads: watch::Receiver<bool>) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            leads: Some(leads),
        }
    }

    /// Returns the clock of the server, which stamps its own objects.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// Returns the token, to be registered with the authenticator as that of [`Loopback::user`].
    #[must_use]
    pub fn token(&self) -> &str {
        &self.inner.token
    }

    /// Returns the user that these requests are made as.
    #[must_use]
    pub fn user() -> UserInfo {
        UserInfo {
            name: "system:apiserver".to_owned(),
            uid: uuid::Uuid::new_v4().to_string(),
            groups: vec![PRIVILEGED_GROUP.to_owned()],
            ..UserInfo::default()
        }
    }

    /// Connects the client, once, for as long as the server exists.
    pub fn connect(&self, front: &Arc<Front>) {
        // A second connection would be to the same server.
        let _ = self.inner.front.set(Arc::downgrade(front));
    }

    /// Sends a request with a JSON body and waits for the JSON answer. The body of a PATCH is a merge patch.
    ///
    /// # Errors
    ///
    /// Every answer outside 2xx, with the Status' message.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, LoopbackError> {
        let content_type = content_type(&method);
        self.exchange(method, path, content_type, body).await
    }

    /// Sends a request as [`Loopback::send`], ignoring the body of a successful answer, however large.
    ///
    /// # Errors
    ///
    /// As [`Loopback::send`].
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<(), LoopbackError> {
        let response = self.open(&method, path, content_type(&method), body).await?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(refusal(method, path, response).await),
        }
    }

    /// Applies `body` to the object at `path` with force (server-side apply).
    ///
    /// # Errors
    ///
    /// As [`Loopback::send`].
    pub async fn apply(&self, path: &str, manager: &str, body: &Value) -> Result<Value, LoopbackError> {
        let path = format!("{path}?fieldManager={manager}&force=true");
        self.exchange(Method::PATCH, &path, "application/apply-patch+yaml", Some(body))
            .await
    }

    /// Reads `path` in one of the media types of `accept`, as a stream: for lists of any size, and for watches.
    ///
    /// # Errors
    ///
    /// As [`Loopback::send`].
    pub async fn read(&self, path: &str, accept: &str) -> Result<Body, LoopbackError> {
        let response = self.request(&Method::GET, path, (JSON, accept), None).await?;
        match response.status().is_success() {
            true => Ok(response.into_body()),
            false => Err(refusal(Method::GET, path, response).await),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Value, LoopbackError> {
        let response = self.open(&method, path, content_type, body).await?;
        if !response.status().is_success() {
            return Err(refusal(method, path, response).await);
        }
        let unread = || LoopbackError::Answer {
            method: method.clone(),
            path: path.to_owned(),
        };
        let bytes = to_bytes(response.into_body(), ANSWER_LIMIT)
            .await
            .map_err(|_| unread())?;
        if let Some(front) = self.inner.front.get().and_then(Weak::upgrade) {
            front.metrics().own_requests().received(&method, bytes.len());
        }
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn open(
        &self,
        method: &Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Response, LoopbackError> {
        self.request(method, path, (content_type, JSON), body).await
    }

    async fn request(
        &self,
        method: &Method,
        path: &str,
        (content_type, accept): (&str, &str),
        body: Option<&Value>,
    ) -> Result<Response, LoopbackError> {
        if let Some(leads) = &self.leads
            && *method != Method::GET
            && leads.clone().wait_for(|leads| *leads).await.is_err()
        {
            return Err(LoopbackError::NotReady);
        }
        let front = self.inner.front.get().and_then(Weak::upgrade);
        let front = front.ok_or(LoopbackError::NotReady)?;
        let answer_error = || LoopbackError::Answer {
            method: method.clone(),
            path: path.to_owned(),
        };
        let body = match body {
            None => Vec::new(),
            Some(body) => serde_json::to_vec(body).map_err(|_| answer_error())?,
        };
        let (begin, bytes) = (Instant::now(), body.len());
        let request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.inner.token))
            .header(header::ACCEPT, accept)
            .header(header::CONTENT_TYPE, content_type)
            .header(header::USER_AGENT, "kube-apiserver")
            .body(Body::from(body))
            .map_err(|_| answer_error())?;
        let response = front.serve(request, Arc::new(Connection::default())).await;
        let metrics = front.metrics().own_requests();
        metrics.answered(method, response.status(), begin.elapsed(), bytes);
        Ok(response)
    }
}

fn content_type(method: &Method) -> &'static str {
    match *method {
        Method::PATCH => "application/merge-patch+json",
        _ => JSON,
    }
}

/// Reads the error in an answer.
async fn refusal(method: Method, path: &str, response: Response) -> LoopbackError {
    let status = response.status();
    let body = to_bytes(response.into_body(), ANSWER_LIMIT).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let message = body.get("message").and_then(Value::as_str).unwrap_or_default();
    if matches!(message, STORE_CLOSED | STORE_CLOSED_MEANWHILE) {
        return LoopbackError::NotReady;
    }
    LoopbackError::Refused {
        method,
        path: path.to_owned(),
        status,
        message: message.to_owned(),
    }
}

/// The number of attempts at a write that conflicts with other writers. It is limited, since some writes are always
/// answered with 409.
const ATTEMPTS: usize = 8;

/// Repeats `work`, a few times, when another writer changes what it has read before it writes.
///
/// # Errors
///
/// Those of `work`; 409 if it conflicts each time.
pub async fn retry_on_conflict<W, F>(work: W) -> Result<(), LoopbackError>
where
    W: Fn() -> F,
    F: Future<Output = Result<(), LoopbackError>>,
{
    for _ in 1..ATTEMPTS {
        match work().await {
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => {}
            other => return other,
        }
    }
    work().await
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the token.
        f.debug_struct("Loopback").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn requests_that_the_end_of_the_server_interrupts_are_not_refused() {
        let answer = |status: StatusCode, message: &str| {
            let body = serde_json::json!({"kind": "Status", "message": message}).to_string();
            Response::builder()
                .status(status)
                .body(Body::from(body))
                .expect("a response")
        };
        for (status, message) in [
            (StatusCode::SERVICE_UNAVAILABLE, STORE_CLOSED),
            (StatusCode::INTERNAL_SERVER_ERROR, STORE_CLOSED_MEANWHILE),
        ] {
            let error = refusal(Method::PUT, "/api/v1/nodes/a", answer(status, message)).await;
            assert!(matches!(error, LoopbackError::NotReady), "{error}");
        }
        let error = refusal(Method::PUT, "/api/v1/nodes/a", answer(StatusCode::CONFLICT, "no")).await;
        assert_eq!(error.status(), Some(StatusCode::CONFLICT));
    }

    #[tokio::test]
    async fn a_lasting_conflict_is_reported() {
        let refused = |status| LoopbackError::Refused {
            method: Method::PUT,
            path: "/api/v1/namespaces/default/services/kubernetes".to_owned(),
            status,
            message: String::new(),
        };
        let attempts = Cell::new(0);
        let work = |conflicts| {
            attempts.set(0);
            let attempts = &attempts;
            retry_on_conflict(move || {
                attempts.set(attempts.get() + 1);
                let outcome = match attempts.get() <= conflicts {
                    true => Err(refused(StatusCode::CONFLICT)),
                    false => Ok(()),
                };
                std::future::ready(outcome)
            })
        };
        assert!(work(2).await.is_ok());
        let stays = work(usize::MAX).await;
        assert_eq!(stays.unwrap_err().status(), Some(StatusCode::CONFLICT));
        assert_eq!(attempts.get(), ATTEMPTS);
    }
}
