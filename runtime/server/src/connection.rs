//! The origin of a request.

use std::net::SocketAddr;

use planesmith_access::authentication::{ClientCertificate, ProxyCertificate};

/// Facts about a client's connection, collected once when it is opened.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// Address of the client; `None` for requests made inside the process.
    pub peer: Option<SocketAddr>,
    /// The client's certificate, verified.
    pub certificate: Option<ClientCertificate>,
    /// The same certificate, if it belongs to a proxy that names the user in headers.
    pub proxy: Option<ProxyCertificate>,
}
