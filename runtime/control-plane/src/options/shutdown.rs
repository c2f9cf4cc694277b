//! Flags about the start and the end of a server.

use std::time::Duration;

use clap::{ArgAction, Args};

use super::parse_go_duration;

/// Flags about the start and the end of a server.
#[derive(Args, Clone, Debug)]
pub struct ShutdownOptions {
    /// Time to keep serving after SIGTERM while /readyz already fails.
    #[arg(long, default_value = "0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub shutdown_delay_duration: Duration,

    /// After that time, accept connections until requests under way are answered, and answer new ones 429 with Retry-After. Without it,
    /// connections are refused.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub shutdown_send_retry_after: bool,

    /// Time over which a stopping server ends its watches, 200 a second at least, so that their clients do not all begin others at once;
    /// 0s ends all at once.
    #[arg(long, default_value = "0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub shutdown_watch_termination_grace_period: Duration,

    /// Answer requests 503 with Retry-After until the start is complete. Probes, metrics and members of the group
    /// system:openshift:risky-not-ready-microshift-debugging-group are served.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub send_retry_after_while_not_ready_once: bool,
}
