//! The origin of a request, as its client and its proxies state it.

use std::net::IpAddr;

use http::header::{HeaderName, HeaderValue};
use http::{Request, Uri};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// The parts of a request that its record needs, and that its handler may take. Cheap: they share the memory of the request.
#[derive(Debug)]
pub(crate) struct Origin {
    uri: Uri,
    forwarded_for: Option<HeaderValue>,
    real_ip: Option<HeaderValue>,
}

impl Origin {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let header = |name| request.headers().get(name).cloned();
        Self {
            uri: request.uri().clone(),
            forwarded_for: header(FORWARDED_FOR),
            real_ip: header(REAL_IP),
        }
    }

    /// The URI of the request.
    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Returns the addresses in the headers of proxies, and at last that of the connection unless it is the last one already.
    pub(super) fn source_ips(&self, peer: Option<IpAddr>) -> Vec<IpAddr> {
        let mut addresses: Vec<IpAddr> = Vec::with_capacity(1);
        if let Some(list) = text_of(self.forwarded_for.as_ref()) {
            let listed = list
                .split(',')
                .filter_map(|address| address.trim().parse::<IpAddr>().ok());
            addresses.extend(listed);
        }
        if let Some(real) = text_of(self.real_ip.as_ref()).and_then(|address| address.trim().parse().ok())
            && !addresses.contains(&real)
        {
            addresses.push(real);
        }
        if let Some(peer) = peer
            && addresses.last() != Some(&peer)
        {
            addresses.push(peer);
        }
        addresses
    }
}

fn text_of(value: Option<&HeaderValue>) -> Option<&str> {
    value.and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_of_proxies_ends_with_the_connection() {
        let peer: IpAddr = [192, 0, 2, 9].into();
        let check = |headers: &[(HeaderName, &'static str)], expected: &[&str]| {
            let mut request = Request::get("/version?x=1").body(()).unwrap();
            for (name, value) in headers {
                request.headers_mut().insert(name, HeaderValue::from_static(value));
            }
            let origin = Origin::of(&request);
            let addresses = origin.source_ips(Some(peer));
            let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
            assert_eq!(addresses, expected);
        };
        check(&[], &["192.0.2.9"]);
        check(
            &[(FORWARDED_FOR, "192.0.2.1, nonsense,192.0.2.2")],
            &["192.0.2.1", "192.0.2.2", "192.0.2.9"],
        );
        check(
            &[(FORWARDED_FOR, "192.0.2.1"), (REAL_IP, "192.0.2.1")],
            &["192.0.2.1", "192.0.2.9"],
        );
        check(&[(REAL_IP, "192.0.2.9")], &["192.0.2.9"]);
    }
}
