//! Connections to etcd over the way that the egress selector has for them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use planesmith_server::proxy::{Destination, Dialer};
use planesmith_store_etcd::{Dial, Stream};

/// The selected way.
#[derive(Debug)]
pub(crate) struct Selected(Dialer);

impl Selected {
    /// Returns the way of `dialer`.
    pub(crate) fn of(dialer: &Dialer) -> Arc<dyn Dial> {
        Arc::new(Self(dialer.clone()))
    }
}

impl Dial for Selected {
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
