//! Who may enter and do what, as the flags say.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result};
use planesmith_access::authentication::{Authenticator, CertificateAuthenticator, Chain, TokenFile};
use planesmith_access::authorization::{AlwaysAllow, AlwaysDeny, Authorizer, PrivilegedGroup, Union};

use crate::loopback::Loopback;
use crate::options::{AuthorizationMode, Options};

/// Client certificates, then tokens: those of the file and the server's own.
///
/// # Errors
///
/// When the token file cannot be read or is malformed.
pub fn authenticator(options: &Options, loopback: &Loopback) -> Result<Arc<dyn Authenticator>> {
    let mut tokens = match &options.token_auth_file {
        None => TokenFile::default(),
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| format!("--token-auth-file {}", path.display()))?;
            TokenFile::parse(&text).with_context(|| format!("--token-auth-file {}", path.display()))?
        }
    };
    tokens.add(loopback.token(), Loopback::user());
    let certificates = CertificateAuthenticator { now: SystemTime::now };
    let chain = Chain::new(
        vec![Box::new(certificates), Box::new(tokens)],
        options.anonymous_allowed(),
    );
    Ok(Arc::new(chain))
}

/// Members of `system:masters` may do everything; for others the modes are asked in order.
#[must_use]
pub fn authorizer(options: &Options) -> Arc<dyn Authorizer> {
    let mut authorizers: Vec<Box<dyn Authorizer>> = vec![Box::new(PrivilegedGroup)];
    for mode in &options.authorization_mode {
        authorizers.push(match mode {
            AuthorizationMode::AlwaysAllow => Box::new(AlwaysAllow),
            AuthorizationMode::AlwaysDeny => Box::new(AlwaysDeny),
        });
    }
    Arc::new(Union::new(authorizers))
}
