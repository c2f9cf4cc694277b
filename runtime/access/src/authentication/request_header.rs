//! Users authenticated by a proxy in front of the server, which names them in headers.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use http::HeaderMap;
use percent_encoding::percent_decode_str;
use planesmith_machinery::clock::Clock;

use super::{
    AuthenticationResult, Authenticator, CertificateError, CertificateParts, Credentials, Subject, authenticated,
};
use crate::outcome::Outcome;
use crate::user::UserInfo;

/// The certificate of a proxy, signed by the request header CA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyCertificate {
    /// The common name.
    pub name: String,
    /// The expiry of the certificate; connections may outlive it.
    pub not_after: SystemTime,
}

impl ProxyCertificate {
    /// Reads a certificate with a verified signature.
    ///
    /// # Errors
    ///
    /// The certificate is malformed.
    pub fn trusted(der: &[u8]) -> Result<Self, CertificateError> {
        let parts = CertificateParts::read(der).ok_or(CertificateError::Malformed)?;
        let subject = Subject::read(parts.subject).ok_or(CertificateError::Malformed)?;
        Ok(Self {
            name: subject.common_name,
            not_after: parts.not_after().ok_or(CertificateError::Malformed)?,
        })
    }
}

/// The headers in which a proxy names the user, and the proxies that are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHeaders {
    /// Headers with the user name; the first one present counts.
    pub username: Vec<String>,
    /// Headers with the user's UID; the first one present counts.
    pub uid: Vec<String>,
    /// Headers with groups; all of them count.
    pub group: Vec<String>,
    /// Name prefixes of headers with extra attributes.
    pub extra_prefix: Vec<String>,
    /// Common names of trusted proxies; if empty, every certificate signed by the authority is trusted.
    pub allowed_names: Vec<String>,
}

/// Authenticates users by the headers of trusted proxies. The configuration can change at run time; clones share it.
#[derive(Clone, Debug)]
pub struct RequestHeaderAuthenticator {
    headers: Arc<RwLock<Arc<RequestHeaders>>>,
    clock: Arc<dyn Clock>,
}

impl RequestHeaderAuthenticator {
    /// Creates an authenticator for `headers`; `clock` decides if the certificate of a proxy has expired. Without user name headers it has no opinion on any request.
    #[must_use]
    pub fn new(headers: RequestHeaders, clock: Arc<dyn Clock>) -> Self {
        Self {
            headers: Arc::new(RwLock::new(Arc::new(headers))),
            clock,
        }
    }

    /// Replaces the configuration.
    pub fn set(&self, headers: RequestHeaders) {
        *self.headers.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(headers);
    }

