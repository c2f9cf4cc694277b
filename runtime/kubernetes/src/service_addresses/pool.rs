//! The ranges that addresses of services come from, as numbers.

use std::net::IpAddr;

use planesmith_machinery::ip::{Family, IpRange};

use super::band::{Band, BandSize};

/// The part of the range that is reserved for addresses that users choose: a sixteenth.
const BAND: BandSize = BandSize {
    least: 16,
    most: 256,
    part: 16,
};

/// The usable addresses of a range: not the first, and of IPv4 not the last either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    range: IpRange,
    band: Band,
}

impl Pool {
    /// Returns the pool of a range; `None` if it has no usable address.
    pub(super) fn new(range: IpRange) -> Option<Self> {
        let (network, bits) = match range.network() {
            IpAddr::V4(network) => (u128::from(network.to_bits()), 32),
            IpAddr::V6(network) => (network.to_bits(), 128),
        };
        let free = bits - u32::from(range.bits());
        let size = 1_u128.checked_shl(free).unwrap_or(u128::MAX);
        let last = network.saturating_add(size - 1);
        let last = match range.family() {
            Family::V4 => last.checked_sub(1)?,
            Family::V6 => last,
        };
        let band = Band::new(network.checked_add(1)?, last, size, BAND)?;
        Some(Self { range, band })
    }

    pub(super) fn range(&self) -> IpRange {
        self.range
    }

    /// Returns the number of addresses.
    pub(super) fn size(&self) -> u128 {
        self.band.count()
    }

    pub(super) fn contains(&self, address: IpAddr) -> bool {
        let number = match address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        };
        Family::from_address(address) == self.range.family() && self.band.contains(number)
    }

    /// Returns all addresses in the order in which they are tried for a service that names none.
    pub(super) fn candidates(&self) -> impl Iterator<Item = IpAddr> + use<> {
        let family = self.range.family();
        self.band.candidates().filter_map(move |number| match family {
            Family::V4 => u32::try_from(number).ok().map(|bits| IpAddr::V4(bits.into())),
            Family::V6 => Some(IpAddr::V6(number.into())),
        })
    }
}

/// Returns `pools` in the order in which they are tried for a service that names no address.
pub(super) fn in_random_order(mut pools: Vec<Pool>) -> Vec<Pool> {
    fastrand::shuffle(&mut pools);
    pools
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use planesmith_machinery::ip::parse_range;

    use super::*;

    fn pool(range: &str) -> Pool {
        Pool::new(parse_range(range).unwrap().1).unwrap()
    }

    #[test]
    fn first_and_last_of_ipv4_are_not_for_services() {
        let pool = pool("10.0.0.0/24");
        for (address, inside) in [
            ("10.0.0.0", false),
            ("10.0.0.1", true),
            ("10.0.0.254", true),
            ("10.0.0.255", false),
            ("10.0.1.1", false),
            ("::a00:1", false),
        ] {
            assert_eq!(pool.contains(address.parse().unwrap()), inside, "{address}");
        }
        let all: BTreeSet<IpAddr> = pool.candidates().collect();
        assert_eq!(all.len(), 254);
        assert!(all.iter().all(|address| pool.contains(*address)));
    }

    #[test]
    fn the_first_sixteen_of_256_are_tried_last() {
        let tried: Vec<IpAddr> = pool("10.0.0.0/24").candidates().collect();
        let band: Vec<IpAddr> = (1..=16).map(|last| IpAddr::from([10, 0, 0, last])).collect();
        assert!(tried[..238].iter().all(|address| !band.contains(address)));
    }

    #[test]
    fn ipv6_has_its_last_address_and_large_ranges_start_anywhere() {
        let small = pool("2001:db8::/126");
        assert_eq!(small.candidates().count(), 3);
        let large = pool("2001:db8::/64");
        assert!(large.candidates().take(5).all(|address| large.contains(address)));
    }

    #[test]
    fn ranges_without_usable_addresses_have_no_pool() {
        assert_eq!(Pool::new(parse_range("10.0.0.0/31").unwrap().1), None);
        assert_eq!(Pool::new(parse_range("10.0.0.0/32").unwrap().1), None);
        assert!(Pool::new(parse_range("::/0").unwrap().1).is_some());
    }
}
