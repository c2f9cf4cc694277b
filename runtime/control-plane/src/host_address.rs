//! The address at which other machines reach this one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Addresses that no machine has (RFC 5737, RFC 3849), so that the route to them is the default route.
const FAR_V4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const FAR_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

/// Returns the address of the interface with the default route, of the family of `like` if there is one; `None` on a
/// machine without a network.
pub(crate) fn of_default_route(like: IpAddr) -> Option<IpAddr> {
    let families = [
        (Ipv4Addr::UNSPECIFIED.into(), FAR_V4),
        (Ipv6Addr::UNSPECIFIED.into(), FAR_V6),
    ];
    let (own, other): (Vec<_>, Vec<_>) = families
        .into_iter()
        .partition(|(any, _): &(IpAddr, IpAddr)| any.is_ipv4() == like.is_ipv4());
    own.into_iter().chain(other).find_map(|(any, far)| source(any, far))
}

/// Returns the source address of packets to `far`. Connecting a datagram socket sends nothing.
fn source(any: IpAddr, far: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).ok()?;
    socket.connect(SocketAddr::new(far, 9)).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_one_that_others_can_reach() {
        for like in [Ipv4Addr::UNSPECIFIED.into(), IpAddr::from(Ipv6Addr::UNSPECIFIED)] {
            if let Some(address) = of_default_route(like) {
                assert!(!address.is_loopback() && !address.is_unspecified(), "{address}");
                UdpSocket::bind(SocketAddr::new(address, 0)).expect("an address of this machine");
            }
        }
    }
}
