//! URLs.

/// A parsed URL.
#[derive(Debug)]
pub struct Url {
    pub(crate) text: String,
    pub(crate) scheme: String,
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) query: String,
}

impl Url {
    /// Parses a URL with a scheme, or an absolute path.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let refused = |why: &str| {
            let shown = planesmith_machinery::go_format::quote(text);
            format!("parse {shown}: {why}")
        };
        if text.is_empty() {
            return Err(refused("empty url"));
        }
        if text.chars().any(|c| c.is_ascii_control()) {
            return Err(refused("net/url: invalid control character in URL"));
        }
        let is_scheme = |scheme: &&str| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        };
        let scheme = text.split_once(':').map(|(scheme, _)| scheme).filter(is_scheme);
        if scheme.is_none() && !text.starts_with('/') {
            return Err(match text.starts_with(':') {
                true => refused("missing protocol scheme"),
                false => refused("invalid URI for request"),
            });
        }
        let rest = scheme.map_or(text, |scheme| &text[scheme.len() + 1..]);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = match rest.strip_prefix("//") {
            Some(rest) if scheme.is_some() || !rest.starts_with('/') => {
                let end = rest.find('/').unwrap_or(rest.len());
                rest.split_at(end)
            }
            _ => ("", rest),
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        if host.contains(' ') {
            return Err(refused("invalid character \" \" in host name"));
        }
        let port = port_of(host);
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refused(&format!("invalid port \":{port}\" after host")));
        }
        Ok(Self {
            text: text.to_owned(),
            scheme: scheme.unwrap_or_default().to_ascii_lowercase(),
            host: host.to_owned(),
            path: path.replace(' ', "%20"),
            query: query.to_owned(),
        })
    }
}

/// Returns the port of `host`; empty without one.
pub(crate) fn port_of(host: &str) -> &str {
    let end = host.rfind(']').unwrap_or(0);
    host[end..].split_once(':').map_or("", |(_, port)| port)
}
