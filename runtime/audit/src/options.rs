//! The flags of the audit, with kube-apiserver's names and defaults.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};
use planesmith_control_plane::options::{check_readable, parse_go_duration};

use crate::event_sink::{Delivery, EventFormat, SinkOptions, Truncation};
use crate::queue::Batching;

/// The only version of events.
const VERSION: &str = "audit.k8s.io/v1";

/// The flags of the audit.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Logs, metrics, traces and version")]
pub(crate) struct AuditOptions {
    /// File with the audit policy, which selects the requests that are recorded. Without it none are.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit_policy_file: Option<PathBuf>,

    /// File to which audit events are appended; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit_log_path: Option<String>,

    /// Format of the audit log: json, or legacy for one line of text per event.
    #[arg(long, value_enum, default_value = "json", value_name = "FORMAT")]
    audit_log_format: EventFormat,

    /// Days to keep old files of the audit log; 0 is for ever.
    #[arg(long, default_value_t = 366, value_name = "DAYS")]
    pub(crate) audit_log_maxage: u32,

    /// Old files of the audit log to keep; 0 is all.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) audit_log_maxbackup: usize,

    /// Size in megabytes at which a new file of the audit log begins; 0 is 100.
    #[arg(long, default_value_t = 100, value_name = "MB")]
    pub(crate) audit_log_maxsize: u64,

    /// Compress old files of the audit log with gzip.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub(crate) audit_log_compress: bool,

    /// Delivery to the audit log. blocking: answers wait for their events, and the arrival of a read that is answered without waiting is
    /// written with its end; blocking-strict: every arrival is written first, and requests whose arrival cannot be recorded are refused,
    /// too; batch: events are buffered.
    #[arg(long, value_enum, default_value = "blocking", value_name = "MODE")]
    audit_log_mode: Mode,

    /// Events in the buffer of the audit log before further ones are dropped.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    audit_log_batch_buffer_size: usize,

    /// Most events of the audit log that are written at once.
    #[arg(long, default_value_t = 1, value_name = "N")]
    audit_log_batch_max_size: usize,

    /// Longest time that a batch of the audit log waits for further events.
    #[arg(long, default_value = "0s", value_parser = parse_go_duration, value_name = "DURATION")]
    audit_log_batch_max_wait: Duration,

    /// Limit the rate of batches of the audit log.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    audit_log_batch_throttle_enable: bool,

    /// Batches of the audit log per second.
    #[arg(long, default_value_t = 0.0, value_name = "QPS")]
    audit_log_batch_throttle_qps: f64,

    /// Batches of the audit log at once, after a time with fewer.
    #[arg(long, default_value_t = 0, value_name = "N")]
    audit_log_batch_throttle_burst: u32,

    /// Shorten large events and batches of the audit log.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    audit_log_truncate_enabled: bool,

    /// Size in bytes of the largest batch of the audit log.
    #[arg(long, default_value_t = 10_485_760, value_name = "BYTES")]
    audit_log_truncate_max_batch_size: usize,

    /// Size in bytes from which events of the audit log lose their objects, and are dropped if that is not enough.
    #[arg(long, default_value_t = 102_400, value_name = "BYTES")]
    audit_log_truncate_max_event_size: usize,

    /// Version of the events in the audit log; audit.k8s.io/v1 is the only one.
    #[arg(long, default_value = VERSION, value_name = "VERSION")]
    audit_log_version: String,

    /// Kubeconfig of a server that receives audit events.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit_webhook_config_file: Option<PathBuf>,

    /// Time before the first repetition of a failed delivery to the webhook; later ones wait longer.
    #[arg(long, default_value = "10s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub(crate) audit_webhook_initial_backoff: Duration,

    /// Delivery to the webhook; as --audit-log-mode.
    #[arg(long, value_enum, default_value = "batch", value_name = "MODE")]
    audit_webhook_mode: Mode,

    /// Events in the buffer of the webhook before further ones are dropped.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    audit_webhook_batch_buffer_size: usize,

    /// Most events that the webhook receives at once.
    #[arg(long, default_value_t = 400, value_name = "N")]
    audit_webhook_batch_max_size: usize,

    /// Longest time that a batch for the webhook waits for further events.
    #[arg(long, default_value = "30s", value_parser = parse_go_duration, value_name = "DURATION")]
    audit_webhook_batch_max_wait: Duration,