    fn headers(&self) -> Arc<RequestHeaders> {
        Arc::clone(&self.headers.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Authenticator for RequestHeaderAuthenticator {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Outcome<'static, AuthenticationResult> {
        Outcome::Ready(self.verdict(credentials))
    }

    fn forget(&self, headers: &mut HeaderMap) {
        let known = self.headers();
        for name in known.username.iter().chain(&known.uid).chain(&known.group) {
            headers.remove(name.as_str());
        }
        for prefix in &known.extra_prefix {
            forget_all(headers, prefix);
        }
    }
}

impl RequestHeaderAuthenticator {
    fn verdict(&self, credentials: &Credentials<'_>) -> AuthenticationResult {
        let Some(proxy) = credentials.proxy else {
            return AuthenticationResult::NoOpinion;
        };
        if self.clock.now() > proxy.not_after {
            return AuthenticationResult::Invalid("the certificate of the proxy has expired".to_owned());
        }
        let wanted = self.headers();
        let (name, allowed) = (&proxy.name, &wanted.allowed_names);
        if !allowed.is_empty() && !allowed.contains(name) {
            return AuthenticationResult::Invalid(format!("x509: subject with cn={name} is not in the allowed list"));
        }
        let Some(name) = first(credentials.headers, &wanted.username) else {
            return AuthenticationResult::NoOpinion;
        };
        let user = authenticated(UserInfo {
            name,
            uid: first(credentials.headers, &wanted.uid).unwrap_or_default(),
            groups: all(credentials.headers, &wanted.group),
            extra: extra(credentials.headers, &wanted.extra_prefix),
        });
        AuthenticationResult::User(user.into())
    }
}

/// Removes the headers whose names start with `prefix`, ignoring case; an empty prefix removes none.
pub fn forget_all(headers: &mut HeaderMap, prefix: &str) {
    let prefix = prefix.to_ascii_lowercase();
    let names = headers
        .keys()
        .filter(|name| !prefix.is_empty() && name.as_str().starts_with(&prefix));
    for name in names.cloned().collect::<Vec<_>>() {
        headers.remove(name);
    }
}

/// Returns the first non-empty value among the headers.
fn first(headers: &HeaderMap, names: &[String]) -> Option<String> {
    let mut values = names.iter().filter_map(|name| headers.get(name.as_str()));
    values.find_map(|value| header_text(value.as_bytes()))
}

/// Returns all values of the headers.
fn all(headers: &HeaderMap, names: &[String]) -> Vec<String> {
    let values = names.iter().flat_map(|name| headers.get_all(name.as_str()));
    values.filter_map(|value| header_text(value.as_bytes())).collect()
}

/// Returns the values of headers that start with one of `prefixes`, keyed by the percent-decoded rest of their names.
fn extra(headers: &HeaderMap, prefixes: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for prefix in prefixes.iter().map(|prefix| prefix.to_ascii_lowercase()) {
        for (name, value) in headers {
            let (Some(key), Some(value)) = (name.as_str().strip_prefix(&prefix), header_text(value.as_bytes())) else {
                continue;
            };
            let key = percent_decode_str(key).decode_utf8().map_or(key.into(), |key| key);
            extra.entry(key.into_owned()).or_default().push(value);
        }
    }
    extra
}

/// Returns the value as text if it is not empty.
fn header_text(value: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(value).into_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use http::HeaderName;
    use planesmith_machinery::clock::ManualClock;

    use super::*;

    fn authenticator(allowed: &[&str]) -> RequestHeaderAuthenticator {
        let headers = RequestHeaders {
            username: vec!["X-Remote-User".to_owned(), "X-User".to_owned()],
            uid: vec!["X-Remote-Uid".to_owned()],
            group: vec!["X-Remote-Group".to_owned()],
            extra_prefix: vec!["X-Remote-Extra-".to_owned()],
            allowed_names: allowed.iter().map(ToString::to_string).collect(),
        };
        RequestHeaderAuthenticator::new(headers, Arc::new(ManualClock::new(0)))
    }

    fn authenticate(allowed: &[&str], proxy: Option<&str>, sent: &[(&str, &str)]) -> AuthenticationResult {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let proxy = proxy.map(|name| ProxyCertificate {
            name: name.to_owned(),
            not_after: SystemTime::UNIX_EPOCH,
        });
        authenticator(allowed)
            .authenticate(&Credentials {
                headers: &headers,
                certificate: None,
                proxy: proxy.as_ref(),
                path: "/",
            })
            .ready()
            .expect("it asks no other server")
    }

    #[test]
    fn a_proxy_says_who_asks() {
        let sent = [
            ("x-user", "second"),
            ("x-remote-user", "carol"),
            ("x-remote-uid", "7"),
            ("x-remote-group", "dev"),
            ("x-remote-group", "ops"),
            ("x-remote-extra-example.com%2fscope", "read"),
            ("x-remote-extra-example.com%2fscope", "write"),
        ];
        let AuthenticationResult::User(user) = authenticate(&[], Some("front"), &sent) else {
            panic!("the proxy is not believed")
        };
        assert_eq!((user.name.as_str(), user.uid.as_str()), ("carol", "7"));
        assert_eq!(user.groups, ["dev", "ops", "system:authenticated"]);
        assert_eq!(user.extra["example.com/scope"], ["read", "write"]);
    }

    #[test]
    fn the_word_of_proxies_ends_here() {
        let authenticator = authenticator(&[]);
        let sent = [
            "accept",
            "x-user",
            "x-remote-uid",
            "x-remote-group",
            "x-remote-extra-scope",
        ];
        let mut headers: HeaderMap = sent
            .iter()
            .map(|name| (HeaderName::from_static(name), http::HeaderValue::from_static("admin")))
            .collect();
        authenticator.forget(&mut headers);
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["accept"]);

        headers.insert("x-later-user", http::HeaderValue::from_static("admin"));
        authenticator.set(RequestHeaders {
            username: vec!["X-Later-User".to_owned()],
            extra_prefix: vec![String::new()],
            ..RequestHeaders::default()
        });
        authenticator.forget(&mut headers);
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["accept"]);
    }

    #[test]
    fn headers_of_others_mean_nothing() {
        let sent = [("x-remote-user", "carol")];
        assert_eq!(authenticate(&[], None, &sent), AuthenticationResult::NoOpinion);
        assert_eq!(
            authenticate(&["front"], Some("front"), &[]),
            AuthenticationResult::NoOpinion
        );
        let refused = "x509: subject with cn=other is not in the allowed list";
        assert_eq!(
            authenticate(&["front"], Some("other"), &sent),
            AuthenticationResult::Invalid(refused.to_owned())
        );
    }
}
