//! Connections to etcd, by the flags.

use anyhow::{Context as _, Result};
use planesmith_server::proxy::{ClientIdentity, Trust, client_tls_to};
use planesmith_store_etcd::Config;

use crate::options::ConnectionOptions;

/// The beginning of the keys of all objects.
pub(crate) const REGISTRY: &str = "/registry/";

/// Returns the settings of a connection to `servers`.
pub(crate) fn config(servers: &[String], flags: &ConnectionOptions) -> Result<Config> {
    let identity = flags.etcd_certfile.clone().zip(flags.etcd_keyfile.clone());
    let identity = identity.map(|(certificate, key)| ClientIdentity {
        certificate: certificate.into(),
        key: key.into(),
    });
    // As in kube-apiserver, the authorities of the system count if there is no file.
    let trust = flags.etcd_cafile.as_deref().map_or(Trust::System, Trust::File);
    let tls = client_tls_to(trust, identity.as_ref())
        .context("the files of --etcd-cafile, --etcd-certfile and --etcd-keyfile")?;
    Ok(Config {
        endpoints: servers.to_vec(),
        prefix: flags.prefix(),
        tls: Some(tls),
        connect_timeout: flags.storage_initialization_timeout,
        ..Config::default()
    })
}
