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
    shown: Option<Shown>,
}

/// The certificates that a client has presented. They are verified again when authorities change: a proxy keeps its
/// connections for long, and may have opened them before this server learned to trust it.
struct Shown {
    tls: Arc<Tls>,
    chain: Vec<CertificateDer<'static>>,
    judged: ArcSwap<Judged>,
}

struct Judged {
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
            shown: None,
        }
    }

    /// Returns a client that presented `chain`, its own certificate first, which `loaded` verifies.
    pub(super) fn showing(
        address: SocketAddr,
        chain: Vec<CertificateDer<'static>>,
        tls: &Arc<Tls>,
        loaded: Arc<Loaded>,
    ) -> Self {
        if chain.is_empty() {
            return Self::at(address);
        }
        let connection = Arc::new(loaded.judge(&chain, Some(address)));
        let judged = Judged {
            by: loaded,
            connection: Arc::clone(&connection),
        };
        let shown = Shown {
            tls: Arc::clone(tls),
            chain,
            judged: ArcSwap::from_pointee(judged),
        };
        Self {
            first: connection,
            shown: Some(shown),
        }
    }

    /// The current facts about the connection.
    pub(super) fn connection(&self) -> Arc<Connection> {
        match &self.shown {
            None => Arc::clone(&self.first),
            Some(shown) => shown.connection(self.first.peer),
        }
    }
}

impl Shown {
    fn connection(&self, address: Option<SocketAddr>) -> Arc<Connection> {
        let judged = self.judged.load();
        let current = self.tls.current.load();
        if Arc::ptr_eq(&judged.by, &current) {
            return Arc::clone(&judged.connection);
        }
        let by = Arc::clone(&*current);
        let connection = Arc::new(by.judge(&self.chain, address));
        let judged = Judged {
            by,
            connection: Arc::clone(&connection),
        };
        self.judged.store(Arc::new(judged));
        connection
    }
}
