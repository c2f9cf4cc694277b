//! Names with a scheme and a port.

use planesmith_machinery::status::{ApiError, ApiResult};

/// A name in a path: `name`, `name:port` or `scheme:name:port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address<'a> {
    /// True if the scheme is `https`.
    pub(super) secure: bool,
    pub(super) name: &'a str,
    /// Number or name; may be empty.
    pub(super) port: &'a str,
}

impl<'a> Address<'a> {
    /// Parses a name; `noun` is the kind of object for the message.
    ///
    /// # Errors
    ///
    /// 400 for another form.
    pub(super) fn parse(text: &'a str, noun: &str) -> ApiResult<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let (scheme, name, port) = match *parts.as_slice() {
            [name] => ("", name, ""),
            [name, port] => ("", name, port),
            [scheme, name, port] => (scheme, name, port),
            _ => ("", "", ""),
        };
        if name.is_empty() || !matches!(scheme, "" | "http" | "https") {
            let quoted = planesmith_machinery::go_format::quote(text);
            return Err(ApiError::bad_request(format!("invalid {noun} request {quoted}")));
        }
        Ok(Self {
            secure: scheme == "https",
            name,
            port,
        })
    }

    /// Returns the port as a number; the default port of the scheme if it is empty.
    ///
    /// # Errors
    ///
    /// 503 for an invalid port, in the words of a failed connection.
    pub(super) fn port_number(&self) -> ApiResult<u16> {
        let problem = match self.port {
            "" if self.secure => return Ok(443),
            "" => return Ok(80),
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => match port.parse() {
                Ok(number) => return Ok(number),
                Err(_) => format!("address {port}: invalid port"),
            },
            name => match KNOWN_PORTS.iter().find(|(known, _)| *known == name) {
                Some((_, number)) => return Ok(*number),
                None => format!("lookup tcp/{name}: unknown port"),
            },
        };
        Err(ApiError::service_unavailable(format!(
            "error trying to reach service: dial tcp: {problem}"
        )))
    }
}

/// Ports with well-known names.
const KNOWN_PORTS: [(&str, u16); 4] = [("domain", 53), ("http", 80), ("https", 443), ("ssh", 22)];

/// Returns 400 for an address that a proxy may not reach.
pub(super) fn not_allowed() -> ApiError {
    ApiError::bad_request("address not allowed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_a_scheme_and_a_port() {
        let parse = |text| Address::parse(text, "service").map(|found| (found.secure, found.name, found.port));
        assert_eq!(parse("web"), Ok((false, "web", "")));
        assert_eq!(parse("web:http"), Ok((false, "web", "http")));
        assert_eq!(parse("https:web:443"), Ok((true, "web", "443")));
        let error = parse("ftp:web:21").unwrap_err();
        assert_eq!(error.message(), "invalid service request \"ftp:web:21\"");
        assert!(parse("a:b:c:d").is_err() && parse(":80").is_err());
    }

    #[test]
    fn ports_are_numbers_or_known_names() {
        let port = |text| Address::parse(text, "pod").and_then(|address| address.port_number());
        assert_eq!(port("p"), Ok(80));
        assert_eq!(port("https:p:"), Ok(443));
        assert_eq!(port("p:8080"), Ok(8080));
        assert_eq!(port("p:https"), Ok(443));
        let problem = |text| port(text).unwrap_err().message().to_owned();
        let prefix = "error trying to reach service: dial tcp: ";
        assert_eq!(problem("p:65536"), format!("{prefix}address 65536: invalid port"));
        assert_eq!(problem("p:web"), format!("{prefix}lookup tcp/web: unknown port"));
    }
}
