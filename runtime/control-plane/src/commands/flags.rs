//! The flags of a server with their values, as `/flagz` lists them.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Command};
use planesmith_machinery::duration::Duration;

/// Returns all flags of `command` by name, with their values in `matches` or their defaults.
pub(super) fn listed(command: &Command, matches: &ArgMatches) -> BTreeMap<String, String> {
    let flags = command.get_arguments();
    flags
        .filter_map(|flag| Some((flag.get_long()?.to_owned(), value(flag, matches))))
        .collect()
}

/// True for a flag whose values kube-apiserver has as a list.
pub(super) fn is_list(flag: &Arg) -> bool {
    // One or two ranges are one text there.
    let names = flag.get_value_names().unwrap_or_default();
    flag.get_value_delimiter().is_some() && names.first().is_none_or(|name| name.as_str() != "CIDR")
}

fn value(flag: &Arg, matches: &ArgMatches) -> String {
    if matches!(flag.get_action(), ArgAction::Help) {
        // With the flag set, no server would run.
        return "false".to_owned();
    }
    let raw = matches.try_get_raw(flag.get_id().as_str()).ok().flatten();
    let texts: Vec<String> = raw
        .into_iter()
        .flatten()
        .map(|text| text.to_string_lossy().into_owned())
        .collect();
    let kind = flag.get_value_names().and_then(|names| names.first());
    match (kind.map_or("", |kind| kind.as_str()), is_list(flag)) {
        ("DURATION", _) => texts.last().map(|text| in_units_of_go(text)).unwrap_or_default(),
        ("KEY=BOOL,..." | "NAME=BOOL,...", _) => {
            let mut pairs: Vec<&str> = texts.iter().flat_map(|text| text.split(',')).collect();
            pairs.sort_unstable();
            pairs.join(",")
        }
        (_, false) => texts.join(","),
        (_, true) => format!("[{}]", texts.join(",")),
    }
}

fn in_units_of_go(text: &str) -> String {
    text.parse()
        .map_or_else(|_| text.to_owned(), |duration: Duration| duration.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::options::Options;

    #[test]
    fn flags_are_listed_with_what_they_are_set_to_as_go_writes_it() {
        let words = [
            "planesmith",
            "--request-timeout=90s",
            "--feature-gates=WatchList=true",
            "--feature-gates=ClusterTrustBundle=true",
            "--disable-admission-plugins=A,B",
            "--secure-port=1",
            "--secure-port=2",
            "--anonymous-auth=false",
        ];
        let mut command = Options::command();
        let matches = command.try_get_matches_from_mut(words).expect("flags");
        let listed = listed(&command, &matches);
        for (name, expected) in [
            ("request-timeout", "1m30s"),
            ("event-ttl", "1h0m0s"),
            ("feature-gates", "ClusterTrustBundle=true,WatchList=true"),
            ("runtime-config", ""),
            ("disable-admission-plugins", "[A,B]"),
            ("enable-admission-plugins", "[]"),
            ("secure-port", "2"),
            ("anonymous-auth", "false"),
            ("token-auth-file", ""),
            ("v", "2"),
            ("help", "false"),
        ] {
            assert_eq!(listed.get(name).map(String::as_str), Some(expected), "{name}");
        }
    }
}
