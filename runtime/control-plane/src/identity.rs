//! The certificates by which the server proves its identity, and the administrator's credentials.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use planesmith_access::authentication::RequestHeaders;
use planesmith_machinery::clock::Clock;
use planesmith_server::listener::{NamedCertificate, Tls, TlsFiles, TlsParameters};
use planesmith_server::proxy::ClientIdentity;

use crate::bootstrap::{AuthorityFile, ClusterAuthentication};
use crate::certificates::renewal::Renewal;
use crate::certificates::{Authority, CertificatePair};
use crate::kubeconfig::{self, Access};
use crate::options::{AggregationOptions, Options};
use crate::private_file::write_private;

/// DNS names that a serving certificate covers, as kubeadm's do.
const NAMES: [&str; 5] = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

fn serving_names() -> Vec<String> {
    NAMES.iter().map(|name| (*name).to_owned()).collect()
}

/// The administrator's kubeconfig in the data folder.
pub(crate) const ADMIN_KUBECONFIG: &str = "admin.kubeconfig";

/// Certificates of one server.
#[derive(Debug)]
pub struct Identity {
    authority: Arc<Authority>,
    serving: CertificatePair,
    admin: CertificatePair,
    client_ca_file: Option<PathBuf>,
    /// True if the server's own authority signed the serving certificate.
    own: bool,
    /// Addresses that the server's own serving certificate covers.
    addresses: Vec<IpAddr>,
    authority_file: PathBuf,
    proxy: ProxyIdentity,
    /// Certificates for clients that request one of their names.
    named: Vec<NamedCertificate>,
    parameters: TlsParameters,
    clock: Arc<dyn Clock>,
}

/// The certificate with which the server names the user of a request to servers behind it, and the proxies from which
/// it accepts user names itself.
#[derive(Debug)]
struct ProxyIdentity {
    client: CertificatePair,
    authority_file: PathBuf,
    headers: RequestHeaders,
}

/// The name in the certificate that the server creates for itself; kubeadm's choice.
const PROXY: &str = "front-proxy-client";

