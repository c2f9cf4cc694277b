//! Rewrites links so that they lead through the proxy.

use http::header::{HOST, HeaderMap, HeaderName};
use http::request::Parts;
use http::{HeaderValue, Uri};

use super::{Target, decoded_path, escaped_path, shortest_path};

const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");

/// Maps paths of the target to paths of this server.
#[derive(Debug)]
pub(super) struct Rewriter {
    /// The path of the request without the part that is passed on, decoded.
    prefix: String,
    /// `Host` of the request.
    host: String,
}

impl Rewriter {
    pub(super) fn new(request: &Parts, target: &Target) -> Self {
        let (path, passed_on) = (text_of(request.uri.path()), text_of(&target.path));
        let prefix = path.strip_suffix(passed_on.as_str()).unwrap_or(&path);
        let host = request.headers.get(HOST).and_then(|host| host.to_str().ok());
        let authority = request.uri.authority().map(http::uri::Authority::as_str);
        Self {
            prefix: prefix.to_owned(),
            host: host.or(authority).unwrap_or_default().to_owned(),
        }
    }

    /// Tells the target the client's URI, and keeps the `Host` of the client's request.
    pub(super) fn announce(&self, target: &Target, headers: &mut HeaderMap) {
        // Only this server's word counts.
        headers.remove(FORWARDED_URI);
        let values = [(FORWARDED_URI, &self.forwarded_uri(target)), (HOST, &self.host)];
        for (name, value) in values {
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes())
                && !value.is_empty()
            {
                headers.insert(name, value);
            }
        }
    }

    /// Returns the shortest form of the path behind the prefix, which is decoded while the path is not, as in Go.
    fn forwarded_uri(&self, target: &Target) -> String {
        let mut uri = shortest_path(&format!("{}/{}", self.prefix, target.path));
        if target.path.ends_with('/') && uri != "/" {
            uri.push('/');
        }
        uri
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
        let path = match text_of(path).starts_with(&self.prefix) {
            true => path.to_owned(),
            false => format!("{}{path}", escaped_path(self.prefix.as_bytes()).trim_end_matches('/')),
        };
        // A client that uses the host of the request knows it; the address of the target is of no use to the client.
        let origin = match authority {
            Some(authority) if authority == self.host => address.split(authority).next().unwrap_or_default(),
            _ => return path + fragment,
        };
        format!("{origin}{}{path}{fragment}", self.host)
    }
}

/// Returns a path without escapes.
fn text_of(path: &str) -> String {
    String::from_utf8_lossy(&decoded_path(path)).into_owned()
}
