//! IP addresses as kube-apiserver reads them.

use std::net::IpAddr;

pub use crate::ip::parse as parse_ip;

/// True if the addresses are one of each family at most and both families occur.
///
/// # Errors
///
/// The fault of the first invalid address, in the words of the checks for two families.
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
