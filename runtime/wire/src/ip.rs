//! IP addresses and ranges as fields of objects hold them: legal forms, and those that are only tolerated.
//!
//! Old fields took forms that readers disagree about: `010.0.0.1`, `::ffff:10.0.0.1`, `10.0.0.1/24`. Such values are
//! refused when they are new and tolerated where they are stored already. Each check returns the complaints of
//! kube-apiserver, word for word; none means legal.

mod range;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub use range::{IpRange, check_range, check_range_form, parse_range, range_warnings};

/// The complaint about text that is no address.
const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/// An IP family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// The family of an address.
    #[must_use]
    pub fn from_address(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }

    /// The family that objects call `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "IPv4" => Some(Family::V4),
            "IPv6" => Some(Family::V6),
            _ => None,
        }
    }

    /// Its name in objects.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Family::V4 => Family::V6,
            Family::V6 => Family::V4,
        }
    }
}

/// The address that `text` stands for, in any form that was ever taken; an IPv4 address inside IPv6 is the former.
#[must_use]
pub fn parse(text: &str) -> Option<IpAddr> {
    let address = text.parse().ok().or_else(|| parse_with_zeros(text))?;
    Some(match address {
        IpAddr::V6(inner) => inner.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    })
}

/// An address with leading zeros in decimal parts, which are no octal numbers.
fn parse_with_zeros(text: &str) -> Option<IpAddr> {
    let (head, decimal) = match text.rfind(':') {
        Some(colon) => text.split_at(colon + 1),
        None => ("", text),
    };
    let octets: Vec<u8> = decimal.split('.').map(decimal_octet).collect::<Option<_>>()?;
    let octets: [u8; 4] = octets.try_into().ok()?;
    match head {
        "" => Some(IpAddr::V4(Ipv4Addr::from(octets))),
        head => format!("{head}{}", Ipv4Addr::from(octets)).parse().ok(),
    }
}

fn decimal_octet(part: &str) -> Option<u8> {
    if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match part.trim_start_matches('0') {
        "" => Some(0),
        digits => digits.parse().ok(),
    }
}

/// Checks an address in a field that takes one form of each address only.
#[must_use]
pub fn check(text: &str) -> Vec<String> {
    let complaints = check_form(text);
    match parse(text) {
        Some(address) if complaints.is_empty() && address.to_string() != text => {
            vec![format!("must be in canonical form (\"{address}\")")]
        }
        _ => complaints,
    }
}

/// Checks that readers agree about an address.
#[must_use]
pub fn check_form(text: &str) -> Vec<String> {
    if parse(text).is_none() {
        return vec![NO_ADDRESS.to_owned()];
    }
    match text.parse() {
        Err(_) => vec!["must not have leading 0s".to_owned()],
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            vec!["must not be an IPv4-mapped IPv6 address".to_owned()]
        }
        Ok(_) => Vec::new(),
    }
}

/// Checks that an address is one that packets can be sent to from elsewhere.
#[must_use]
pub fn check_reachable(text: &str) -> Vec<String> {
    let Some(address) = parse(text) else {
        return Vec::new();
    };
    let mut complaints = Vec::new();
    if address.is_unspecified() {
        complaints.push(format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        complaints.push("may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned());
    }
    let (unicast, multicast) = match address {
        IpAddr::V4(address) => (address.is_link_local(), address.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(address) => (address.is_unicast_link_local(), is_link_local_multicast(address)),
    };
    if unicast {
        complaints.push("may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned());
    }
    if multicast {
        complaints.push("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned());
    }
    complaints
}

fn is_link_local_multicast(address: Ipv6Addr) -> bool {
    let first = address.segments()[0];
    first & 0xff0f == 0xff02
}

/// Warnings about a form of an address that is tolerated at `path`.
#[must_use]
pub fn warnings(path: &str, text: &str) -> Vec<String> {
    let Some(address) = parse(text) else {
        return Vec::new();
    };
    let strict: Option<IpAddr> = text.parse().ok();
    match strict {
        Some(IpAddr::V6(strict)) if strict.to_ipv4_mapped().is_none() => {
            let canonical = strict.to_string();
            let warning =
                || format!("{path}: IPv6 address \"{text}\" should be in RFC 5952 canonical format (\"{canonical}\")");
            (canonical != text).then(warning).into_iter().collect()
        }
        Some(IpAddr::V4(_)) => Vec::new(),
        _ => vec![format!(
            "{path}: non-standard IP address \"{text}\" is invalid: use \"{address}\""
        )],
    }
}

#[cfg(test)]
mod tests;
