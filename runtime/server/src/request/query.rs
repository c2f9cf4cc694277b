//! The parameters of a query.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use super::info::decode;

/// Characters that Go escapes in a query.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The parameters of a query, in order; a name may occur several times.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    text: &'q str,
}

impl<'q> Query<'q> {
    /// Returns the parameters of `text`, which is the query without its question mark.
    #[must_use]
    pub fn new(text: &'q str) -> Self {
        Self { text }
    }

    /// All parameters, decoded. Parameters that cannot be decoded are ignored, and so are those with a semicolon, which
    /// was a separator once.
    pub fn pairs(self) -> impl Iterator<Item = (Cow<'q, str>, Cow<'q, str>)> {
        self.sound().map(|(name, value)| (decode(name), decode(value)))
    }

    /// Returns the parameters as Go encodes them: sorted by name, without those that cannot be decoded.
    #[must_use]
    pub fn reencoded(self) -> String {
        // Bytes, because a server behind this one may read other encodings than UTF-8.
        let bytes = |text: &str| -> Vec<u8> { percent_decode_str(&text.replace('+', " ")).collect() };
        encode_query(self.sound().map(|(name, value)| (bytes(name), bytes(value))))
    }

    /// Like [`Query::pairs`], still encoded: looking for one parameter does not decode the values of the others.
    fn sound(self) -> impl Iterator<Item = (&'q str, &'q str)> {
        let pairs = self.text.split('&').filter(|pair| !pair.is_empty() && is_sound(pair));
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }

    /// Every value of the parameter `name`.
    pub fn all(self, name: &str) -> impl Iterator<Item = Cow<'q, str>> {
        self.sound()
            .filter(move |(found, _)| decode(found) == name)
            .map(|(_, value)| decode(value))
    }

    /// A boolean parameter: present, and neither `false` nor `0`; `None` when it is absent.
    #[must_use]
    pub fn flag(self, name: &str) -> Option<bool> {
        let value = self.first(name)?;
        Some(!(value.eq_ignore_ascii_case("false") || value == "0"))
    }

    /// The first value of the parameter `name`.
    #[must_use]
    pub fn first(self, name: &str) -> Option<Cow<'q, str>> {
        self.all(name).next()
    }
}

/// Returns parameters as Go encodes them: sorted by name. Several values of a name stay in their order.
pub fn encode_query(pairs: impl Iterator<Item = (impl Into<Vec<u8>>, impl Into<Vec<u8>>)>) -> String {
    let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = pairs.map(|(name, value)| (name.into(), value.into())).collect();
    pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
    // Only a space is encoded as %20.
    let encoded = |bytes: &[u8]| percent_encode(bytes, ESCAPED).to_string().replace("%20", "+");
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// True if a pair has no semicolon, and two hexadecimal digits after each percent sign.
fn is_sound(pair: &str) -> bool {
    let mut escapes = pair.split('%').skip(1);
    let is_escape = |text: &str| {
        text.as_bytes()
            .get(..2)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    !pair.contains(';') && escapes.all(is_escape)
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn parameters_are_encoded_in_the_order_of_their_names() {
        let reencoded = |text| Query::new(text).reencoded();
        assert_eq!(reencoded("b=2&a=1&watch&c=x%20y&d=%zz"), "a=1&b=2&c=x+y&watch=");
        assert_eq!(reencoded("b=2&a=z&a=%2B+%c3%a4~&&"), "a=z&a=%2B+%C3%A4~&b=2");
        assert_eq!(reencoded("x=%ff"), "x=%FF");
        assert_eq!(reencoded(""), "");
    }

    #[test]
    fn undecodable_parameters_are_ignored() {
        let query = Query::new("a=%%&a=%4&a=%zz&a=b;c&%=x&a=1%20+2&&=y&b");
        let pairs: Vec<(String, String)> = query.pairs().map(|(name, value)| (name.into(), value.into())).collect();
        let expected = [("a", "1  2"), ("", "y"), ("b", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs, expected);
    }
}
