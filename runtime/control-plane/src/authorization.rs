//! The authorization that the flags ask for.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use planesmith_access::authorization::{
    AllowedPaths, AlwaysAllow, AlwaysDeny, Authorizer, PolicyList, PrivilegedGroup, Union,
};

use crate::component::AuthorizerInitializer;
use crate::delegation::{AccessReviews, Host};
use crate::options::AuthorizationMode;
use crate::program::Program;

/// The authorizer of `program`: members of `system:masters` may do everything; for others the modes are consulted in order, or
/// the server in front.
///
/// # Errors
///
/// When the kubeconfig of that server or the policy file cannot be read, or the program lacks a mode.
pub(crate) fn authorizer(program: &Program, initializer: &AuthorizerInitializer<'_>) -> Result<Arc<dyn Authorizer>> {
    let options = initializer.options;
    let mut authorizers: Vec<Box<dyn Authorizer>> = vec![Box::new(PrivilegedGroup)];
    if let Some(kubeconfig) = &options.aggregation.authorization_kubeconfig {
        let allowed = options.aggregation.authorization_always_allow_paths.iter();
        authorizers.push(Box::new(AllowedPaths::new(allowed.map(String::as_str))));
        authorizers.push(Box::new(AccessReviews::new(Host::open(kubeconfig)?)));
        return Ok(Arc::new(Union::new(authorizers)));
    }
    let modes = program.authorization_modes(options);
    program.check_authorization_modes(&modes).map_err(anyhow::Error::msg)?;
    for mode in modes {
        match mode {
            AuthorizationMode::AlwaysAllow => authorizers.push(Box::new(AlwaysAllow)),
            AuthorizationMode::AlwaysDeny => authorizers.push(Box::new(AlwaysDeny)),
            AuthorizationMode::Abac => {
                let file = options.authorization_policy_file.as_deref();
                authorizers.push(Box::new(policies(file.unwrap_or(Path::new("")))?));
            }
            mode => {
                for component in program.components {
                    authorizers.extend(component.authorizer(mode, initializer)?);
                }
            }
        }
    }
    Ok(Arc::new(Union::new(authorizers)))
}

/// Reads the policies of the mode ABAC.
fn policies(file: &Path) -> Result<PolicyList> {
    let read = || anyhow::Ok(PolicyList::parse(&fs::read_to_string(file)?)?);
    read().with_context(|| format!("--authorization-policy-file {}", file.display()))
}
