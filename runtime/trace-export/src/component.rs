//! The contribution of this crate to a server.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use planesmith_control_plane::Component;
use planesmith_control_plane::component::{Contribution, ServerContext};
use planesmith_control_plane::options::check_readable;
use planesmith_control_plane::outbound::Network;
use planesmith_server::trace::Tracer;

use crate::TraceExport;

/// The component of a program that can send traces of its requests to a collector.
pub const COMPONENT: &dyn Component = &TraceExportComponent;

#[derive(Args)]
#[command(next_help_heading = "Logs, metrics, traces and version")]
struct TraceOptions {
    /// File that configures the export of traces (a TracingConfiguration).
    #[arg(long, value_name = "FILE")]
    tracing_config_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
struct TraceExportComponent;

impl Component for TraceExportComponent {
    fn flags(&self, command: Command) -> Command {
        TraceOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = TraceOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        let file = options.tracing_config_file.as_deref();
        file.map_or(Ok(()), |file| check_readable("--tracing-config-file", file))
    }

    fn install<'a>(&self, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
        let options = TraceOptions::from_arg_matches(&context.options.matches)?;
        let traces = options
            .tracing_config_file
            .as_deref()
            .map(|file| TraceExport::open(file, context.outbound.selected(Network::ControlPlane)))
            .transpose()?;
        Ok(Contribution {
            tracer: traces.map(|traces| traces as Arc<dyn Tracer>),
            ..Contribution::default()
        })
    }
}