    /// Limit the rate of batches for the webhook.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL")]
    audit_webhook_batch_throttle_enable: bool,

    /// Batches for the webhook per second.
    #[arg(long, default_value_t = 10.0, value_name = "QPS")]
    audit_webhook_batch_throttle_qps: f64,

    /// Batches for the webhook at once, after a time with fewer.
    #[arg(long, default_value_t = 15, value_name = "N")]
    audit_webhook_batch_throttle_burst: u32,

    /// Shorten large events and batches for the webhook.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    audit_webhook_truncate_enabled: bool,

    /// Size in bytes of the largest batch for the webhook.
    #[arg(long, default_value_t = 10_485_760, value_name = "BYTES")]
    audit_webhook_truncate_max_batch_size: usize,

    /// Size in bytes from which events for the webhook lose their objects, and are dropped if that is not enough.
    #[arg(long, default_value_t = 102_400, value_name = "BYTES")]
    audit_webhook_truncate_max_event_size: usize,

    /// Version of the events for the webhook; audit.k8s.io/v1 is the only one.
    #[arg(long, default_value = VERSION, value_name = "VERSION")]
    audit_webhook_version: String,
}

/// The relation between an answer and the delivery of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    Batch,
    Blocking,
    BlockingStrict,
}

impl AuditOptions {
    /// Checks the flags in combination.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    pub(crate) fn check(&self) -> Result<(), String> {
        let receives = self.audit_log_path.is_some() || self.audit_webhook_config_file.is_some();
        if receives && self.audit_policy_file.is_none() {
            tracing::warn!("no request is recorded: --audit-policy-file is not set");
        }
        for (flag, file) in [
            ("--audit-policy-file", &self.audit_policy_file),
            ("--audit-webhook-config-file", &self.audit_webhook_config_file),
        ] {
            if let Some(file) = file {
                check_readable(flag, file)?;
            }
        }
        for (flag, version) in [
            ("--audit-log-version", &self.audit_log_version),
            ("--audit-webhook-version", &self.audit_webhook_version),
        ] {
            if version != VERSION {
                return Err(format!("{flag} is {version}; expected {VERSION}"));
            }
        }
        self.log().check("--audit-log")?;
        self.webhook().check("--audit-webhook")
    }

    /// The options of the log.
    pub(crate) fn log(&self) -> SinkOptions {
        SinkOptions {
            format: self.audit_log_format,
            delivery: self.audit_log_mode.delivery(Batching {
                buffer: self.audit_log_batch_buffer_size,
                most: self.audit_log_batch_max_size,
                wait: self.audit_log_batch_max_wait,
                throttled: self.audit_log_batch_throttle_enable,
                qps: self.audit_log_batch_throttle_qps,
                burst: self.audit_log_batch_throttle_burst,
                // Lines stay in order.
                parallel: 1,
            }),
            truncation: self.audit_log_truncate_enabled.then_some(Truncation {
                event: self.audit_log_truncate_max_event_size,
                batch: self.audit_log_truncate_max_batch_size,
            }),
        }
    }

    /// The options of the webhook.
    pub(crate) fn webhook(&self) -> SinkOptions {
        SinkOptions {
            format: EventFormat::Json,
            delivery: self.audit_webhook_mode.delivery(Batching {
                buffer: self.audit_webhook_batch_buffer_size,
                most: self.audit_webhook_batch_max_size,
                wait: self.audit_webhook_batch_max_wait,
                throttled: self.audit_webhook_batch_throttle_enable,
                qps: self.audit_webhook_batch_throttle_qps,
                burst: self.audit_webhook_batch_throttle_burst,
                parallel: PARALLEL_DELIVERIES,
            }),
            truncation: self.audit_webhook_truncate_enabled.then_some(Truncation {
                event: self.audit_webhook_truncate_max_event_size,
                batch: self.audit_webhook_truncate_max_batch_size,
            }),
        }
    }
}

/// The most batches that are sent to the webhook at once; one that is repeated does not hold the others up.
const PARALLEL_DELIVERIES: usize = 8;

impl Mode {
    fn delivery(self, batching: Batching) -> Delivery {
        match self {
            Mode::Batch => Delivery::Batched(batching),
            Mode::Blocking => Delivery::AtOnce { strict: false },
            Mode::BlockingStrict => Delivery::AtOnce { strict: true },
        }
    }
}
