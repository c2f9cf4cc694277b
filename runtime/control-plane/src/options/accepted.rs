//! Flags that are accepted because an operator of kube-apiserver sets them: they describe its implementation.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};

use super::parse_go_duration;
use crate::feature_gates::FeatureGates;

/// The feature without which flags about peers are refused.
const PEER_PROXY: &str = "UnknownVersionInteroperabilityProxy";

/// Flags without an effect.
#[derive(Args, Clone, Debug)]
pub struct AcceptedOptions {
    /// Accepted for compatibility: profiles of Go at /debug/pprof do not exist here, whatever the value.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL")]
    pub profiling: bool,

    /// Accepted for compatibility: a profile of Go's locks does not exist here.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub contention_profiling: bool,

    /// Accepted for compatibility: all reads are served from memory, whatever the value.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL")]
    pub watch_cache: bool,

    /// Accepted for compatibility: the cache holds every resource, so sizes have no effect (resource[.group]#size).
    #[arg(long, value_delimiter = ',', value_parser = parse_watch_cache_size, value_name = "RESOURCE#SIZE,...")]
    pub watch_cache_sizes: Vec<String>,

    /// Accepted for compatibility: log lines are written at once.
    #[arg(long, default_value = "5s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub log_flush_frequency: Duration,

    /// Accepted for compatibility: there are no files of Go whose log levels could differ.
    #[arg(long, value_delimiter = ',', value_parser = parse_file_level, value_name = "PATTERN=N,...")]
    pub vmodule: Vec<String>,

    /// Accepted for compatibility: a port that a former server used is free at once, whatever the value.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub permit_address_sharing: bool,

    /// Accepted for compatibility: logs of the host are not served, and true is refused.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub enable_logs_handler: bool,

    /// Accepted for compatibility, if it is the version that is served: another one is not emulated.
    #[arg(long, value_delimiter = ',', value_parser = parse_emulated, value_name = "[kube=]1.36")]
    pub emulated_version: Vec<String>,

    /// Accepted for compatibility, if it is the version that is served or the one before.
    #[arg(long, value_delimiter = ',', value_parser = parse_compatible, value_name = "[kube=]1.35")]
    pub min_compatibility_version: Vec<String>,

    /// Accepted for compatibility: without an effect where no older version is emulated.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub emulation_forward_compatible: bool,

    /// Accepted for compatibility: without an effect where no older version is emulated.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub runtime_config_emulation_forward_compatible: bool,

    /// Accepted for compatibility: leaders among other programs are not chosen here (feature CoordinatedLeaderElection).
    #[arg(long, default_value = "15s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub coordinated_leadership_lease_duration: Duration,

    /// Accepted for compatibility, as the duration of leases.
    #[arg(long, default_value = "10s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub coordinated_leadership_renew_deadline: Duration,

    /// Accepted for compatibility, as the duration of leases.
    #[arg(long, default_value = "2s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub coordinated_leadership_retry_period: Duration,

    /// Accepted for compatibility: streams to pods are as fast as the network, whatever the value.
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    pub max_connection_bytes_per_sec: u64,

    /// Accepted for compatibility: requests that this server cannot serve are not passed on to servers of other versions (feature
    /// UnknownVersionInteroperabilityProxy).
    #[arg(long, value_name = "IP")]
    pub peer_advertise_ip: Option<IpAddr>,

    /// Accepted for compatibility, as the address for other servers.
    #[arg(long, value_name = "PORT")]
    pub peer_advertise_port: Option<u16>,

    /// Accepted for compatibility, as the address for other servers.
    #[arg(long, value_name = "FILE")]
    pub peer_ca_file: Option<PathBuf>,
}

impl AcceptedOptions {
    /// Checks the flags with the features that are on.
    pub(super) fn check(&self, gates: &FeatureGates) -> Result<(), String> {
        if self.enable_logs_handler {
            return Err("--enable-logs-handler is true; expected false: logs of the host are not served".to_owned());
        }
        let of_peers = [
            ("--peer-ca-file", self.peer_ca_file.is_some()),
            ("--peer-advertise-ip", self.peer_advertise_ip.is_some()),
            ("--peer-advertise-port", self.peer_advertise_port.is_some()),
        ];
        match of_peers.into_iter().find(|(_, is_set)| *is_set) {
            Some((flag, _)) if !gates.enabled(PEER_PROXY) => {
                Err(format!("{flag} requires {PEER_PROXY} feature to be turned on"))
            }
            _ => Ok(()),
        }
    }
}

/// Checks the version that is emulated.
fn parse_emulated(text: &str) -> Result<String, String> {
    parse_version(text, &["1.36"])
}

/// Checks the oldest version that others of a cluster may have.
fn parse_compatible(text: &str) -> Result<String, String> {
    parse_version(text, &["1.35", "1.36"])
}

fn parse_version(text: &str, known: &[&str]) -> Result<String, String> {
    let version = text.strip_prefix("kube=").unwrap_or(text);
    match known.contains(&version.trim_start_matches('v')) {
        true => Ok(text.to_owned()),
        false => Err(format!("expected {}, as this server has no other", known.join(" or "))),
    }
}

/// Checks a size of the watch cache.
fn parse_watch_cache_size(text: &str) -> Result<String, String> {
    match text.split_once('#') {
        Some((resource, size)) if !resource.is_empty() && size.parse::<u32>().is_ok() => Ok(text.to_owned()),
        _ => Err("expected resource[.group]#size, e.g. pods#1000".to_owned()),
    }
}

/// Checks the log level of files.
fn parse_file_level(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((pattern, level)) if !pattern.is_empty() && level.parse::<u32>().is_ok() => Ok(text.to_owned()),
        _ => Err("expected pattern=N, e.g. watch*=4".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::options::Options;

    #[test]
    fn flags_about_peers_need_their_feature() {
        let checked = |gates: &str| {
            let gates = format!("--feature-gates={gates}");
            let flags = [
                "server",
                "--peer-advertise-ip=192.0.2.1",
                "--peer-advertise-port=6443",
                &gates,
            ];
            Options::try_parse_from(flags).unwrap().check()
        };
        assert_eq!(checked("AllAlpha=false"), Ok(()));
        let problem = "--peer-advertise-ip requires UnknownVersionInteroperabilityProxy feature to be turned on";
        assert_eq!(
            checked("UnknownVersionInteroperabilityProxy=false"),
            Err(problem.to_owned())
        );
    }

    #[test]
    fn versions_are_those_that_are_served() {
        for known in ["1.36", "v1.36", "kube=1.36"] {
            assert!(
                parse_emulated(known).is_ok() && parse_compatible(known).is_ok(),
                "{known}"
            );
        }
        assert!(parse_compatible("kube=1.35").is_ok());
        for other in ["", "1.35", "kube=1.37", "other=1.36", "1"] {
            assert!(parse_emulated(other).is_err(), "{other}");
        }
    }

    #[test]
    fn levels_of_files_are_numbers() {
        assert_eq!(parse_file_level("watch*=4"), Ok("watch*=4".to_owned()));
        for wrong in ["", "watch", "=4", "watch=", "watch=-1", "watch=x"] {
            assert!(parse_file_level(wrong).is_err(), "{wrong}");
        }
    }
}
