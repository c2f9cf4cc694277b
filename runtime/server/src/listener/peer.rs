//! The client at the other end of a connection.

use std::net::SocketAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::pki_types::CertificateDer;

use super::Tls;
use super::tls::Loaded;
use crate::connection::Connection;

/// The client of a connection, with its verified certificates.
pub(super) struct Peer {
    /// The facts from when the connection was opened.
    first: Arc<Connection>,
    presented: Option<PresentedChain>,
}

/// The certificates that a client has presented. They are verified again when authorities change: a proxy keeps its
/// connections for long, and may have opened them before this server learned to trust it.
struct PresentedChain {
    tls: Arc<Tls>,
    chain: Vec<CertificateDer<'static>>,
    verified: ArcSwap<Verified>,
}

struct Verified {
    by: Arc<Loaded>,
    connection: Arc<Connection>,
}

impl Peer {
    /// Returns a client of which only the address is known.
    pub(super) fn at(address: SocketAddr) -> Self {
        Self {
            first: Arc::new(Connection {
                peer: Some(address),
                ..Connection::default()
            }),
            presented: None,
        }
    }

    /// Returns a client that presented `chain`, its own certificate first, which `loaded` verifies.
    pub(super) fn presenting(
        address: SocketAddr,
        chain: Vec<CertificateDer<'static>>,
        tls: &Arc<Tls>,
        loaded: Arc<Loaded>,
    ) -> Self {
        if chain.is_empty() {
            return Self::at(address);
        }
        let connection = Arc::new(loaded.verify(&chain, Some(address)));
        let verified = Verified {
            by: loaded,
            connection: Arc::clone(&connection),
        };
        let presented = PresentedChain {
            tls: Arc::clone(tls),
            chain,
            verified: ArcSwap::from_pointee(verified),
        };
        Self {
            first: connection,
            presented: Some(presented),
        }
    }

    /// The current facts about the connection.
    pub(super) fn connection(&self) -> Arc<Connection> {
        match &self.presented {
            None => Arc::clone(&self.first),
            Some(presented) => presented.connection(self.first.peer),
        }
    }
}

impl PresentedChain {
    fn connection(&self, address: Option<SocketAddr>) -> Arc<Connection> {
        let verified = self.verified.load();
        let current = self.tls.current.load();
        if Arc::ptr_eq(&verified.by, &current) {
            return Arc::clone(&verified.connection);
        }
        let by = Arc::clone(&*current);
        let connection = Arc::new(by.verify(&self.chain, address));
        let verified = Verified {
            by,
            connection: Arc::clone(&connection),
        };
        self.verified.store(Arc::new(verified));
        connection
    }
}
