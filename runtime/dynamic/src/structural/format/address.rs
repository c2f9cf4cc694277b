//! Formats of texts that say where something is.

use std::net::IpAddr;
use std::sync::LazyLock;

use regex::Regex;

use planesmith_machinery::ip;

/// Labels of letters, digits, symbols and dashes; or such labels and a name of letters at the end.
static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let letter = r"a-zA-Z0-9\p{S}\p{L}";
    let pattern = format!(
        r"^([{letter}]((-?[{letter}]{{0,62}})?)|([{letter}](([{letter}-]{{0,61}}[{letter}])?)(\.)){{1,}}([a-zA-Z\p{{L}}]){{2,63}})$"
    );
    Regex::new(&pattern).ok()
});

pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= 255
        && text.split('.').all(|label| label.len() <= 63)
        && HOSTNAME.as_ref().is_some_and(|hostname| hostname.is_match(text))
}

pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && ip::parse(text).is_some()
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<IpAddr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    ip::parse_range(text).is_some()
}

/// 6, 8 or 20 bytes: two digits each behind colons or dashes, or four behind points.
pub(super) fn is_mac(text: &str) -> bool {
    let parts = |separator: char, digits: usize| {
        let parts: Vec<&str> = text.split(separator).collect();
        let is_part = |part: &&str| part.len() == digits && super::is_hexadecimal(part);
        parts.iter().all(is_part).then(|| parts.len() * digits / 2)
    };
    let bytes = parts(':', 2).or_else(|| parts('-', 2)).or_else(|| parts('.', 4));
    matches!(bytes, Some(6 | 8 | 20))
}

/// An absolute URI, or an absolute path.
pub(super) fn is_uri(text: &str) -> bool {
    if text == "*" {
        return true;
    }
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return false;
    };
    let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
    if !rest.starts_with('/') {
        // The rest is opaque.
        return !scheme.is_empty();
    }
    match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        None => has_whole_escapes(rest),
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            is_authority(authority) && has_whole_escapes(path)
        }
    }
}

/// The scheme, which may be empty, and what follows; `None` if the scheme is none.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (index, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if index > 0 => {}
            ':' if index == 0 => return None,
            ':' => return Some((&text[..index], &text[index + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn has_whole_escapes(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|after| after.get(..2).is_some_and(super::is_hexadecimal))
}

fn is_authority(text: &str) -> bool {
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", text),
    };
    let is_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    user.chars().all(is_user) && has_whole_escapes(user) && is_host(host)
}

fn is_host(text: &str) -> bool {
    let is_port = |text: &str| {
        text.is_empty()
            || text
                .strip_prefix(':')
                .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if let Some(inner) = text.strip_prefix('[') {
        let Some((address, port)) = inner.split_once(']') else {
            return false;
        };
        let address = address.split_once("%25").map_or(address, |(address, _)| address);
        return is_port(port) && is_ipv6(address);
    }
    let (name, port) = text.split_at(text.rfind(':').unwrap_or(text.len()));
    // Unlike in paths, only what is no ASCII may be written in escapes.
    let has_odd_escape = name.split('%').skip(1).any(|after| {
        after
            .get(..2)
            .is_none_or(|code| !super::is_hexadecimal(code) || code < "8")
    });
    let is_name = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "!$&'()*+,;=:[]<>\"-_.~%".contains(c);
    is_port(port) && !has_odd_escape && name.chars().all(is_name)
}

/// An address of RFC 5322, with or without a name in front of it.
pub(super) fn is_email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    match text.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
        Some((name, address)) => is_display_name(name) && is_address(address),
        None => is_address(text),
    }
}

fn is_atom_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || !c.is_ascii()
}

fn is_dotted_atom(text: &str) -> bool {
    text.split('.')
        .all(|atom| !atom.is_empty() && atom.chars().all(is_atom_character))
}

/// A text in quotes in which quotes and backslashes are escaped.
fn is_quoted(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return false;
    };
    let mut is_escaped = false;
    for c in inner.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return false,
            c if c.is_control() && c != '\t' => return false,
            _ => {}
        }
    }
    !is_escaped && text.len() > 1
}

fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_literal = domain
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|address| {
            address
                .strip_prefix("IPv6:")
                .unwrap_or(address)
                .parse::<IpAddr>()
                .is_ok()
        });
    (is_dotted_atom(local) || is_quoted(local)) && (is_dotted_atom(domain) || is_literal)
}

fn is_display_name(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let is_word = |word: &str| word.chars().all(|c| is_atom_character(c) || c == '.');
    is_quoted(text) || text.split([' ', '\t']).all(is_word)
}
