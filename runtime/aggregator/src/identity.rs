//! Headers that pass the user to another server.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use planesmith_access::user::{PRIVILEGED_GROUP, UserInfo};

const USER: HeaderName = HeaderName::from_static("x-remote-user");
const UID: HeaderName = HeaderName::from_static("x-remote-uid");
const GROUP: HeaderName = HeaderName::from_static("x-remote-group");
const EXTRA: &str = "x-remote-extra-";

/// Characters that are percent-encoded in header names.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'*')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// Sets the user headers for `user`, replacing all that the client sent.
pub(crate) fn announce(user: &UserInfo, headers: &mut HeaderMap) {
    let stale = headers.keys().filter(|name| is_announcement(name));
    let stale: Vec<HeaderName> = stale.cloned().collect();
    for name in stale {
        headers.remove(name);
    }
    add(headers, USER, &user.name);
    if !user.uid.is_empty() {
        add(headers, UID, &user.uid);
    }
    for group in &user.groups {
        add(headers, GROUP, group);
    }
    for (key, values) in &user.extra {
        let name = format!("{EXTRA}{}", utf8_percent_encode(key, ESCAPED));
        let Ok(name) = HeaderName::try_from(name) else { continue };
        for value in values {
            add(headers, name.clone(), value);
        }
    }
}

/// The user of the aggregator's own requests, who may read everything.
pub(crate) fn aggregator() -> UserInfo {
    UserInfo {
        name: "system:kube-aggregator".to_owned(),
        groups: vec![PRIVILEGED_GROUP.to_owned()],
        ..UserInfo::default()
    }
}

fn is_announcement(name: &HeaderName) -> bool {
    [USER, UID, GROUP].contains(name) || name.as_str().starts_with(EXTRA)
}

/// Adds a header; omits it if the value is not a valid header value.
fn add(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
        headers.append(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_user_of_the_request_is_announced() {
        let mut headers = HeaderMap::new();
        for name in ["x-remote-user", "x-remote-group", "x-remote-extra-scope", "accept"] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static("forged"));
        }
        let user = UserInfo {
            name: "carol".to_owned(),
            uid: "7".to_owned(),
            groups: vec!["dev".to_owned(), "ops".to_owned()],
            extra: [("example.com/scope".to_owned(), vec!["a".to_owned(), "b".to_owned()])].into(),
        };
        announce(&user, &mut headers);
        let said = headers
            .iter()
            .map(|(name, value)| format!("{name}={}", value.to_str().unwrap()));
        let mut said: Vec<String> = said.collect();
        said.sort();
        assert_eq!(
            said,
            [
                "accept=forged",
                "x-remote-extra-example.com%2fscope=a",
                "x-remote-extra-example.com%2fscope=b",
                "x-remote-group=dev",
                "x-remote-group=ops",
                "x-remote-uid=7",
                "x-remote-user=carol",
            ]
        );
    }
}
