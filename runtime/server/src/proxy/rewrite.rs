//! Rewrites links so that they lead through the proxy.

use http::header::{HOST, HeaderMap, HeaderName};
use http::request::Parts;
use http::{HeaderValue, Uri};

use super::Target;

const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");

/// Maps paths of the target to paths of this server.
#[derive(Debug)]
pub(super) struct Rewriter {
    /// The path of the request without the part that is passed on.
    prefix: String,
    /// `Host` of the request.
    host: String,
}

impl Rewriter {
    pub(super) fn new(request: &Parts, target: &Target) -> Self {
        let path = request.uri.path();
        let prefix = path.strip_suffix(target.path.as_str()).unwrap_or(path);
        let host = request.headers.get(HOST).and_then(|host| host.to_str().ok());
        let authority = request.uri.authority().map(http::uri::Authority::as_str);
        Self {
            prefix: prefix.to_owned(),
            host: host.or(authority).unwrap_or_default().to_owned(),
        }
    }

    /// Tells the target the client's URI, and keeps the `Host` of the client's request.
    pub(super) fn announce(&self, target: &Target, headers: &mut HeaderMap) {
        let uri = self.behind_prefix(&target.path);
        let values = [(FORWARDED_URI, uri.as_str()), (HOST, self.host.as_str())];
        for (name, value) in values {
            if let Ok(value) = HeaderValue::try_from(value)
                && !value.is_empty()
            {
                headers.insert(name, value);
            }
        }
    }

    /// The address of the target's link through the proxy. Relative links and links to other servers stay as they are.
    pub(super) fn rewrite(&self, link: &str, target: &Target) -> String {
        // The parser does not accept fragments.
        let (address, fragment) = link.split_at(link.find('#').unwrap_or(link.len()));
        // Without a scheme, `//host/path` would be parsed as a path.
        let absolute = match address.starts_with("//") {
            true => format!("http:{address}"),
            false => address.to_owned(),
        };
        let Ok(uri) = absolute.parse::<Uri>() else {
            return link.to_owned();
        };
        let authority = uri.authority().map(http::uri::Authority::as_str);
        let default_port = if target.secure { ":443" } else { ":80" };
        let own = target.authority();
        let is_target = |authority: &str| {
            authority == own || authority == self.host || Some(authority) == own.strip_suffix(default_port)
        };
        if authority.is_some_and(|authority| !is_target(authority)) || !uri.path().starts_with('/') {
            return link.to_owned();
        }
        let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let path = match path.starts_with(self.prefix.as_str()) {
            true => path.to_owned(),
            false => self.behind_prefix(path),
        };
        // A client that uses the host of the request knows it; the address of the target is of no use to the client.
        let origin = match authority {
            Some(authority) if authority == self.host => address.split(authority).next().unwrap_or_default(),
            _ => return path + fragment,
        };
        format!("{origin}{}{path}{fragment}", self.host)
    }

    fn behind_prefix(&self, path: &str) -> String {
        format!("{}{path}", self.prefix.trim_end_matches('/'))
    }
}
