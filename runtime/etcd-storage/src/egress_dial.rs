//! Connections to etcd over the dialer that the egress selector has for them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use planesmith_server::proxy::{Destination, Dialer};
use planesmith_store_etcd::{Dial, Stream};

/// Connects over the dialer that is selected for etcd.
#[derive(Debug)]
pub(crate) struct EgressDial(Dialer);

impl EgressDial {
    /// Connects over `dialer`.
    pub(crate) fn of(dialer: &Dialer) -> Arc<dyn Dial> {
        Arc::new(Self(dialer.clone()))
    }
}

impl Dial for EgressDial {
    fn dial(&self, host: String, port: u16, limit: Duration) -> BoxFuture<'static, io::Result<Box<dyn Stream>>> {
        let dialer = self.0.clone();
        async move {
            let destination = Destination::unrestricted(host, port);
            let stream = dialer.dial(&destination, limit).await.map_err(io::Error::other)?;
            let stream: Box<dyn Stream> = Box::new(stream);
            Ok(stream)
        }
        .boxed()
    }
}
