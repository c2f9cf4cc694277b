//! The messages for answers without success.

use http::StatusCode;
use http::header::CONTENT_TYPE;
use planesmith_machinery::go_format::quote;
use serde_json::Value;

use super::BufferedResponse;

/// Maximum length of an error page in a message, in bytes; kube-apiserver's value.
const MAX_PAGE: usize = 2048;

/// The text of a page that is not shown.
const UNKNOWN: &str = "unknown";

impl BufferedResponse {
    /// Returns the message for an answer without success, as clients of Kubernetes word it: that of the Status in the body, or
    /// one for the status code.
    #[must_use]
    pub fn refusal(&self) -> String {
        if let Some(message) = self.status_message() {
            return message;
        }
        let text = self.page();
        let message = match self.status {
            StatusCode::BAD_REQUEST => "the server rejected our request for an unknown reason",
            StatusCode::UNAUTHORIZED => "the server has asked for the client to provide credentials",
            StatusCode::NOT_ACCEPTABLE if text.is_empty() || text == UNKNOWN => {
                "the server was unable to respond with a content type that the client supports"
            }
            StatusCode::FORBIDDEN | StatusCode::NOT_ACCEPTABLE | StatusCode::UNSUPPORTED_MEDIA_TYPE => return text,
            StatusCode::NOT_FOUND => "the server could not find the requested resource",
            StatusCode::METHOD_NOT_ALLOWED => "the server does not allow this method on the requested resource",
            StatusCode::CONFLICT => "the server reported a conflict",
            StatusCode::UNPROCESSABLE_ENTITY => "the server rejected our request due to an error in our request",
            StatusCode::SERVICE_UNAVAILABLE => "the server is currently unable to handle the request",
            StatusCode::GATEWAY_TIMEOUT => {
                "the server was unable to return a response in the time allotted, but may still be processing the request"
            }
            StatusCode::TOO_MANY_REQUESTS => {
                "the server has received too many requests and has asked us to try again later"
            }
            status if status.is_server_error() => {
                let text = quote(&text);
                return format!("an error on the server ({text}) has prevented the request from succeeding");
            }
            status => {
                let code = status.as_u16();
                return format!("the server responded with the status code {code} but did not return more information");
            }
        };
        message.to_owned()
    }

    /// Returns the body, or the message for an answer with none, as clients of Kubernetes word it.
    ///
    /// # Errors
    ///
    /// The body is empty.
    pub fn content(&self) -> Result<&[u8], String> {
        if !self.body.is_empty() {
            return Ok(&self.body);
        }
        let code = self.status.as_u16();
        let media_type = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.unwrap_or("application/json");
        Err(format!(
            "0-length response with status code: {code} and content type: {media_type}"
        ))
    }

    /// The message of a Status of a failure in the body.
    fn status_message(&self) -> Option<String> {
        let status: Value = serde_json::from_slice(&self.body).ok()?;
        let text = |name: &str| status.get(name).and_then(Value::as_str);
        let is_failure = text("kind") == Some("Status") && text("status") == Some("Failure");
        text("message").filter(|_| is_failure).map(str::to_owned)
    }

    /// The text of an error page; other content is not shown.
    fn page(&self) -> String {
        let media_type = self.headers.get(CONTENT_TYPE);
        let is_text = media_type.is_none_or(|value| value.as_bytes().starts_with(b"text/"));
        if !is_text {
            return UNKNOWN.to_owned();
        }
        let text = &self.body[..self.body.len().min(MAX_PAGE)];
        String::from_utf8_lossy(text).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::HeaderValue;

    use super::*;

    fn refusal(status: u16, media_type: &'static str, body: &'static str) -> String {
        let response = BufferedResponse {
            status: StatusCode::from_u16(status).expect("a status"),
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]),
            body: body.into(),
        };
        response.refusal()
    }

    #[test]
    fn refusals_are_worded_by_their_status() {
        let text = |status| refusal(status, "text/plain", " hello\n");
        assert_eq!(text(403), "hello");
        assert_eq!(text(406), "hello");
        assert_eq!(text(409), "the server reported a conflict");
        assert_eq!(
            text(500),
            "an error on the server (\"hello\") has prevented the request from succeeding"
        );
        let json = |status| refusal(status, "application/json", "{}");
        assert_eq!(
            json(500),
            "an error on the server (\"unknown\") has prevented the request from succeeding"
        );
        assert_eq!(
            json(406),
            "the server was unable to respond with a content type that the client supports"
        );
        let status = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no such color"}"#;
        assert_eq!(refusal(500, "application/json", status), "no such color");
    }
}
