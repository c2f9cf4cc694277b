//! URLs of issuers and of their documents.

use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, LOCATION};
use planesmith_server::proxy::{Destination, Link, OutboundRequest, Target};

/// The longest time for an answer; kube-apiserver's.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a document, in bytes.
const LARGEST: usize = 4 << 20;
/// Maximum number of redirects that are followed for one document.
const REDIRECTS: usize = 10;

/// The parts of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpsUrl {
    authority: String,
    /// Begins with a slash, unless it is empty.
    path: String,
    query: String,
}

/// The parts of a text that may be the URL of an issuer.
#[derive(Clone, Copy, Debug, Default)]
struct Parts<'a> {
    scheme: &'a str,
    authority: &'a str,
    path: &'a str,
    query: &'a str,
    fragment: &'a str,
}

impl<'a> Parts<'a> {
    fn parse(text: &'a str) -> Self {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let end = rest.find('/').unwrap_or(rest.len());
        Self {
            scheme,
            authority: &rest[..end],
            path: &rest[end..],
            query,
            fragment,
        }
    }
}

/// Returns the reasons that a text is not the URL of an issuer, in kube-apiserver's words.
pub(crate) fn problems(text: &str) -> Vec<&'static str> {
    let parts = Parts::parse(text);
    let is_unusable = text.chars().any(|letter| letter.is_control() || letter == ' ');
    if is_unusable {
        return vec!["URL must not contain spaces or control characters"];
    }
    let has_user = parts.authority.contains('@');
    let checks = [
        (!parts.scheme.eq_ignore_ascii_case("https"), "URL scheme must be https"),
        (has_user, "URL must not contain a username or password"),
        (!parts.query.is_empty(), "URL must not contain a query"),
        (!parts.fragment.is_empty(), "URL must not contain a fragment"),
    ];
    checks
        .into_iter()
        .filter(|(found, _)| *found)
        .map(|(_, why)| why)
        .collect()
}

impl HttpsUrl {
    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// It has another scheme than `https`, or no host.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = Parts::parse(text);
        let is_legal = text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_legal || !parts.scheme.eq_ignore_ascii_case("https") || parts.authority.is_empty() {
            return Err(format!("{text:?} is no URL; expected https://HOST/PATH"));
        }
        let url = Self {
            authority: parts.authority.to_owned(),
            path: parts.path.to_owned(),
            query: parts.query.to_owned(),
        };
        url.destination()?;
        Ok(url)
    }

    fn destination(&self) -> Result<Destination, String> {
        let authority = self.authority.as_str();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (authority, Some(443)),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match port {
            Some(port) if !host.is_empty() => Ok(Destination::unrestricted(host, port)),
            _ => Err(format!("{authority:?} is no host; expected HOST or HOST:PORT")),
        }
    }

    /// Requests the document at this URL.
    ///
    /// # Errors
    ///
    /// There is no answer, or one without a document.
    pub(crate) async fn get(&self, link: &Link, headers: &HeaderMap) -> Result<Bytes, String> {
        let mut url = self.clone();
        for _ in 0..=REDIRECTS {
            let target = Target {
                secure: true,
                destination: url.destination()?,
                path: url.path.clone(),
                query: url.query.clone(),
            };
            // Credentials are for the first host only.
            let headers = match url.authority == self.authority {
                true => headers.clone(),
                false => HeaderMap::new(),
            };
            let reply = OutboundRequest::get(headers).send(&target, link, TIMEOUT).await;
            let reply = reply.map_err(|error| format!("Get {:?}: {error}", url.to_string()))?;
            if reply.status.is_redirection()
                && let Some(location) = reply.headers.get(LOCATION)
            {
                url = url.redirected(location.to_str().unwrap_or_default())?;
                continue;
            }
            if !reply.status.is_success() {
                return Err(format!("{}: {}", reply.status, excerpt(&reply.body)));
            }
            if reply.body.len() > LARGEST {
                return Err(format!(
                    "the document at {url} has {} bytes; expected at most {LARGEST}",
                    reply.body.len()
                ));
            }
            return Ok(reply.body);
        }
        Err(format!(
            "Get {:?}: stopped after {REDIRECTS} redirects",
            self.to_string()
        ))
    }

    fn redirected(&self, location: &str) -> Result<Self, String> {
        if !location.starts_with('/') || location.starts_with("//") {
            return Self::parse(location);
        }
        Self::parse(&format!("https://{}{location}", self.authority))
    }
}

impl std::fmt::Display for HttpsUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "https://{}{}", self.authority, self.path)?;
        match self.query.as_str() {
            "" => Ok(()),
            query => write!(f, "?{query}"),
        }
    }
}

/// Returns the beginning of a body, for messages.
fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_issuers_have_a_host_and_a_path_only() {
        assert!(problems("https://issuer.example.com/realms/a").is_empty());
        for (url, problem) in [
            ("http://issuer.example.com", "URL scheme must be https"),
            ("issuer.example.com", "URL scheme must be https"),
            (
                "https://u:p@issuer.example.com",
                "URL must not contain a username or password",
            ),
            ("https://issuer.example.com?a=b", "URL must not contain a query"),
            ("https://issuer.example.com#a", "URL must not contain a fragment"),
            (
                "https://issuer.example.com/\n",
                "URL must not contain spaces or control characters",
            ),
        ] {
            assert_eq!(problems(url), [problem], "{url}");
        }
    }

    #[test]
    fn urls_name_a_destination() {
        let destination = |text: &str| {
            let destination = HttpsUrl::parse(text)?.destination()?;
            Ok::<_, String>(format!("{} {}", destination.host(), destination.port()))
        };
        assert_eq!(
            destination("https://a.example.com/x?y=z"),
            Ok("a.example.com 443".to_owned())
        );
        assert_eq!(destination("https://a:8443"), Ok("a 8443".to_owned()));
        assert_eq!(destination("https://[::1]:8443/"), Ok("::1 8443".to_owned()));
        assert_eq!(destination("https://[::1]/"), Ok("::1 443".to_owned()));
        for wrong in ["", "https://", "http://a", "https://a:b", "https://:1", "https://a b"] {
            assert!(destination(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn redirects_may_leave_out_the_host() {
        let url = HttpsUrl::parse("https://a:1/x").unwrap();
        assert_eq!(url.redirected("/y?z").unwrap().to_string(), "https://a:1/y?z");
        assert_eq!(url.redirected("https://b/y").unwrap().to_string(), "https://b/y");
        assert!(url.redirected("http://b/y").is_err() && url.redirected("//b/y").is_err());
    }
}
