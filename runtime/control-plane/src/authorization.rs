//! The authorization that the flags select.

mod counted;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use planesmith_access::authorization::{
    AllowedPaths, AlwaysAllow, AlwaysDeny, Authorizer, PolicyList, PrivilegedGroup, Union,
};

use crate::access_reviews::AccessReviews;
use crate::component::{AuthorizerInitializer, ConfiguredAuthorizer};
use crate::delegation::Host;
use crate::options::AuthorizationMode;
use crate::program::Program;

pub use counted::CountedAuthorizer;

/// The authorizer of a server.
#[derive(Debug)]
pub(crate) struct Authorization {
    pub(crate) authorizer: Arc<dyn Authorizer>,
    /// True if every authenticated user may do everything.
    pub(crate) allows_everything: bool,
}

/// The authorization of `program`: members of `system:masters` may do everything; for others the modes are consulted in order,
/// or what a file configures, or the server in front.
///
/// # Errors
///
/// A file that a flag names cannot be used, or the program lacks a mode.
pub(crate) fn authorization(program: &Program, initializer: &AuthorizerInitializer<'_>) -> Result<Authorization> {
    let options = initializer.options;
    let mut authorizers: Vec<Box<dyn Authorizer>> = vec![Box::new(PrivilegedGroup)];
    let mut allows_everything = false;
    if let Some(kubeconfig) = &options.aggregation.authorization_kubeconfig {
        let allowed = options.aggregation.authorization_always_allow_paths.iter();
        authorizers.push(Box::new(AllowedPaths::new(allowed.map(String::as_str))));
        authorizers.push(Box::new(AccessReviews::of_front(Host::open(
            kubeconfig,
            initializer.outbound,
        )?)));
    } else {
        let modes = match configured(program, initializer)? {
            Some(configured) => {
                authorizers.push(configured.authorizer);
                configured.modes
            }
            None => {
                let modes = program.authorization_modes(options);
                program.check_authorization_modes(&modes).map_err(anyhow::Error::msg)?;
                for mode in &modes {
                    let (name, metrics) = (mode.as_str().to_lowercase(), initializer.metrics.authorizers());
                    let authorizer = of_mode(program, *mode, initializer)?;
                    authorizers.push(Box::new(CountedAuthorizer::new(authorizer, *mode, &name, metrics)));
                }
                modes
            }
        };
        if let Some(file) = &options.authorization_policy_file
            && !modes.contains(&AuthorizationMode::ABAC)
        {
            let file = file.display();
            bail!("--authorization-policy-file is {file}; it needs ABAC among the authorizers");
        }
        allows_everything = modes.contains(&AuthorizationMode::ALWAYS_ALLOW);
    }
    Ok(Authorization {
        authorizer: Arc::new(Union::new(authorizers)),
        allows_everything,
    })
}

/// Returns the authorizer that a file configures, if a flag of a component names one.
fn configured(program: &Program, initializer: &AuthorizerInitializer<'_>) -> Result<Option<ConfiguredAuthorizer>> {
    let of_mode = |mode| of_mode(program, mode, initializer);
    for component in program.components {
        if let Some(configured) = component.configured_authorizer(initializer, &of_mode)? {
            return Ok(Some(configured));
        }
    }
    Ok(None)
}

fn of_mode(
    program: &Program,
    mode: AuthorizationMode,
    initializer: &AuthorizerInitializer<'_>,
) -> Result<Arc<dyn Authorizer>> {
    match mode {
        AuthorizationMode::ALWAYS_ALLOW => return Ok(Arc::new(AlwaysAllow)),
        AuthorizationMode::ALWAYS_DENY => return Ok(Arc::new(AlwaysDeny)),
        AuthorizationMode::ABAC => {
            let file = initializer.options.authorization_policy_file.as_deref();
            let file = file.context("ABAC needs --authorization-policy-file")?;
            return Ok(Arc::new(policies(file)?));
        }
        _ => {}
    }
    for component in program.components {
        if let Some(authorizer) = component.authorizer(mode, initializer)? {
            return Ok(authorizer.into());
        }
    }
    bail!("{} has no authorizer of the type {mode}", program.name)
}

/// Reads the policies of the mode ABAC.
fn policies(file: &Path) -> Result<PolicyList> {
    let read = || anyhow::Ok(PolicyList::parse(&fs::read_to_string(file)?)?);
    read().with_context(|| format!("--authorization-policy-file {}", file.display()))
}
