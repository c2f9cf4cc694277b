//! Destinations of connections, and the addresses that they may use.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::LinkError;
use super::link::authority;
use super::lookup::{NameResolver, NoAddress};

/// A host and port. The addresses behind the host are checked each time a connection is opened, after the name is
/// resolved, and the connection uses only addresses that were checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    host: String,
    port: u16,
    scope: Scope,
}

/// The addresses that a connection may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All addresses.
    Any,
    /// Addresses of other hosts, and loopback.
    OthersAndLoopback,
    /// Addresses of other hosts.
    Others,
}

impl Destination {
    /// A destination from an object, such as an address in a status. Only addresses of other hosts are dialled: not
    /// loopback, link-local, multicast, broadcast or unspecified ones.
    pub fn of_object(host: impl Into<String>, port: u16) -> Self {
        Self::new(host, port, Scope::Others)
    }

    /// The same destination, also on loopback, for the fields of objects that kube-apiserver dials on loopback, too.
    #[must_use]
    pub fn or_loopback(self) -> Self {
        Self {
            scope: Scope::OthersAndLoopback,
            ..self
        }
    }

    /// A destination that an administrator configured, in a flag, in a file or as the URL of a webhook. All addresses
    /// are dialled.
    pub fn unrestricted(host: impl Into<String>, port: u16) -> Self {
        Self::new(host, port, Scope::Any)
    }

    fn new(host: impl Into<String>, port: u16, scope: Scope) -> Self {
        let host = host.into();
        Self { host, port, scope }
    }

    pub(super) fn with_scope(host: &str, port: u16, scope: Scope) -> Self {
        Self::new(host, port, scope)
    }

    /// Name or address, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The same host at another port.
    #[must_use]
    pub fn at_port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    pub(super) fn scope(&self) -> Scope {
        self.scope
    }

    /// `host:port`, as in headers.
    #[must_use]
    pub fn authority(&self) -> String {
        authority(&self.host, self.port)
    }

    /// The addresses of the host; all of them may be used.
    ///
    /// # Errors
    ///
    /// The host has no address, or one that may not be used.
    pub(super) async fn addresses(&self, resolver: &NameResolver) -> Result<Vec<SocketAddr>, LinkError> {
        let found = match self.host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, self.port)],
            Err(_) => {
                let lookups = match self.scope {
                    Scope::Any => &resolver.of_administrators,
                    Scope::Others | Scope::OthersAndLoopback => &resolver.of_objects,
                };
                let found = lookups.find(&self.host, self.port).await;
                found.map_err(|why| match why {
                    NoAddress::Unknown => LinkError::Lookup(self.host.clone()),
                    NoAddress::Late => LinkError::LateLookup(self.host.clone()),
                })?
            }
        };
        for address in &found {
            self.check_address(address.ip())?;
        }
        Ok(found)
    }

    /// Checks an address of the host.
    ///
    /// # Errors
    ///
    /// It may not be used.
    pub(super) fn check_address(&self, address: IpAddr) -> Result<(), LinkError> {
        match self.scope.contains(address) {
            true => Ok(()),
            false => Err(LinkError::NotAllowed),
        }
    }
}

impl Scope {
    fn contains(self, address: IpAddr) -> bool {
        match self {
            Scope::Any => true,
            Scope::OthersAndLoopback => is_proxyable(address) || innermost(address).is_loopback(),
            Scope::Others => is_proxyable(address),
        }
    }
}

/// True if an address can be that of another host: not loopback, link-local, multicast, broadcast or unspecified, and
/// not an IPv6 form of such an IPv4 address.
#[must_use]
pub fn is_proxyable(address: IpAddr) -> bool {
    let address = innermost(address);
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast() || address.octets()[0] == 0,
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !(is_link_local || address.is_loopback() || address.is_unspecified() || address.is_multicast())
}

