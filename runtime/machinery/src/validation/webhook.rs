//! Rules for the address of a webhook.

use planesmith_wire::go_format::quote;
use planesmith_wire::names::{dns_subdomain, port_number};

use crate::field_error::FieldErrors;

/// The service of a webhook.
#[derive(Clone, Copy, Debug)]
pub struct WebhookService<'a> {
    /// Namespace of the service.
    pub namespace: &'a str,
    /// Name of the service.
    pub name: &'a str,
    /// URL path of the requests; `None` if unset.
    pub path: Option<&'a str>,
    /// Port of the service.
    pub port: i32,
}

/// Reports errors of the address of a webhook, which is a URL or a service, at `field`.
pub fn check_webhook_address(
    errors: &mut FieldErrors,
    field: &str,
    url: Option<&str>,
    service: Option<WebhookService<'_>>,
) {
    match (url, service) {
        (Some(url), None) => check_url(&mut errors.at(&format!("{field}.url")), url),
        (None, Some(service)) => check_service(&mut errors.at(&format!("{field}.service")), service),
        _ => errors.required(field, "exactly one of url or service is required"),
    }
}

/// Reports errors of the URL of a webhook at the prefix of `errors`.
fn check_url(errors: &mut FieldErrors, url: &str) {
    const FORM: &str = "; desired format: https://host[/path]";
    let parts = match Parts::parse(url) {
        Ok(parts) => parts,
        Err(problem) => {
            let detail = format!("url must be a valid URL: parse {}: {problem}{FORM}", quote(url));
            errors.required("", detail);
            return;
        }
    };
    if parts.scheme != "https" {
        errors.invalid(
            "",
            &parts.scheme,
            format!("'https' is the only allowed URL scheme{FORM}"),
        );
    }
    if parts.host.is_empty() {
        errors.invalid("", parts.host, format!("host must be specified{FORM}"));
    }
    if let Some(user) = parts.user {
        errors.invalid("", user, "user information is not permitted in the URL");
    }
    if !parts.fragment.is_empty() {
        errors.invalid("", parts.fragment, "fragments are not permitted in the URL");
    }
    if !parts.query.is_empty() {
        errors.invalid("", parts.query, "query parameters are not permitted in the URL");
    }
}

/// True if `text` is a URL with a scheme and a host. As in the URL of a request, a fragment is a part of what precedes it.
#[must_use]
pub fn is_absolute_url(text: &str) -> bool {
    let authority = text.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?']).next().unwrap_or_default();
    let parts = Parts::parse(text);
    !authority.contains('#') && parts.is_ok_and(|parts| !parts.scheme.is_empty() && !parts.host.is_empty())
}

/// Reports errors of the service of a webhook at the prefix of `errors`.
///
/// A missing name is reported at the namespace and vice versa: kube-apiserver swaps the two in every kind that has such
/// a service.
fn check_service(errors: &mut FieldErrors, service: WebhookService<'_>) {
    for (field, value) in [("name", service.namespace), ("namespace", service.name)] {
        if value.is_empty() {
            errors.required(field, "");
        }
    }
    let complaints = port_number(service.port.into());
    if !complaints.is_empty() {
        let detail = format!("port is not valid: {}", complaints.join(", "));
        errors.invalid("port", service.port, detail);
    }
    if let Some(path) = service.path {
        check_path(path, errors);
    }
}

fn check_path(path: &str, errors: &mut FieldErrors) {
    if path.is_empty() || path == "/" {
        return;
    }
    if path == "//" {
        errors.invalid("path", path, "segment[0] may not be empty");
        return;
    }
    if !path.starts_with('/') {
        errors.invalid("path", path, "must start with a '/'");
    }
    let mut rest = path.chars();
    rest.next();
    let rest = rest.as_str();
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    for (index, step) in rest.split('/').enumerate() {
        if step.is_empty() {
            errors.invalid("path", path, format!("segment[{index}] may not be empty"));
            continue;
        }
        for complaint in dns_subdomain(step) {
            errors.invalid("path", path, format!("segment[{index}]: {complaint}"));
        }
    }
}

/// The parts of a URL that the rules cover.
struct Parts<'a> {
    scheme: String,
    user: Option<&'a str>,
    host: &'a str,
    query: &'a str,
    fragment: &'a str,
}

impl<'a> Parts<'a> {
    fn parse(url: &'a str) -> Result<Self, String> {
        if url.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
        let (scheme, rest) = split_scheme(rest)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut parts = Parts {
            scheme: scheme.to_ascii_lowercase(),
            user: None,
            host: "",
            query,
            fragment,
        };
        let mut path = rest;
        if let Some(rest) = rest.strip_prefix("//") {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, after) = rest.split_at(end);
            path = after;
            parts.host = match authority.rsplit_once('@') {
                Some((user, host)) => {
                    parts.user = Some(user);
                    host
                }
                None => authority,
            };
            check_host(parts.host)?;
        }
        check_escapes(path)?;
        Ok(parts)
    }
}

