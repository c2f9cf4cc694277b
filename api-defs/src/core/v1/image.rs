//! Image references.

/// Maximum length of the path of an image.
const MAX_PATH: usize = 255;
/// Hosts of the default registry.
const DOCKER_HUB: [&str; 2] = ["docker.io", "index.docker.io"];
/// Start of a path in the default registry that the reference leaves out.
const OFFICIAL: &str = "library/";

/// Returns the default pull policy: `Always` for images with the tag `latest`, `IfNotPresent` for others.
pub(crate) fn pull_policy(image: &str) -> &'static str {
    match tag(image) {
        Some("latest") => "Always",
        _ => "IfNotPresent",
    }
}

/// Returns the tag of an image, which is `latest` if it has neither tag nor digest; `None` for a malformed reference.
fn tag(image: &str) -> Option<&str> {
    let (rest, digest) = match image.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (image, None),
    };
    let after_slash = rest.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match rest[after_slash..].split_once(':') {
        Some((last, tag)) => (&rest[..after_slash + last.len()], Some(tag)),
        None => (rest, None),
    };
    let legal = is_name(name) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
    match (legal, tag, digest) {
        (false, ..) => None,
        (true, None, None) => Some("latest"),
        (true, tag, _) => tag,
    }
}

/// True if `name` is an optional host followed by a path of lower-case components.
fn is_name(name: &str) -> bool {
    let (host, path) = match name.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" || has_capital(first) => {
            (Some(first), rest)
        }
        _ => (None, name),
    };
    let is_id = path.len() == 64
        && path
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
    let is_official = !path.contains('/') && host.is_none_or(|host| DOCKER_HUB.contains(&host));
    let length = path.len() + if is_official { OFFICIAL.len() } else { 0 };
    host.is_none_or(is_host) && !(host.is_none() && is_id) && length <= MAX_PATH && path.split('/').all(is_part)
}

fn has_capital(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn is_host(host: &str) -> bool {
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (host, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    let address = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':');
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    port.is_none_or(digits) && bracketed.map_or_else(|| host.split('.').all(label), address)
}

/// True for letters and digits, separated by `.`, `_`, `__` or dashes.
fn is_part(part: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = part.as_bytes();
    let ends = bytes.first().copied().is_some_and(letter) && bytes.last().copied().is_some_and(letter);
    ends && part
        .split(|c: char| c.is_ascii() && letter(c as u8))
        .all(|separator| matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-'))
}

fn is_tag(tag: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let inner = |byte: u8| word(byte) || matches!(byte, b'.' | b'-');
    (1..=128).contains(&tag.len()) && tag.bytes().next().is_some_and(word) && tag.bytes().all(inner)
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        let starts = algorithm.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        starts && hex.len() >= 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_without_tag_and_digest_are_the_latest() {
        let digest = "ab".repeat(32);
        let cases = [
            ("x".to_owned(), "Always"),
            ("x:latest".to_owned(), "Always"),
            ("reg.example:5000/x".to_owned(), "Always"),
            ("reg.example:5000/x/y:v1".to_owned(), "IfNotPresent"),
            (format!("x@sha256:{digest}"), "IfNotPresent"),
            (format!("x:latest@sha256:{digest}"), "Always"),
            ("Upper".to_owned(), "IfNotPresent"),
            (String::new(), "IfNotPresent"),
            ("a".repeat(247), "Always"),
            ("a".repeat(248), "IfNotPresent"),
            (format!("docker.io/{}", "a".repeat(248)), "IfNotPresent"),
            (format!("a/{}", "a".repeat(253)), "Always"),
            (format!("reg.example/{}", "a".repeat(255)), "Always"),
            (format!("reg.example/{}", "a".repeat(256)), "IfNotPresent"),
            (digest, "IfNotPresent"),
        ];
        for (image, expected) in cases {
            assert_eq!(pull_policy(&image), expected, "{image}");
        }
    }
}
