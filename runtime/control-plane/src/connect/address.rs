//! Names with a scheme and a port, and addresses that a proxy may reach.

use std::net::IpAddr;

use planesmith_machinery::status::{ApiError, ApiResult};

/// A name in a path: `name`, `name:port` or `scheme:name:port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address<'a> {
    /// Whether the scheme is `https`.
    pub(super) secure: bool,
    pub(super) name: &'a str,
    /// Number or name; may be empty.
    pub(super) port: &'a str,
}

impl<'a> Address<'a> {
    /// Reads a name; `noun` is what it names, for the message.
    ///
    /// # Errors
    ///
    /// 400 when it has another form.
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

    /// The port as a number, or the usual one of the scheme.
    ///
    /// # Errors
    ///
    /// 503 when it is no port, in the words of a connection that fails.
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

/// Ports with names that everybody knows.
const KNOWN_PORTS: [(&str, u16); 4] = [("domain", 53), ("http", 80), ("https", 443), ("ssh", 22)];

/// Whether a proxy may reach an address: never the server's own host, nor what is only meant for one link.
pub(super) fn is_proxyable(address: IpAddr) -> bool {
    let one_link = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => return is_proxyable(IpAddr::V4(mapped)),
            None => address.is_unicast_link_local(),
        },
    };
    !(one_link || address.is_loopback() || address.is_unspecified() || address.is_multicast())
}

/// 400 for an address that a proxy may not reach.
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

    #[test]
    fn the_host_itself_is_out_of_reach() {
        let reached = |text: &str| is_proxyable(text.parse().unwrap());
        for address in ["10.0.0.1", "192.0.2.99", "fd00::1", "2001:db8::1"] {
            assert!(reached(address), "{address}");
        }
        for address in [
            "127.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "224.0.0.1",
            "::1",
            "fe80::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(!reached(address), "{address}");
        }
    }
}
