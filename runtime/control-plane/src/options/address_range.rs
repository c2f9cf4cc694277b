//! A range of addresses in CIDR form.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses, e.g. `10.0.0.0/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    network: IpAddr,
    prefix: u8,
}

impl AddressRange {
    /// Whether it is a range of IPv4 addresses.
    #[must_use]
    pub fn is_ipv4(&self) -> bool {
        self.network.is_ipv4()
    }

    /// The first usable address, which the `kubernetes` Service gets.
    #[must_use]
    pub fn first(&self) -> IpAddr {
        match self.network {
            IpAddr::V4(network) => IpAddr::V4((network.to_bits() | 1).into()),
            IpAddr::V6(network) => IpAddr::V6((network.to_bits() | 1).into()),
        }
    }
}

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected an address range such as 10.0.0.0/24".to_owned();
        let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let prefix: u8 = prefix.parse().map_err(|_| wrong())?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        if prefix > bits {
            return Err(wrong());
        }
        // kube-apiserver's bound: two addresses are needed at least, and more than 2^20 would not be allocated.
        if bits - prefix < 2 {
            return Err(format!(
                "range /{prefix} holds too few addresses; expected /{} or larger",
                bits - 2
            ));
        }
        let network = match address {
            IpAddr::V4(address) => {
                IpAddr::V4((address.to_bits() & u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0)).into())
            }
            IpAddr::V6(address) => {
                IpAddr::V6((address.to_bits() & u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0)).into())
            }
        };
        Ok(Self { network, prefix })
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix)
    }
}
