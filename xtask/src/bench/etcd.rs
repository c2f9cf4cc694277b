//! An etcd of one member, and the cost of its own transactions.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The time limit for the first transaction of a new etcd.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A running etcd on loopback. It is killed when dropped, and its data is removed.
#[derive(Debug)]
pub(crate) struct Etcd {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

/// A connection to an etcd. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct EtcdConnection {
    sender: SendRequest<Full<Bytes>>,
    url: String,
}

impl Etcd {
    /// Starts an etcd with an empty folder below `parent`, and waits until it performs a transaction.
    pub(crate) async fn start(parent: &Path) -> Result<Self> {
        std::fs::create_dir_all(parent)?;
        let folder = tempfile::Builder::new().prefix("etcd-").tempdir_in(parent)?;
        let (address, peer) = (free_address()?, free_address()?);
        let (client_url, peer_url) = (format!("http://{address}"), format!("http://{peer}"));
        let process = Command::new("etcd")
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .args([
                "--listen-client-urls",
                &client_url,
                "--advertise-client-urls",
                &client_url,
            ])
            .args([
                "--listen-peer-urls",
                &peer_url,
                "--initial-advertise-peer-urls",
                &peer_url,
            ])
            .args(["--initial-cluster", &format!("default={peer_url}")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join("log"))?)
            .spawn()
            .context("--storage=etcd needs etcd; install etcd-server")?;
        let mut etcd = Self {
            process,
            address,
            _folder: folder,
        };
        etcd.ready().await?;
        Ok(etcd)
    }

    async fn ready(&mut self) -> Result<()> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait()? {
                bail!("etcd ended with {status}");
            }
            let attempt = async { self.connect().await?.create("/bench-ready", &Bytes::new()).await };
            match attempt.await {
                Ok(()) => return Ok(()),
                Err(error) if started.elapsed() > START_TIMEOUT => return Err(error.context("etcd is not ready")),
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> Result<EtcdConnection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, driver) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        // It ends with the last clone of the connection.
        tokio::spawn(driver);
        let url = format!("{}/etcdserverpb.KV/Txn", self.url());
        Ok(EtcdConnection { sender, url })
    }

    /// Creates `total` keys that begin with `prefix`, each in a transaction that requires that there is none, with `writers` at
    /// the same time. Returns the durations of the transactions.
    pub(crate) async fn create_all(
        &self,
        prefix: &str,
        value: &Bytes,
        total: usize,
        writers: usize,
    ) -> Result<Vec<Duration>> {
        let turn = Arc::new(AtomicUsize::new(0));
        let mut workers: JoinSet<Result<Vec<Duration>>> = JoinSet::new();
        for _ in 0..writers {
            let connection = self.connect().await?;
            let (turn, prefix, value) = (Arc::clone(&turn), prefix.to_owned(), value.clone());
            workers.spawn(async move {
                let mut taken = Vec::new();
                loop {
                    let number = turn.fetch_add(1, Ordering::Relaxed);
                    if number >= total {
                        return Ok(taken);
                    }
                    let started = Instant::now();
                    connection.create(&format!("{prefix}{number:06}"), &value).await?;
                    taken.push(started.elapsed());
                }
            });
        }
        let mut all = Vec::with_capacity(total);
        while let Some(taken) = workers.join_next().await {
            all.extend(taken??);
        }
        Ok(all)
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        // A process that has ended already is what is wanted.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl EtcdConnection {
    /// Stores `value` under `key` in a transaction that requires that the key does not exist.
    async fn create(&self, key: &str, value: &Bytes) -> Result<()> {
        let request = Request::post(&self.url)
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::new(framed(&creation(key, value))))?;
        let mut sender = self.sender.clone();
        sender.ready().await?;
        let answer = sender.send_request(request).await?.into_body().collect().await?;
        let status = answer.trailers().and_then(|trailers| trailers.get("grpc-status"));
        ensure!(
            status.is_some_and(|status| status == "0"),
            "etcd answers {key} with status {status:?}"
        );
        ensure!(has_succeeded(&answer.to_bytes()), "{key} exists already");
        Ok(())
    }
}

/// A message of gRPC: not compressed, its length, and its bytes.
fn framed(message: &[u8]) -> Bytes {
    let mut out = vec![0];
    out.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(message);
    out.into()
}

/// The message `TxnRequest` that compares the revision of `key` with 0, and puts `value`.
fn creation(key: &str, value: &[u8]) -> Vec<u8> {
    let mut compare = vec![0x10, 0x02];
    push_field(3, key.as_bytes(), &mut compare);
    compare.extend_from_slice(&[0x30, 0x00]);
    let mut put = Vec::with_capacity(value.len() + 64);
    push_field(1, key.as_bytes(), &mut put);
    push_field(2, value, &mut put);
    let mut operation = Vec::with_capacity(put.len() + 8);
    push_field(2, &put, &mut operation);
    let mut out = Vec::with_capacity(operation.len() + compare.len() + 16);
    push_field(1, &compare, &mut out);
    push_field(2, &operation, &mut out);
    out
}

/// Appends the field `number` with its bytes, in the encoding of protobuf.
fn push_field(number: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push((number << 3) | 2);
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(((length & 0x7f) | 0x80) as u8);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
}

/// True if the framed message `TxnResponse` says that the comparison held. It follows the header, whose length takes one byte.
fn has_succeeded(frame: &[u8]) -> bool {
    match frame.get(5..) {
        Some([0x0a, length, rest @ ..]) => rest
            .get(usize::from(*length)..)
            .is_some_and(|rest| rest.starts_with(&[0x10, 1])),
        _ => false,
    }
}

/// An address on which nothing listens.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("a free port is needed")?;
    Ok(listener.local_addr()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_encoded_as_etcd_reads_it() {
        let expected = [
            &[0x0a, 7, 0x10, 2, 0x1a, 1, b'k', 0x30, 0][..],
            &[0x12, 8, 0x12, 6, 0x0a, 1, b'k', 0x12, 1, b'v'],
        ];
        assert_eq!(creation("k", b"v"), expected.concat());
        let long = creation("k", &[b'v'; 300]);
        assert_eq!(long[9..12], [0x12, 0xb5, 0x02]);
    }

    #[test]
    fn the_outcome_of_a_transaction_is_read() {
        assert!(has_succeeded(&[0, 0, 0, 0, 6, 0x0a, 2, 8, 1, 0x10, 1]));
        assert!(!has_succeeded(&[0, 0, 0, 0, 4, 0x0a, 2, 8, 1]));
        assert!(!has_succeeded(&[]));
    }
}