/// The IPv4 address that is embedded in an IPv6 address, or the address itself.
fn innermost(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => embedded(address).map_or(IpAddr::V6(address), IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let pair = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // The unspecified address and loopback are IPv6 addresses of their own.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        // IPv4-compatible, IPv4-mapped, IPv4-translated (RFC 2765), and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => pair(high, low),
        [0x64, 0xff9b, 1, ..] => Some(translated_locally(address.octets())),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => pair(high, low),
        _ => None,
    }
}

/// The IPv4 address in one of `64:ff9b:1::/48`, which is for translators of a site (RFC 8215). The length of their
/// prefixes is unknown, and it decides the position of the address (RFC 6052). If one of the readings is an address of
/// this host, that one is returned.
fn translated_locally(octets: [u8; 16]) -> Ipv4Addr {
    // Prefixes of 48, 56, 64 and 96 bits; the eighth octet is skipped.
    let places = [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]];
    let readings = places.map(|place| Ipv4Addr::from(place.map(|index: usize| octets[index])));
    let own = readings
        .iter()
        .find(|address| address.is_loopback() || address.is_link_local());
    own.copied().unwrap_or(readings[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: [&str; 9] = [
        "10.0.0.1",
        "192.0.2.99",
        "fd00::1",
        "2001:db8::1",
        "64:ff9b::10.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:0:10.0.0.1",
        "64:ff9b:1::10.0.0.1",
        "64:ff9b:1:abcd:1:2:192.0.2.99",
    ];
    const LOOPBACK: [&str; 11] = [
        "127.0.0.1",
        "127.8.9.10",
        "::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b:1::127.0.0.1",
        "64:ff9b:1:7f00:0:100::",
        "64:ff9b:1:7f:0:1::",
        "64:ff9b:1:0:7f:0:100:0",
    ];
    const NOBODY: [&str; 15] = [
        "169.254.169.254",
        "0.0.0.0",
        "0.0.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "fe80::1",
        "ff02::1",
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "::ffff:0:169.254.169.254",
        "64:ff9b:1:abcd::a9fe:a9fe",
        "64:ff9b:1:a9fe:a9:fe00::",
    ];

    #[test]
    fn only_addresses_of_other_hosts_are_proxyable() {
        let is_reached = |text: &&str| is_proxyable(text.parse().unwrap());
        assert_eq!(OTHERS.iter().find(|text| !is_reached(text)), None);
        assert_eq!(LOOPBACK.iter().chain(&NOBODY).find(|text| is_reached(text)), None);
        assert!(!is_reached(&"2002:7f00:1::"));
    }

    #[tokio::test]
    async fn destinations_of_objects_are_checked_after_resolution() {
        let resolver = NameResolver::default();
        let check = async |destination: Destination| {
            let addresses = destination.addresses(&resolver).await;
            addresses.map(drop).map_err(|error| error.to_string())
        };
        let refused = Err("address not allowed".to_owned());
        // Spellings that the resolver of the operating system reads as loopback are names here.
        for host in LOOPBACK
            .into_iter()
            .chain(["localhost", "127.1", "2130706433", "0x7f.1"])
        {
            assert_eq!(check(Destination::of_object(host, 1)).await, refused, "{host}");
            assert_eq!(
                check(Destination::of_object(host, 1).or_loopback()).await,
                Ok(()),
                "{host}"
            );
        }
        for host in NOBODY {
            assert_eq!(check(Destination::of_object(host, 1)).await, refused, "{host}");
            assert_eq!(
                check(Destination::of_object(host, 1).or_loopback()).await,
                refused,
                "{host}"
            );
            assert_eq!(check(Destination::unrestricted(host, 1)).await, Ok(()), "{host}");
        }
        for host in OTHERS {
            assert_eq!(check(Destination::of_object(host, 1)).await, Ok(()), "{host}");
        }
        let empty = check(Destination::of_object("", 1)).await;
        assert_eq!(empty, Err("dial tcp: lookup : no such host".to_owned()));
    }
}
