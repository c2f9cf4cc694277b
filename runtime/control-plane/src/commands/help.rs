//! The flags of a server in sections, for `--help`.

use clap::Command;

/// Titles, and the prefixes of the flags of every server below them. Those of components declare their title themselves
/// (`help_heading`).
const SECTIONS: [(&str, &[&str]); 9] = [
    (
        "Serving",
        &[
            "advertise_",
            "bind_",
            "cert_dir",
            "cors_",
            "debug_socket_",
            "disable_http2_",
            "external_",
            "goaway_",
            "livez_",
            "peer_",
            "permit_",
            "secure_",
            "send_retry_",
            "strict_transport",
            "tls_",
        ],
    ),
    (
        "Authentication and authorization",
        &[
            "anonymous_",
            "authentication_",
            "authorization_",
            "client_ca_",
            "enable_bootstrap_",
            "kubeconfig",
            "requestheader_",
            "token_auth_",
        ],
    ),
    ("Service accounts", &["api_audiences", "service_account_"]),
    ("Admission", &["admission_", "disable_admission_", "enable_admission_"]),
    (
        "Services and nodes",
        &["aggregator_", "egress_", "enable_aggregator_", "proxy_client_"],
    ),
    (
        "APIs and features",
        &["emulat", "feature_gates", "min_compatibility_", "runtime_config"],
    ),
    (
        "Limits",
        &[
            "event_ttl",
            "http2_",
            "max_",
            "delete_collection_",
            "enable_garbage_",
            "min_request_",
            "request_timeout",
            "shutdown_",
            "watch_cache",
        ],
    ),
    (
        "Logs, metrics, traces and version",
        &[
            "allow_metric_",
            "contention_",
            "disabled_metrics",
            "enable_logs_",
            "log_",
            "logging_",
            "profiling",
            "show_hidden_",
            "verbosity",
            "version",
            "vmodule",
        ],
    ),
    (
        "Storage and controllers",
        &["controllers", "coordinated_", "data_dir", "storage", "store_"],
    ),
];

/// Puts the flags under their titles.
pub(super) fn in_sections(command: Command) -> Command {
    command.mut_args(|flag| {
        let section = SECTIONS.iter().find(|(_, beginnings)| {
            let id = flag.get_id().as_str();
            beginnings.iter().any(|beginning| id.starts_with(beginning))
        });
        match section {
            Some((title, _)) if flag.get_help_heading().is_none() => flag.help_heading(*title),
            _ => flag,
        }
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn every_flag_has_a_title() {
        let command = in_sections(super::super::CommandLine::command());
        let without = command.get_arguments().filter(|flag| flag.get_help_heading().is_none());
        let without: Vec<_> = without.map(|flag| flag.get_id().as_str()).collect();
        assert!(without.is_empty(), "add the prefixes of {without:?} to SECTIONS");
    }

    #[test]
    fn flags_stand_below_their_titles() {
        let mut command = in_sections(super::super::CommandLine::command());
        let help = command.render_long_help().to_string();
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text} in {help}"));
        assert!(at("Commands:") < at("completion") && at("completion") < at("\nServing:"));
        assert!(at("\nServing:") < at("--secure-port"));
        assert!(at("--secure-port") < at("\nStorage and controllers:"));
        assert!(at("\nStorage and controllers:") < at("--controllers"));
        assert!(help.starts_with("Serves the Kubernetes API"), "{help}");
    }
}
