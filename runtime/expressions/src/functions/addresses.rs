//! IP addresses and networks.

use std::net::IpAddr;

use planesmith_machinery::go_format::quote;
use planesmith_machinery::ip::IpRange;

use super::{Context, Entry, text_argument, unfit};
use crate::value::{Evaluated, Fault, Library, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("ip: (string) ip", "string_to_ip", ip),
    ("ip: cidr.() ip", "cidr_ip", cidr_ip),
    ("isIP: (string) bool", "is_ip", is_ip),
    ("ip.isCanonical: (string) bool", "ip_is_canonical", is_canonical),
    ("family: ip.() int", "ip_family", family),
    ("isUnspecified: ip.() bool", "ip_is_unspecified", is_unspecified),
    ("isLoopback: ip.() bool", "ip_is_loopback", is_loopback),
    (
        "isLinkLocalMulticast: ip.() bool",
        "ip_is_link_local_multicast",
        is_link_local_multicast,
    ),
    (
        "isLinkLocalUnicast: ip.() bool",
        "ip_is_link_local_unicast",
        is_link_local_unicast,
    ),
    ("isGlobalUnicast: ip.() bool", "ip_is_global_unicast", is_global_unicast),
    ("cidr: (string) cidr", "string_to_cidr", cidr),
    ("isCIDR: (string) bool", "is_cidr", is_cidr),
    ("containsIP: cidr.(string) bool", "cidr_contains_ip_string", contains_ip),
    ("containsIP: cidr.(ip) bool", "cidr_contains_ip_ip", contains_ip),
    (
        "containsCIDR: cidr.(string) bool",
        "cidr_contains_cidr_string",
        contains_cidr,
    ),
    ("containsCIDR: cidr.(cidr) bool", "cidr_contains_cidr", contains_cidr),
    ("prefixLength: cidr.() int", "cidr_prefix_length", prefix_length),
    ("masked: cidr.() cidr", "cidr_masked", masked),
];

fn parse_ip(text: &str) -> Result<IpAddr, Fault> {
    let shown = quote(text);
    let address: IpAddr = match text.parse() {
        Ok(address) => address,
        Err(_) if text.contains('%') => {
            return Err(Fault::new(format!("IP address {shown} with zone value is not allowed")));
        }
        Err(_) => {
            return Err(Fault::new(format!(
                "IP Address {shown} parse error during conversion from string: ParseAddr({shown}): unable to parse IP"
            )));
        }
    };
    match address {
        IpAddr::V6(inner) if inner.to_ipv4_mapped().is_some() => {
            Err(Fault::new(format!("IPv4-mapped IPv6 address {shown} is not allowed")))
        }
        address => Ok(address),
    }
}

fn parse_cidr(text: &str) -> Result<(IpAddr, u8), Fault> {
    const FAILED: &str = "network address parse error during conversion from string: ";
    let (address, bits) = parse_prefix(text).map_err(|problem| {
        let shown = quote(text);
        Fault::new(format!("{FAILED}{FAILED}netip.ParsePrefix({shown}): {problem}"))
    })?;
    match address {
        IpAddr::V6(inner) if inner.to_ipv4_mapped().is_some() => {
            let shown = quote(text);
            Err(Fault::new(format!(
                "{FAILED}IPv4-mapped IPv6 address {shown} is not allowed"
            )))
        }
        address => Ok((address, bits)),
    }
}

/// Parses `address/bits`; the problem is worded as Go words it.
fn parse_prefix(text: &str) -> Result<(IpAddr, u8), String> {
    let (address, bits) = text.rsplit_once('/').ok_or("no '/'")?;
    let address: IpAddr = match address.parse() {
        Ok(address) => address,
        Err(_) if address.contains('%') => return Err("IPv6 zones cannot be present in a prefix".to_owned()),
        Err(_) => return Err(format!("ParseAddr({}): unable to parse IP", quote(address))),
    };
    let is_plain = bits == "0" || (!bits.starts_with('0') && bits.bytes().all(|byte| byte.is_ascii_digit()));
    let bad_bits = || format!("bad bits after slash: {}", quote(bits));
    let bits: u64 = bits.parse().ok().filter(|_| is_plain).ok_or_else(bad_bits)?;
    let bits = u8::try_from(bits)
        .ok()
        .filter(|bits| IpRange::new(address, *bits).is_some());
    let bits = bits.ok_or("prefix length out of range")?;
    Ok((address, bits))
}

fn ip<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Library(Library::Ip(parse_ip(text_argument(&args, 0)?)?)))
}

fn is_ip<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(parse_ip(text_argument(&args, 0)?).is_ok()))
}

fn is_canonical<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let text = text_argument(&args, 0)?;
    Ok(Value::Bool(parse_ip(text)?.to_string() == text))
}

fn address(args: &[Value<'_>]) -> Result<IpAddr, Fault> {
    match args.first() {
        Some(Value::Library(Library::Ip(address))) => Ok(*address),
        _ => Err(unfit()),
    }
}

fn range(args: &[Value<'_>]) -> Result<(IpAddr, u8), Fault> {
    match args.first() {
        Some(Value::Library(Library::Cidr(address, bits))) => Ok((*address, *bits)),
        _ => Err(unfit()),
    }
}

fn family<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Int(if address(&args)?.is_ipv4() { 4 } else { 6 }))
}

fn is_unspecified<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(address(&args)?.is_unspecified()))
}

fn is_loopback<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(address(&args)?.is_loopback()))
}

fn is_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn is_link_local_multicast<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(is_local_multicast(address(&args)?)))
}

fn is_link_local_unicast<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(is_local_unicast(address(&args)?)))
}

fn is_global_unicast<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let address = address(&args)?;
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    let is_special = address.is_unspecified() || address.is_loopback() || address.is_multicast();
    Ok(Value::Bool(!is_broadcast && !is_special && !is_local_unicast(address)))
}

fn cidr<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (address, bits) = parse_cidr(text_argument(&args, 0)?)?;
    Ok(Value::Library(Library::Cidr(address, bits)))
}

fn is_cidr<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(parse_cidr(text_argument(&args, 0)?).is_ok()))
}

fn contains_ip<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (network, bits) = range(&args)?;
    let address = match args.get(1) {
        Some(Value::Library(Library::Ip(address))) => *address,
        // The fault is that of an argument that is no address, not that of the text.
        _ => parse_ip(text_argument(&args, 1)?).map_err(|_| unfit())?,
    };
    let contains = IpRange::new(network, bits).is_some_and(|range| range.contains(address));
    Ok(Value::Bool(contains))
}

fn contains_cidr<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (network, bits) = range(&args)?;
    let (inner, inner_bits) = match args.get(1) {
        Some(Value::Library(Library::Cidr(address, bits))) => (*address, *bits),
        _ => parse_cidr(text_argument(&args, 1)?)?,
    };
    let contains = IpRange::new(network, bits).is_some_and(|range| range.contains(inner));
    Ok(Value::Bool(contains && inner_bits >= bits))
}

fn cidr_ip<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Library(Library::Ip(range(&args)?.0)))
}

fn prefix_length<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Int(i64::from(range(&args)?.1)))
}

fn masked<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (address, bits) = range(&args)?;
    let network = IpRange::new(address, bits).map_or(address, |range| range.network());
    Ok(Value::Library(Library::Cidr(network, bits)))
}
