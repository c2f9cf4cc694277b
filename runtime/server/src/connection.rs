//! Where a request comes from.

use std::net::SocketAddr;

use planesmith_access::authentication::{ClientCertificate, ProxyCertificate};

/// What is known about a client's connection, found out once when it is opened.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// Address of the client; `None` for requests made inside the process.
    pub peer: Option<SocketAddr>,
    /// The certificate that the client showed, judged.
    pub certificate: Option<ClientCertificate>,
    /// The same, when it is that of a proxy that says itself who asks.
    pub proxy: Option<ProxyCertificate>,
}