/// Splits a URL into the scheme, which may be missing, and the rest.
fn split_scheme(url: &str) -> Result<(&str, &str), String> {
    for (at, byte) in url.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&url[..at], &url[at + 1..])),
            _ => break,
        }
    }
    let first = url.split('/').next().unwrap_or_default();
    match first.contains(':') && !url.starts_with('/') {
        true => Err("first path segment in URL cannot contain colon".to_owned()),
        false => Ok(("", url)),
    }
}

fn check_host(host: &str) -> Result<(), String> {
    let after = match host.strip_prefix('[') {
        Some(rest) => rest.rsplit_once(']').ok_or("missing ']' in host")?.1,
        None => host.find(':').map_or("", |at| &host[at..]),
    };
    let port = after.strip_prefix(':').unwrap_or(after);
    let legal = after.is_empty() || (after.starts_with(':') && port.bytes().all(|byte| byte.is_ascii_digit()));
    if !legal {
        return Err(format!("invalid port {} after host", quote(after)));
    }
    match host.find([' ', '<', '>', '"']) {
        Some(at) => Err(format!("invalid character {} in host name", quote(&host[at..=at]))),
        None => Ok(()),
    }
}

fn check_escapes(path: &str) -> Result<(), String> {
    for (at, _) in path.match_indices('%') {
        let digits: String = path[at + 1..].chars().take(2).collect();
        if digits.len() != 2 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("invalid URL escape {}", quote(&format!("%{digits}"))));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_url(url: &str, expected: Option<&str>) {
        let mut errors = FieldErrors::default();
        super::check_url(&mut errors.at("url"), url);
        assert_eq!(errors.joined().as_deref(), expected);
    }

    #[test]
    fn an_absolute_url_has_a_scheme_and_a_host() {
        for url in ["https://a/b c#d", "https://u@a:1?q#f", "HTTP://[::1]:443"] {
            assert!(is_absolute_url(url), "{url}");
        }
        for url in [
            "",
            "a/b",
            "/a",
            "https://",
            "https://#f",
            "https://a#f",
            "https://a:b/c",
            "a:b",
            "://a",
        ] {
            assert!(!is_absolute_url(url), "{url}");
        }
    }

    #[test]
    fn only_plain_https_is_called() {
        check_url("https://hook.example/x", None);
        check_url("https://[::1]:443", None);
        check_url(
            "http://127.0.0.1:1/x",
            Some(
                "url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: \
                 https://host[/path]",
            ),
        );
        check_url(
            "https://",
            Some("url: Invalid value: \"\": host must be specified; desired format: https://host[/path]"),
        );
        check_url(
            "https://u@x/?q#f",
            Some(
                "[url: Invalid value: \"u\": user information is not permitted in the URL, url: Invalid value: \"f\": \
                 fragments are not permitted in the URL, url: Invalid value: \"q\": query parameters are not permitted \
                 in the URL]",
            ),
        );
    }

    #[test]
    fn an_invalid_url_is_explained() {
        check_url(
            "https://a:b",
            Some(
                "url: Required value: url must be a valid URL: parse \"https://a:b\": invalid port \":b\" after host; \
                 desired format: https://host[/path]",
            ),
        );
        check_url(
            "https://a/%zz",
            Some(
                "url: Required value: url must be a valid URL: parse \"https://a/%zz\": invalid URL escape \"%zz\"; \
                 desired format: https://host[/path]",
            ),
        );
    }

    fn errors_of_service(name: &str, path: Option<&str>) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let service = WebhookService {
            namespace: "n",
            name,
            path,
            port: 443,
        };
        super::check_service(&mut errors, service);
        errors
    }

    #[test]
    fn a_missing_name_is_reported_at_the_namespace() {
        let errors = errors_of_service("", None);
        assert_eq!(errors.joined().as_deref(), Some("namespace: Required value"));
    }

    #[test]
    fn paths_have_no_empty_steps() {
        let errors = errors_of_service("s", Some("/a//B/"));
        let details: Vec<_> = errors.as_slice().iter().map(|error| error.detail.as_str()).collect();
        assert_eq!(details.len(), 2);
        assert_eq!(details[0], "segment[1] may not be empty");
        assert!(details[1].starts_with("segment[2]: a lowercase RFC 1123 subdomain"));
    }
}
