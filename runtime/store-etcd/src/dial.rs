//! Connections to members that another crate opens.

use std::fmt::Debug;
use std::io;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

/// Opens connections in place of direct ones, e.g. through a proxy.
pub trait Dial: Debug + Send + Sync {
    /// Opens a connection within `limit`. The host is a name, or an address without brackets.
    fn dial(&self, host: String, port: u16, limit: Duration) -> BoxFuture<'static, io::Result<Box<dyn Stream>>>;
}

/// A connection, with TLS or without.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}