impl Identity {
    /// Reads the certificates that the flags name, and creates the others. The serving certificate covers the
    /// server's addresses and those in `further`.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub fn open(options: &Options, further: &[IpAddr]) -> Result<Self> {
        let dir = options.cert_dir();
        let authority = Arc::new(Authority::open(&dir, Arc::clone(&options.clock))?);
        let given = options.tls_cert_file.clone().zip(options.tls_private_key_file.clone());
        let own = given.is_none();
        let addresses = addresses(options, further);
        let serving = match given {
            Some((certificate, key)) => CertificatePair { certificate, key },
            None => authority.serving(&serving_names(), &addresses)?,
        };
        let admin = authority.client("admin", "kubernetes-admin", "system:masters")?;
        let client_ca_file = options.client_ca_file.clone();
        let proxy = ProxyIdentity::open(&dir, &options.aggregation, &options.clock)?;
        Ok(Self {
            authority,
            serving,
            admin,
            client_ca_file,
            own,
            addresses,
            authority_file: dir.join("ca.crt"),
            proxy,
            named: options.serving.tls_sni_cert_key.clone(),
            clock: Arc::clone(&options.clock),
            parameters: options
                .serving
                .parameters()
                .map_err(|problem| anyhow::anyhow!(problem))?,
        })
    }

    /// Returns the client certificate and key that the server presents to servers behind it.
    #[must_use]
    pub fn proxy_client(&self) -> ClientIdentity {
        ClientIdentity {
            certificate: self.proxy.client.certificate.clone().into(),
            key: self.proxy.client.key.clone().into(),
        }
    }

    /// Returns the headers in which proxies name the user.
    #[must_use]
    pub fn request_headers(&self) -> &RequestHeaders {
        &self.proxy.headers
    }

    /// Returns the authorities and headers that servers behind this one can trust.
    ///
    /// # Errors
    ///
    /// When a file that was given cannot be read.
    pub fn authentication(&self) -> Result<ClusterAuthentication> {
        let clients = std::iter::once(&self.authority_file).chain(&self.client_ca_file);
        Ok(ClusterAuthentication {
            client_authorities: clients.map(|file| AuthorityFile::open(file)).collect::<Result<_>>()?,
            proxy_authorities: vec![AuthorityFile::open(&self.proxy.authority_file)?],
            headers: self.proxy.headers.clone(),
        })
    }

    /// Returns the authority that signs certificates of clients.
    #[must_use]
    pub fn authority(&self) -> &Arc<Authority> {
        &self.authority
    }

    /// Returns the files for TLS.
    #[must_use]
    pub fn tls_files(&self) -> TlsFiles {
        let own = std::iter::once(self.authority_file.clone());
        TlsFiles {
            certificate: self.serving.certificate.clone(),
            key: self.serving.key.clone(),
            client_authorities: own.chain(self.client_ca_file.clone()).collect(),
            proxy_authorities: vec![self.proxy.authority_file.clone()],
            named: self.named.clone(),
            parameters: self.parameters.clone(),
            clock: Arc::clone(&self.clock),
        }
    }

    /// Returns the renewal of the serving certificate of `tls`; `None` for a certificate of the flags.
    pub(crate) fn renewal(&self, tls: Arc<Tls>) -> Option<Renewal> {
        self.own.then(|| Renewal {
            authority: Arc::clone(&self.authority),
            names: serving_names(),
            addresses: self.addresses.clone(),
            tls,
        })
    }

    /// Returns the authority by which clients verify the server, PEM.
    ///
    /// # Errors
    ///
    /// When the file of a certificate that was given cannot be read.
    pub fn root_authority(&self) -> Result<String> {
        if self.own {
            return Ok(self.authority.certificate_pem().to_owned());
        }
        // A certificate of the flags may be signed by any authority; its own chain is what clients can trust.
        read(&self.serving.certificate)
    }

    /// Returns the file of that authority. For a certificate of the flags, it is the certificate itself.
    pub(crate) fn root_authority_file(&self) -> &Path {
        if self.own {
            &self.authority_file
        } else {
            &self.serving.certificate
        }
    }

    /// Returns the administrator's certificate.
    pub(crate) fn admin(&self) -> &CertificatePair {
        &self.admin
    }

    /// Writes the administrator's kubeconfig for a server at `url` into the data folder.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub fn write_admin_kubeconfig(&self, options: &Options, url: &str) -> Result<PathBuf> {
        let path = options.data_dir.join(ADMIN_KUBECONFIG);
        let text = kubeconfig::render(&Access {
            server: url,
            authority: &self.root_authority()?,
            user: "admin",
            certificate: &read(&self.admin.certificate)?,
            key: &read(&self.admin.key)?,
        });
        write_private(&path, text.as_bytes()).with_context(|| format!("the admin kubeconfig {}", path.display()))?;
        Ok(path)
    }
}

impl ProxyIdentity {
    /// Uses the files that the flags name; creates the others.
    fn open(dir: &Path, flags: &AggregationOptions, clock: &Arc<dyn Clock>) -> Result<Self> {
        let own = Authority::open_as(dir, "front-proxy-ca", Arc::clone(clock))?;
        let given = flags
            .proxy_client_cert_file
            .clone()
            .zip(flags.proxy_client_key_file.clone());
        let client = match given {
            Some((certificate, key)) => CertificatePair { certificate, key },
            None => own.proxy(PROXY, PROXY)?,
        };
        let names = &flags.requestheader_allowed_names;
        let (authority_file, allowed_names) = match &flags.requestheader_client_ca_file {
            Some(file) => (file.clone(), names.clone()),
            None => (
                dir.join("front-proxy-ca.crt"),
                std::iter::once(PROXY.to_owned()).chain(names.iter().cloned()).collect(),
            ),
        };
        let headers = RequestHeaders {
            username: flags.requestheader_username_headers.clone(),
            uid: flags.requestheader_uid_headers.clone(),
            group: flags.requestheader_group_headers.clone(),
            extra_prefix: flags.requestheader_extra_headers_prefix.clone(),
            allowed_names,
        };
        Ok(Self {
            client,
            authority_file,
            headers,
        })
    }
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
}

/// Returns the addresses at which clients may reach the server.
fn addresses(options: &Options, further: &[IpAddr]) -> Vec<IpAddr> {
    let mut addresses = vec![IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
    let own = [options.bind_address, options.client_address()];
    for address in own.into_iter().chain(further.iter().copied()) {
        if !address.is_unspecified() && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}
