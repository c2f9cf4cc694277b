//! The subject of certificates and certificate requests.

use planesmith_machinery::der::{Element, SEQUENCE, SET, content, elements};
use x509_cert::der::oid::{ObjectIdentifier, db};

/// The parts of a distinguished name that identify a user.
///
/// Certificates and certificate requests share this parser, so that a request is approved for the same user that the
/// certificate later authenticates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The user name; the last common name if there are several, as in Go. Empty if there is none.
    pub common_name: String,
    /// The user's groups.
    pub organizations: Vec<String>,
    /// The values of the attribute for the user's UID; at most one is valid.
    pub uids: Vec<String>,
}

/// The attribute for the user's UID, of the Kubernetes project (1.3.6.1.4.1.57683.2).
const UID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57683.2");

impl Subject {
    /// Reads the subject of a certificate request; `None` if it is malformed.
    #[must_use]
    pub fn of_request(der: &[u8]) -> Option<Self> {
        let info = *elements(content(der, SEQUENCE)?)?.first()?;
        let name = *elements(info.content)?.get(1)?;
        Self::read(name.whole)
    }

    /// Reads a distinguished name; `None` if it is malformed, or a relevant part is not a valid string. Parts keep the order in
    /// which they are encoded, also those that belong together.
    #[must_use]
    pub fn read(name: &[u8]) -> Option<Self> {
        let mut subject = Self {
            common_name: String::new(),
            organizations: Vec::new(),
            uids: Vec::new(),
        };
        for parts in elements(content(name, SEQUENCE)?)? {
            for part in elements(parts.content).filter(|_| parts.tag == SET)? {
                let [attribute, value] = *elements(part.content).filter(|_| part.tag == SEQUENCE)?.as_slice() else {
                    return None;
                };
                let is = |oid: ObjectIdentifier| attribute.tag == OID && attribute.content == oid.as_bytes();
                if is(db::rfc4519::CN) {
                    subject.common_name = attribute_text(value)?;
                } else if is(db::rfc4519::O) {
                    subject.organizations.push(attribute_text(value)?);
                } else if is(UID) {
                    subject.uids.push(attribute_text(value)?);
                }
            }
        }
        Some(subject)
    }
}

/// Tag of an object identifier.
const OID: u8 = 0x06;

/// Returns the text of a value if it has a string type that Go supports and contains only valid characters.
fn attribute_text(value: Element<'_>) -> Option<String> {
    let bytes = value.content;
    let ascii = |is_allowed: fn(u8) -> bool| {
        let allowed = bytes.iter().all(|byte| is_allowed(*byte));
        allowed.then(|| bytes.iter().copied().map(char::from).collect())
    };
    match value.tag {
        UTF8 => String::from_utf8(bytes.to_vec()).ok(),
        PRINTABLE => ascii(is_printable),
        IA5 => ascii(|byte| byte.is_ascii()),
        NUMERIC => ascii(|byte| byte.is_ascii_digit() || byte == b' '),
        // Commonly treated as Latin-1.
        T61 => ascii(|_| true),
        BMP => from_ucs2(bytes),
        _ => None,
    }
}

/// Tags of strings.
const UTF8: u8 = 0x0c;
const NUMERIC: u8 = 0x12;
const PRINTABLE: u8 = 0x13;
const T61: u8 = 0x14;
const IA5: u8 = 0x16;
const BMP: u8 = 0x1e;

/// The characters of a `PrintableString`, plus `*` and `&`, which are common although not allowed.
fn is_printable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&byte)
}

/// Decodes two bytes per character, with an optional null terminator.
fn from_ucs2(bytes: &[u8]) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else {
        return None;
    };
    let pairs = match pairs {
        [pairs @ .., [0, 0]] => pairs,
        pairs => pairs,
    };
    let characters = pairs
        .iter()
        .map(|pair| char::from_u32(u16::from_be_bytes(*pair).into()));
    characters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, u8::try_from(content.len()).unwrap()], content].concat()
    }

    /// Encodes and reads a subject of common names (`C`) and organizations (`O`), each with the tag of its value.
    fn read(parts: &[(char, u8, &[u8])]) -> Option<(String, Vec<String>)> {
        let parts = parts.iter().map(|(part, tag, value)| {
            let kind = if *part == 'C' { 3 } else { 10 };
            let pair = [der(0x06, &[0x55, 0x04, kind]), der(*tag, value)].concat();
            der(0x31, &der(0x30, &pair))
        });
        let name = der(0x30, &parts.collect::<Vec<_>>().concat());
        let subject = Subject::read(&name)?;
        Some((subject.common_name, subject.organizations))
    }

    #[test]
    fn all_strings_of_go_are_read() {
        let organizations: [(u8, &[u8], &str); 6] = [
            (UTF8, "größe".as_bytes(), "größe"),
            (NUMERIC, b"12 3", "12 3"),
            (PRINTABLE, b"system:masters", "system:masters"),
            (T61, b"gr\xf6\xdfe", "größe"),
            (IA5, b"a@b", "a@b"),
            (BMP, b"\0a\0b\0\0", "ab"),
        ];
        for (tag, value, expected) in organizations {
            let read = read(&[('C', UTF8, b"eve"), ('O', tag, value), ('C', UTF8, b"last")]);
            assert_eq!(read, Some(("last".to_owned(), vec![expected.to_owned()])));
        }
        assert_eq!(read(&[]), Some((String::new(), Vec::new())));
    }

    #[test]
    fn parts_keep_their_order_and_their_repetitions() {
        let part = |kind: u8, value: &[u8]| der(0x30, &[der(0x06, &[0x55, 0x04, kind]), der(UTF8, value)].concat());
        let parts = [
            part(10, b"z"),
            part(3, b"zeta"),
            part(10, b"a"),
            part(10, b"z"),
            part(3, b"adam"),
        ];
        let name = der(0x30, &der(0x31, &parts.concat()));
        let subject = Subject::read(&name).unwrap();
        assert_eq!(
            (&*subject.common_name, subject.organizations),
            ("adam", vec!["z".into(), "a".into(), "z".into()])
        );
        assert_eq!(Subject::read(&name[..name.len() - 1]), None);
    }

    #[test]
    fn groups_do_not_hide_in_strings_of_the_wrong_kind() {
        const CONSTRUCTED: u8 = 0x2c;
        const FOREIGN: u8 = 0x8c;
        for (tag, value) in [
            (NUMERIC, &b"system:masters"[..]),
            (PRINTABLE, b"a@b"),
            (IA5, b"\xff"),
            (UTF8, b"\xff"),
            (BMP, b"abc"),
            (BMP, b"\xd8\0"),
            (CONSTRUCTED, b"system:masters"),
            (FOREIGN, b"system:masters"),
            (0x04, b"system:masters"),
        ] {
            for part in ['C', 'O'] {
                let beside = [('C', UTF8, &b"eve"[..]), ('O', UTF8, b"people"), (part, tag, value)];
                assert_eq!(read(&beside), None, "{tag:#x}");
            }
        }
    }
}
