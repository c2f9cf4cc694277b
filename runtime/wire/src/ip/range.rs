//! Ranges of addresses in CIDR form.

use std::fmt;
use std::net::IpAddr;

use super::{Family, parse};

const NO_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// A range of addresses: those that share the first bits of its network address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IpRange {
    network: IpAddr,
    bits: u8,
}

impl IpRange {
    /// The range that shares the first `bits` with `address`; `None` when an address has fewer.
    #[must_use]
    pub fn new(address: IpAddr, bits: u8) -> Option<Self> {
        let network = match address {
            IpAddr::V4(address) if bits <= 32 => {
                let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
                IpAddr::V4((address.to_bits() & mask).into())
            }
            IpAddr::V6(address) if bits <= 128 => {
                let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
                IpAddr::V6((address.to_bits() & mask).into())
            }
            IpAddr::V4(_) | IpAddr::V6(_) => return None,
        };
        Some(Self { network, bits })
    }

    /// The first address.
    #[must_use]
    pub fn network(&self) -> IpAddr {
        self.network
    }

    /// The number of bits that its addresses share.
    #[must_use]
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// The family of its addresses.
    #[must_use]
    pub fn family(&self) -> Family {
        Family::from_address(self.network)
    }

    /// True if `address` is one of its addresses.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        Family::from_address(address) == self.family() && Self::new(address, self.bits) == Some(*self)
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.network, self.bits)
    }
}

/// The range that `text` stands for, in any form that was ever taken, and the address in front of the slash.
#[must_use]
pub fn parse_range(text: &str) -> Option<(IpAddr, IpRange)> {
    let (address, bits) = text.split_once('/')?;
    let digits = (1..=8).contains(&bits.len()) && bits.bytes().all(|byte| byte.is_ascii_digit());
    let mut bits: u32 = digits.then(|| bits.parse().ok())??;
    let in_v6 = address.contains(':');
    let parsed = parse(address)?;
    if in_v6 && parsed.is_ipv4() {
        // The bits count from the start of the IPv6 form.
        bits = bits.checked_sub(96)?;
    }
    let range = IpRange::new(parsed, u8::try_from(bits).ok()?)?;
    Some((parsed, range))
}

/// Checks a range in a field that takes one form of each range only.
#[must_use]
pub fn check_range(text: &str) -> Vec<String> {
    let complaints = check_range_form(text);
    match parse_range(text) {
        Some((_, range)) if complaints.is_empty() && range.to_string() != text => {
            vec![format!("must be in canonical form (\"{range}\")")]
        }
        _ => complaints,
    }
}

/// Checks that readers agree about a range.
#[must_use]
pub fn check_range_form(text: &str) -> Vec<String> {
    let Some((address, range)) = parse_range(text) else {
        return vec![NO_RANGE.to_owned()];
    };
    let complaint = if has_zeros(text) {
        "must not have leading 0s in IP or prefix length"
    } else if is_mapped(text) {
        "must not have an IPv4-mapped IPv6 address"
    } else if address != range.network() {
        "must not have bits set beyond the prefix length"
    } else {
        return Vec::new();
    };
    vec![complaint.to_owned()]
}

/// Warnings about a form of a range that is tolerated at `path`.
#[must_use]
pub fn range_warnings(path: &str, text: &str) -> Vec<String> {
    let Some((address, range)) = parse_range(text) else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    if address != range.network() {
        let all = if address.is_ipv4() { 32 } else { 128 };
        warnings.push(format!(
            "{path}: CIDR value \"{text}\" is ambiguous in this context (should be \"{range}\" or \"{address}/{all}\"?)"
        ));
    }
    if has_zeros(text) || is_mapped(text) {
        warnings.push(format!(
            "{path}: non-standard CIDR value \"{text}\" is invalid: use \"{range}\""
        ));
    }
    if warnings.is_empty() && range.to_string() != text {
        warnings.push(format!(
            "{path}: IPv6 CIDR value \"{text}\" should be in RFC 5952 canonical format (\"{range}\")"
        ));
    }
    warnings
}

/// True if the address or the number of bits has leading zeros.
fn has_zeros(text: &str) -> bool {
    text.split_once('/')
        .is_some_and(|(address, bits)| address.parse::<IpAddr>().is_err() || (bits.len() > 1 && bits.starts_with('0')))
}

fn is_mapped(text: &str) -> bool {
    let address = text.split_once('/').and_then(|(address, _)| address.parse().ok());
    matches!(address, Some(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some())
}
