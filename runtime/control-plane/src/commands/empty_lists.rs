//! Flags with an empty list, such as `--flag=`: the list of one empty text to the parser, and the empty list to kube-apiserver.

use std::ffi::OsString;

use clap::Command;

use super::flags::is_list;

/// Returns the command line `words` without its flags with an empty list, and `command` without the defaults of these flags.
pub(super) fn taken_out(mut command: Command, words: impl IntoIterator<Item = OsString>) -> (Command, Vec<OsString>) {
    let mut left: Vec<OsString> = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let text = word
            .to_str()
            .and_then(|word| word.strip_prefix("--"))
            .unwrap_or_default();
        let (name, is_empty) = match text.strip_suffix('=') {
            Some(name) => (name, true),
            None => (text, words.peek().is_some_and(|next| next.is_empty())),
        };
        let id = command
            .get_arguments()
            .find(|flag| is_list(flag) && flag.get_long() == Some(name));
        let id = id.filter(|_| is_empty).map(|flag| flag.get_id().clone());
        let Some(id) = id else {
            left.push(word);
            continue;
        };
        if !text.ends_with('=') {
            words.next();
        }
        command = command.mut_arg(id, |flag| flag.default_value(None));
    }
    (command, left)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::*;
    use crate::options::Options;

    #[test]
    fn an_empty_list_replaces_the_default_and_has_no_element() {
        let read = |words: &[&str]| {
            let words = std::iter::once(&"test").chain(words).map(OsString::from);
            let (command, words) = taken_out(Options::command(), words);
            let flags = Options::from_arg_matches(&command.get_matches_from(words))
                .expect("legal")
                .aggregation;
            (flags.requestheader_allowed_names, flags.requestheader_group_headers)
        };
        let default = vec!["X-Remote-Group".to_owned()];
        assert_eq!(read(&[]), (Vec::new(), default.clone()));
        assert_eq!(read(&["--requestheader-allowed-names="]), (Vec::new(), default.clone()));
        assert_eq!(
            read(&["--requestheader-allowed-names", ""]),
            (Vec::new(), default.clone())
        );
        assert_eq!(read(&["--requestheader-group-headers="]), (Vec::new(), Vec::new()));
        let names = ["a", "", "b"].map(str::to_owned).to_vec();
        let words = ["--requestheader-allowed-names=", "--requestheader-allowed-names=a,,b"];
        assert_eq!(read(&words), (names, default));
    }
}
