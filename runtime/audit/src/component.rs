//! The contribution of this crate to a server.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use planesmith_access::audit::{Policy, Sink};
use planesmith_control_plane::Component;
use planesmith_control_plane::component::{Contribution, ServerContext};
use planesmith_server::audit::Audit;

use crate::event_sink::EventSink;
use crate::log_file::LogFile;
use crate::options::AuditOptions;
use crate::webhook::Webhook;

/// The component of a program whose requests can be recorded.
pub const COMPONENT: &dyn Component = &AuditComponent;

#[derive(Clone, Copy, Debug)]
struct AuditComponent;

impl Component for AuditComponent {
    fn flags(&self, command: Command) -> Command {
        AuditOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = AuditOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        options.check()
    }

    fn install<'a>(&self, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
        let options = AuditOptions::from_arg_matches(&context.options.matches)?;
        let Some(policy) = &options.audit_policy_file else {
            return Ok(Contribution::default());
        };
        let policy = read_policy(policy)?;
        let meter = context.stores.options().metrics.audit();
        let mut sinks: Vec<Arc<dyn Sink>> = Vec::new();
        if let Some(path) = &options.audit_log_path {
            let log = LogFile::open(path, &options).with_context(|| format!("--audit-log-path {path}"))?;
            sinks.push(Arc::new(EventSink::start("log", Box::new(log), options.log(), &meter)?));
        }
        if let Some(kubeconfig) = &options.audit_webhook_config_file {
            let webhook = Webhook::open(kubeconfig, options.audit_webhook_initial_backoff, context.outbound)
                .context("--audit-webhook-config-file")?;
            sinks.push(Arc::new(EventSink::start(
                "webhook",
                Box::new(webhook),
                options.webhook(),
                &meter,
            )?));
        }
        let audit = Audit {
            policy,
            sinks,
            meter,
            clock: Arc::clone(&context.options.clock),
        };
        Ok(Contribution {
            audit: Some(Arc::new(audit)),
            ..Contribution::default()
        })
    }
}

/// Reads the policy.
fn read_policy(path: &Path) -> Result<Policy> {
    let read = || Ok(Policy::parse(&fs::read(path)?)?);
    let policy: Result<Policy> = read();
    policy.with_context(|| format!("--audit-policy-file {}", path.display()))
}
