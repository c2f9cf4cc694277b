//! An HTTP/2 connection to a server, shared by concurrent requests.

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;

use crate::body::RequestBody;
use crate::{Endpoint, Watch};

/// The window size of Go's HTTP/2 client, large enough that the client never delays a long list.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 64 << 20;

/// An open connection. Clones are cheap and share it; it closes once the last clone and the last response body are dropped.
#[derive(Clone, Debug)]
pub struct Connection {
    sender: SendRequest<RequestBody>,
    base: String,
    authorization: HeaderValue,
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status code.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The raw body.
    pub body: Bytes,
}

impl Answer {
    /// Parses the body as JSON.
    ///
    /// # Errors
    ///
    /// The body is not JSON; the error contains the start of the body.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("{} with {}", self.status, self.excerpt()))
    }

    /// Returns the body as text, truncated to a few hundred characters for messages.
    #[must_use]
    pub fn excerpt(&self) -> String {
        String::from_utf8_lossy(&self.body).chars().take(400).collect()
    }

    /// Returns the response itself if its status is `status`.
    ///
    /// # Errors
    ///
    /// The status differs; the error contains the response.
    pub fn expect(self, status: u16) -> Result<Self> {
        anyhow::ensure!(
            self.status == status,
            "expected status {status}, got {}: {}",
            self.status,
            self.excerpt()
        );
        Ok(self)
    }
}

impl Connection {
    /// Connects to `endpoint` and negotiates HTTP/2.
    ///
    /// # Errors
    ///
    /// The server is unreachable or does not support HTTP/2.
    pub async fn open(endpoint: &Endpoint) -> Result<Self> {
        let stream = TokioIo::new(endpoint.open("h2").await?);
        let (sender, driver) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(stream)
            .await?;
        // The task ends with the connection; requests in progress receive its errors.
        tokio::spawn(driver);
        Ok(Self {
            sender,
            base: endpoint.url(),
            authorization: format!("Bearer {}", endpoint.token()).try_into()?,
        })
    }

    /// Creates a request to `path` with the endpoint's token.
    #[must_use]
    pub fn request(&self, method: Method, path: &str) -> http::request::Builder {
        Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(AUTHORIZATION, &self.authorization)
    }

    /// Sends `request` and returns the response once the headers have arrived.
    ///
    /// # Errors
    ///
    /// The connection breaks before that.
    pub async fn send(&self, request: Request<RequestBody>) -> Result<Response<Incoming>> {
        let mut sender = self.sender.clone();
        sender.ready().await?;
        Ok(sender.send_request(request).await?)
    }

    /// Sends `request` and reads the complete response.
    ///
    /// # Errors
    ///
    /// The connection breaks before the end of the response.
    pub async fn finish(&self, request: Request<RequestBody>) -> Result<Answer> {
        let (head, body) = self.send(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    /// Reads `path`.
    ///
    /// # Errors
    ///
    /// Those of [`finish`](Self::finish).
    pub async fn get(&self, path: &str) -> Result<Answer> {
        self.finish(self.request(Method::GET, path).body(Bytes::new().into())?)
            .await
    }

    /// Reads the JSON document at `path`.
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get); the status is not 200; the body is not JSON.
    pub async fn get_json(&self, path: &str) -> Result<Value> {
        self.get(path).await?.expect(200)?.json()
    }

    /// Reads the JSON document at `path` in the representation `accepted`, an `Accept` header.
    ///
    /// # Errors
    ///
    /// Those of [`get_json`](Self::get_json).
    pub async fn get_json_as(&self, path: &str, accepted: &str) -> Result<Value> {
        let request = self.request(Method::GET, path).header(ACCEPT, accepted);
        let answer = self.finish(request.body(Bytes::new().into())?).await?;
        answer.expect(200)?.json()
    }

    /// Sends the JSON `body` to `path`.
    ///
    /// # Errors
    ///
    /// Those of [`finish`](Self::finish).
    pub async fn call(&self, method: Method, path: &str, body: impl Into<Bytes>) -> Result<Answer> {
        self.call_as("application/json", method, path, body).await
    }

    /// Sends `body` to `path` as `media_type`.
    ///
    /// # Errors
    ///
    /// Those of [`finish`](Self::finish).
    pub async fn call_as(
        &self,
        media_type: &str,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<Answer> {
        let request = self.request(method, path).header(CONTENT_TYPE, media_type);
        self.finish(request.body(body.into().into())?).await
    }

    /// Opens a watch at `path`; returns once the server has accepted it.
    ///
    /// # Errors
    ///
    /// The status is not 200; the error contains the response.
    pub async fn watch(&self, path: &str) -> Result<Watch> {
        let request = self.request(Method::GET, path).body(Bytes::new().into())?;
        let (head, body) = self.send(request).await?.into_parts();
        if head.status != StatusCode::OK {
            let body = body.collect().await?.to_bytes();
            Answer {
                status: head.status,
                headers: head.headers,
                body,
            }
            .expect(200)?;
            unreachable!("a status other than 200 was refused above");
        }
        Ok(Watch::new(body))
    }
}
