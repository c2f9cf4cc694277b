//! `/flagz`: the server's flags.

use std::collections::BTreeMap;

use planesmith_machinery::json;

use super::{DELIMITERS, ProcessPage};

/// The flags by name, with defaults for those that are not set.
#[derive(Debug)]
pub(super) struct FlagsPage(pub(super) BTreeMap<String, String>);

impl ProcessPage for FlagsPage {
    const NAME: &'static str = "flagz";
    const KIND: &'static str = "Flagz";

    fn render(&self) -> String {
        // The flags never change, and neither does their page.
        let delimiter = DELIMITERS[2];
        self.0
            .iter()
            .map(|(name, value)| format!("{name}{delimiter}{value}\n"))
            .collect()
    }

    fn members(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"flags\":");
        let flags = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        json::encode_object(flags, out, json::encode_text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_listed_by_name() {
        let flags = [("v", "2"), ("bind-address", "127.0.0.1")];
        let page = FlagsPage(flags.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(page.render(), "bind-address=127.0.0.1\nv=2\n");
        let mut members = Vec::new();
        page.members(&mut members);
        assert_eq!(
            String::from_utf8(members).expect("text"),
            r#","flags":{"bind-address":"127.0.0.1","v":"2"}"#
        );
    }
}
