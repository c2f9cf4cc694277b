//! `access who-can`: the subjects that may perform an action.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use planesmith_access::authorization::rbac::Action;

use super::{RequestedAction, Server, roles};

/// Lists the users, groups and service accounts that may perform an action, with the binding, the role and the rule that permit it.
///
/// Members of system:masters may do everything, and are not listed. Without --namespace an action on objects is listed for each
/// namespace in which a user may perform it.
#[derive(Args, Debug)]
#[command(disable_version_flag = true)]
pub(super) struct WhoCan {
    #[command(flatten)]
    requested: RequestedAction,

    #[command(flatten)]
    server: Server,
}

impl WhoCan {
    pub(super) async fn answer(&self) -> Result<String> {
        let host = self.server.host()?;
        let resolved = self.requested.resolve(&host).await?;
        let target = resolved.target();
        let action = Action::new(&self.requested.verb, &target);
        let policy = roles::read(&host).await?;
        let permitted = policy.who_can(&action, resolved.namespace.is_empty());
        if permitted.is_empty() {
            return Ok(format!("nobody but system:masters can {action}\n"));
        }
        let mut text = String::new();
        for permitted in permitted {
            let binding = permitted.binding;
            let place = match binding.namespace.as_str() {
                "" => "everywhere".to_owned(),
                namespace => format!("in {namespace}"),
            };
            let (kind, role) = (binding.role.kind.as_str(), &binding.role.name);
            for subject in permitted.subjects() {
                // Writing to a String cannot fail.
                let _ = writeln!(
                    text,
                    "{subject} {place}: binding {:?} of {kind} {role:?}, rule {}",
                    binding.name, permitted.rule
                );
            }
        }
        Ok(text)
    }
}
