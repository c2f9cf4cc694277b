//! A minimal kubelet on loopback for streams: commands run on this machine in a folder of the test, and only for a server with
//! the certificate from the test.

mod command;
mod ports;
mod spdy;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A kubelet. It stops when dropped.
pub(super) struct Kubelet {
    pub(super) port: u16,
    requests: mpsc::UnboundedReceiver<String>,
    /// The working folder of commands.
    folder: PathBuf,
    /// Certificates and keys for the server.
    files: PathBuf,
    server: JoinHandle<()>,
}

impl Kubelet {
    /// Starts a kubelet with its files in `home`.
    pub(super) async fn start(home: &Path) -> Self {
        let files = home.join("kubelet");
        let folder = home.join("container");
        for folder in [&files, &folder] {
            std::fs::create_dir(folder).unwrap();
        }
        let tls = TlsAcceptor::from(Arc::new(tls(&files)));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::unbounded_channel();
        let working_folder = folder.clone();
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, sender, folder) = (tls.clone(), sender.clone(), working_folder.clone());
                tokio::spawn(async move {
                    let Ok(stream) = tls.accept(stream).await else { return };
                    // A disconnecting client ends its connection.
                    let _ = serve(stream, &sender, &folder).await;
                });
            }
        });
        Self {
            port,
            requests,
            folder,
            files,
            server,
        }
    }

    /// Returns the flags with which the kubelet trusts a server.
    pub(super) fn flags(&self) -> [String; 3] {
        let flag = |name: &str, file: &str| format!("--kubelet-{name}={}", self.files.join(file).display());
        [
            flag("certificate-authority", "authority.crt"),
            flag("client-certificate", "client.crt"),
            flag("client-key", "client.key"),
        ]
    }

    /// Returns the working folder of commands.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the next request as received; `None` if there was none.
    pub(super) fn request(&mut self) -> Option<String> {
        self.requests.try_recv().ok()
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Returns a TLS configuration that requires a client certificate, and writes the certificates to `files`.
fn tls(files: &Path) -> ServerConfig {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let issue = |name: &str| {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.signed_by(&key, &authority).unwrap(), key)
    };
    let (client, client_key) = issue("client");
    let (server, server_key) = issue("127.0.0.1");
    std::fs::write(files.join("authority.crt"), authority.pem()).unwrap();
    std::fs::write(files.join("client.crt"), client.pem()).unwrap();
    std::fs::write(files.join("client.key"), client_key.serialize_pem()).unwrap();
    let mut trusted = RootCertStore::empty();
    trusted.add(authority.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(trusted), Arc::clone(&provider));
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(
            vec![server.der().clone()],
            PrivatePkcs8KeyDer::from(server_key.serialize_der()).into(),
        )
        .unwrap()
}

const SWITCH: &str =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ";

async fn serve(
    mut stream: TlsStream<TcpStream>,
    requests: &mpsc::UnboundedSender<String>,
    folder: &Path,
) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let request = String::from_utf8(request).unwrap();
    let _ = requests.send(request.clone());
    let target = request.split(' ').nth(1).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match path.split('/').nth(1) {
        Some("exec" | "attach") => {
            let head = format!("{SWITCH}v4.channel.k8s.io\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            command::run(stream, &command::Wanted::read(query), folder).await
        }
        Some("portForward") => {
            let head = format!("{SWITCH}portforward.k8s.io\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            ports::forward(stream).await
        }
        _ => {
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).await?;
            log(&mut stream, query.contains("follow=true"), folder).await?;
            stream.shutdown().await
        }
    }
}

/// Writes the log of the container: a single line, or the content of the named pipe `log` in `folder`.
async fn log(stream: &mut TlsStream<TcpStream>, is_followed: bool, folder: &Path) -> std::io::Result<()> {
    if !is_followed {
        return stream.write_all(b"lines").await;
    }
    let mut cat = Command::new("cat");
    let cat = cat.arg("log").current_dir(folder).kill_on_drop(true);
    let mut cat = cat.stdout(Stdio::piped()).spawn()?;
    let mut output = cat.stdout.take().unwrap();
    tokio::io::copy(&mut output, stream).await.map(drop)
}
