//! IP addresses as kube-apiserver reads them.

use std::net::{IpAddr, Ipv4Addr};

use super::Complaints;

/// Reads an address. Numbers of IPv4 may have leading zeros, as they could when many objects were stored.
#[must_use]
pub fn parse_ip(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let mut bytes = [0; 4];
    let mut parts = text.split('.');
    for byte in &mut bytes {
        let part = parts.next()?;
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let significant = part.trim_start_matches('0');
        *byte = match significant {
            _ if !digits => return None,
            "" => 0,
            number => number.parse().ok()?,
        };
    }
    parts.next().is_none().then(|| Ipv4Addr::from(bytes).into())
}

/// An address of either family.
#[must_use]
pub fn ip_address(text: &str) -> Complaints {
    match parse_ip(text) {
        Some(_) => Vec::new(),
        None => vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()],
    }
}

/// Whether the addresses are one of each family at most and both families occur.
///
/// # Errors
///
/// What is wrong with the first address that is none, in the words of the checks for two families.
pub fn one_per_family<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Result<bool, String> {
    let (mut four, mut six) = (0, 0);
    for (index, text) in addresses.into_iter().enumerate() {
        match parse_ip(text) {
            Some(IpAddr::V4(_)) => four += 1,
            Some(IpAddr::V6(_)) => six += 1,
            None => return Err(format!("invalid IP[{index}]: {text}")),
        }
    }
    Ok(four > 0 && six > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeros_are_read_as_decimal() {
        assert_eq!(parse_ip("010.001.0.08"), parse_ip("10.1.0.8"));
        for wrong in ["", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", "a.b.c.d", "1.2.3.4x"] {
            assert_eq!(parse_ip(wrong), None, "{wrong}");
        }
        assert!(parse_ip("2001:db8::1").is_some());
    }

    #[test]
    fn both_families_must_occur() {
        assert_eq!(one_per_family(["10.0.0.1", "2001:db8::1"]), Ok(true));
        assert_eq!(one_per_family(["10.0.0.1", "10.0.0.2"]), Ok(false));
        assert_eq!(one_per_family(["x", "10.0.0.2"]), Err("invalid IP[0]: x".to_owned()));
    }
}
