//! `access`: explains who may do what, by the roles and bindings of a running server.

mod explain;
mod resources;
mod roles;
mod who_can;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand};
use planesmith_access::authorization::Target;
use tokio::runtime::Handle;

use self::resources::Resources;
use crate::delegation::Host;
use crate::identity;
use crate::outbound::Outbound;

/// Explains who may do what, by the roles and bindings of a running server.
#[derive(Debug, Parser)]
#[command(
    disable_version_flag = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(super) struct Access {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    WhoCan(who_can::WhoCan),
    Explain(explain::Explain),
}

/// The server whose roles are explained.
#[derive(Args, Debug)]
struct Server {
    /// Kubeconfig of a user who may read roles and bindings [default: that of the administrator in the data folder].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Folder of the server.
    #[arg(long, default_value = "planesmith-data", value_name = "DIR")]
    data_dir: PathBuf,
}

/// The action to look up.
#[derive(Args, Debug)]
struct RequestedAction {
    /// Verb: get, list, watch, create, update, patch, delete, deletecollection, or another one.
    verb: String,

    /// Resource as kubectl names it (pods, deploy, deployments.apps), with the name of an object if it is about one
    /// (pods/web), or a path that starts with a slash (/metrics).
    #[arg(value_name = "RESOURCE[/NAME]")]
    resource: String,

    /// Subresource, such as log, exec or status.
    #[arg(long, value_name = "NAME")]
    subresource: Option<String>,

    /// Namespace; without it the whole cluster.
    #[arg(short = 'n', long, value_name = "NAME")]
    namespace: Option<String>,
}

/// An action whose resource is known to the server.
struct ResolvedAction {
    group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
    path: Option<String>,
}

impl Access {
    pub(super) fn run(&self, runtime: &Handle) -> Result<()> {
        let text = runtime.block_on(async {
            match &self.command {
                Command::WhoCan(who_can) => who_can.answer().await,
                Command::Explain(explain) => explain.answer().await,
            }
        });
        super::print(text?.as_bytes())
    }
}

impl Server {
    fn host(&self) -> Result<Host> {
        let kubeconfig = match &self.kubeconfig {
            Some(file) => file.clone(),
            None => self.data_dir.join(identity::ADMIN_KUBECONFIG),
        };
        Host::open(&kubeconfig, &Outbound::default())
            .context("no server can be asked; name it with --data-dir or --kubeconfig")
    }
}

impl RequestedAction {
    /// Finds the group of the resource.
    async fn resolve(&self, host: &Host) -> Result<ResolvedAction> {
        let text = |option: &Option<String>| option.clone().unwrap_or_default();
        if self.resource.starts_with('/') {
            return Ok(ResolvedAction {
                group: String::new(),
                resource: String::new(),
                subresource: String::new(),
                namespace: String::new(),
                name: String::new(),
                path: Some(self.resource.clone()),
            });
        }
        let (resource, name) = self.resource.split_once('/').unwrap_or((&self.resource, ""));
        let (group, resource) = Resources::read(host).await?.find(resource)?;
        Ok(ResolvedAction {
            group,
            resource,
            subresource: text(&self.subresource),
            namespace: text(&self.namespace),
            name: name.to_owned(),
            path: None,
        })
    }
}

impl ResolvedAction {
    fn target(&self) -> Target<'_> {
        match &self.path {
            Some(path) => Target::Path(path),
            None => Target::Resource {
                group: &self.group,
                version: "*",
                resource: &self.resource,
                subresource: &self.subresource,
                namespace: &self.namespace,
                name: &self.name,
            },
        }
    }
}
