//! The origin of a request, as its client and its proxies state it.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::{HeaderName, USER_AGENT};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// kube-apiserver's limit for the user agent, in bytes, and the end of a longer one.
const LONGEST_AGENT: usize = 1024;
const TRUNCATED: &str = "...TRUNCATED";

/// Returns the addresses in the headers of proxies, and at last that of the connection unless it is the last one already.
pub(super) fn source_ips(headers: &HeaderMap, peer: Option<IpAddr>) -> Vec<String> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    let texts = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(list) = texts(FORWARDED_FOR) {
        addresses.extend(
            list.split(',')
                .filter_map(|address| address.trim().parse::<IpAddr>().ok()),
        );
    }
    if let Some(real) = texts(REAL_IP).and_then(|address| address.trim().parse().ok())
        && !addresses.contains(&real)
    {
        addresses.push(real);
    }
    if let Some(peer) = peer
        && addresses.last() != Some(&peer)
    {
        addresses.push(peer);
    }
    addresses.iter().map(IpAddr::to_string).collect()
}

/// Returns the user agent, cut to kube-apiserver's limit.
pub(super) fn user_agent(headers: &HeaderMap) -> String {
    let agent = headers
        .get(USER_AGENT)
        .map(|agent| String::from_utf8_lossy(agent.as_bytes()));
    let mut agent = agent.unwrap_or_default().into_owned();
    if agent.len() > LONGEST_AGENT {
        agent.truncate(agent.floor_char_boundary(LONGEST_AGENT));
        agent.push_str(TRUNCATED);
    }
    agent
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_chain_of_proxies_ends_with_the_connection() {
        let peer: IpAddr = [192, 0, 2, 9].into();
        let check = |headers: &[(HeaderName, &'static str)], expected: &[&str]| {
            let headers = headers.iter().cloned();
            let headers = headers
                .map(|(name, value)| (name, HeaderValue::from_static(value)))
                .collect();
            assert_eq!(source_ips(&headers, Some(peer)), expected);
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

    #[test]
    fn long_agents_are_cut() {
        let long = HeaderValue::try_from("a".repeat(LONGEST_AGENT + 1)).unwrap();
        let cut = user_agent(&HeaderMap::from_iter([(USER_AGENT, long)]));
        assert_eq!(
            (cut.len(), cut.ends_with(TRUNCATED)),
            (LONGEST_AGENT + TRUNCATED.len(), true)
        );
        assert_eq!(user_agent(&HeaderMap::new()), "");
    }
}
