//! How the server proves who it is, and how an administrator gets in.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use planesmith_server::listener::TlsFiles;

use crate::certificates::{Authority, CertificatePair};
use crate::kubeconfig::write_kubeconfig;
use crate::options::Options;

/// DNS names that a serving certificate covers, as kubeadm's do.
const NAMES: [&str; 5] = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// Certificates of one server.
#[derive(Debug)]
pub struct Identity {
    authority: Authority,
    serving: CertificatePair,
    admin: CertificatePair,
    client_ca_file: Option<PathBuf>,
    /// Whether the serving certificate is the server's own.
    own: bool,
    authority_file: PathBuf,
}

impl Identity {
    /// Reads the certificates that the flags name, and makes those that they do not.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub fn open(options: &Options) -> Result<Self> {
        let dir = options.cert_dir();
        let authority = Authority::open(&dir)?;
        let given = options.tls_cert_file.clone().zip(options.tls_private_key_file.clone());
        let own = given.is_none();
        let serving = match given {
            Some((certificate, key)) => CertificatePair { certificate, key },
            None => {
                let names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
                authority.serving(&names, &addresses(options))?
            }
        };
        let admin = authority.client("admin", "kubernetes-admin", "system:masters")?;
        let client_ca_file = options.client_ca_file.clone();
        Ok(Self {
            authority,
            serving,
            admin,
            client_ca_file,
            own,
            authority_file: dir.join("ca.crt"),
        })
    }

    /// The files for TLS.
    #[must_use]
    pub fn tls_files(&self) -> TlsFiles {
        let own = std::iter::once(self.authority_file.clone());
        TlsFiles {
            certificate: self.serving.certificate.clone(),
            key: self.serving.key.clone(),
            client_authorities: own.chain(self.client_ca_file.clone()).collect(),
        }
    }

    /// Whom clients trust to be the server, PEM.
    ///
    /// # Errors
    ///
    /// When the file of a certificate that was given cannot be read.
    pub fn root_authority(&self) -> Result<String> {
        if self.own {
            return Ok(self.authority.certificate_pem().to_owned());
        }
        // A certificate that was given may be signed by anyone; its own chain is what clients can trust.
        read(&self.serving.certificate)
    }

    /// Whose client certificates are accepted, PEM.
    ///
    /// # Errors
    ///
    /// When the file that was given cannot be read.
    pub fn client_authorities(&self) -> Result<String> {
        let mut authorities = self.authority.certificate_pem().to_owned();
        if let Some(file) = &self.client_ca_file {
            authorities.push_str(&read(file)?);
        }
        Ok(authorities)
    }

    /// Writes the administrator's kubeconfig for a server at `url` into the data folder.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub fn write_admin_kubeconfig(&self, options: &Options, url: &str) -> Result<PathBuf> {
        let path = options.data_dir.join("admin.kubeconfig");
        let authority = self.root_authority()?;
        write_kubeconfig(&path, url, &authority, &self.admin)
            .with_context(|| format!("the admin kubeconfig {}", path.display()))?;
        Ok(path)
    }
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
}

/// Addresses under which clients may reach the server.
fn addresses(options: &Options) -> Vec<IpAddr> {
    let mut addresses = vec![IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
    let services = options.service_cluster_ip_range.iter().map(|range| range.first());
    for address in [options.bind_address]
        .into_iter()
        .chain(options.advertise_address)
        .chain(services)
    {
        if !address.is_unspecified() && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}
