//! The path by which the router finds handlers.

use http::Uri;
use http::uri::PathAndQuery;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::RequestInfo;

/// Characters that stay encoded in paths.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// Returns `uri`, to which `info` belongs, with a path in which no more is encoded than has to be, because the router compares
/// encoded paths with its own. `None` if that is so already, and for paths of resources, whose names are not routed by: some
/// are passed on as they were sent.
pub(crate) fn routed(uri: &Uri, info: &RequestInfo) -> Option<Uri> {
    let path = uri.path();
    let is_below_an_api = || path.starts_with("/api/") || path.starts_with("/apis/");
    if !path.contains('%') || info.is_resource() && is_below_an_api() {
        return None;
    }
    let mut routed = utf8_percent_encode(info.path(), ENCODED).to_string();
    if let Some(query) = uri.query() {
        routed.push('?');
        routed.push_str(query);
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(routed).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    #[test]
    fn no_more_is_encoded_than_has_to_be() {
        for (path, expected) in [
            ("/livez", None),
            ("/v%65rsion?a=%65", Some("/version?a=%65")),
            ("/apis%2Fapps", Some("/apis/apps")),
            ("/a%20b%3f%25%C3%a4", Some("/a%20b%3F%25%C3%A4")),
            ("/api/v1/namespaces/a/configmaps/%65", None),
            (
                "/%61pi/v1/namespaces/a/configmaps/b",
                Some("/api/v1/namespaces/a/configmaps/b"),
            ),
        ] {
            let uri = Uri::from_static(path);
            let info = RequestInfo::new(&Method::GET, &uri);
            let found = routed(&uri, &info).map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), expected, "{path}");
        }
    }
}
