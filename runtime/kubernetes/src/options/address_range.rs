//! A range of addresses for services.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use planesmith_machinery::ip::{Family, IpRange};

/// A range of addresses for services, e.g. `10.0.0.0/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange(IpRange);

impl AddressRange {
    /// True for a range of IPv4 addresses.
    #[must_use]
    pub fn is_ipv4(&self) -> bool {
        self.0.family() == Family::V4
    }

    /// The range.
    #[must_use]
    pub fn range(&self) -> IpRange {
        self.0
    }

    /// The first usable address, which the `kubernetes` Service gets.
    #[must_use]
    pub fn first(&self) -> IpAddr {
        match self.0.network() {
            IpAddr::V4(network) => IpAddr::V4((network.to_bits() | 1).into()),
            IpAddr::V6(network) => IpAddr::V6((network.to_bits() | 1).into()),
        }
    }
}

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected an address range such as 10.0.0.0/24".to_owned();
        let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let bits: u8 = bits.parse().map_err(|_| wrong())?;
        let range = IpRange::new(address, bits).ok_or_else(wrong)?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        // kube-apiserver's bounds: two addresses are needed at least, and more than 2^64 are not looked through.
        if all - bits < 2 {
            return Err(format!(
                "range /{bits} holds too few addresses; expected /{} or larger",
                all - 2
            ));
        }
        if address.is_ipv6() && bits < 64 {
            return Err(format!("range /{bits} is too large; expected /64 or smaller"));
        }
        Ok(Self(range))
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
