//! A TCP proxy that can be cut, and that can hold back what it gets.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The bytes that a proxy passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything.
    Open,
    /// Nothing, but what it got comes later.
    Paused,
    /// Nothing: connections end, and new ones do, too.
    Cut,
}

/// A proxy in front of one address. Dropping its runtime ends it.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    mode: watch::Sender<Mode>,
}

impl Proxy {
    /// Starts a proxy in front of `target` on an address of its own.
    ///
    /// # Errors
    ///
    /// There is no free port.
    pub async fn start(target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let mode = watch::Sender::new(Mode::Open);
        let changes = mode.subscribe();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let _ = client.set_nodelay(true);
                tokio::spawn(pass(client, target, changes.clone()));
            }
        });
        Ok(Self { address, mode })
    }

    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes what it passes on.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

/// Passes on what both sides send, until one of them ends or the proxy is cut.
async fn pass(client: TcpStream, target: SocketAddr, mut mode: watch::Receiver<Mode>) {
    if *mode.borrow() == Mode::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else {
        return;
    };
    let _ = server.set_nodelay(true);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let modes = (mode.clone(), mode.clone());
    tokio::select! {
        () = pump(from_client, to_server, modes.0) => {}
        () = pump(from_server, to_client, modes.1) => {}
        // The sender may be gone, too.
        _ = mode.wait_for(|mode| *mode == Mode::Cut) => {}
    }
}

async fn pump(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut mode: watch::Receiver<Mode>) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let Ok(length @ 1..) = from.read(&mut buffer).await else {
            return;
        };
        let is_open = mode.wait_for(|mode| *mode != Mode::Paused).await.is_ok();
        if !is_open || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
