//! A kubelet on loopback, as far as streams need one. It reads no header blocks: streams come in the order that every client
//! of kubelets opens them in.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A kubelet. It is gone when dropped.
pub(super) struct Kubelet {
    pub(super) port: u16,
    asked: mpsc::UnboundedReceiver<String>,
    server: JoinHandle<()>,
}

impl Kubelet {
    pub(super) async fn start() -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["kubelet".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let tls = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
        let tls = TlsAcceptor::from(Arc::new(tls));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (told, asked) = mpsc::unbounded_channel();
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, told) = (tls.clone(), told.clone());
                tokio::spawn(async move {
                    let Ok(stream) = tls.accept(stream).await else { return };
                    // A client that goes away ends its connection.
                    let _ = serve(stream, &told).await;
                });
            }
        });
        Self { port, asked, server }
    }

    /// The next request, as it was sent; `None` when there was none.
    pub(super) fn asked(&mut self) -> Option<String> {
        self.asked.try_recv().ok()
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.server.abort();
    }
}

const AGREED: &str =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ";

async fn serve(mut stream: TlsStream<TcpStream>, told: &mpsc::UnboundedSender<String>) -> std::io::Result<()> {
    let mut asked = Vec::new();
    while !asked.ends_with(b"\r\n\r\n") {
        asked.push(stream.read_u8().await?);
    }
    let asked = String::from_utf8(asked).unwrap();
    let _ = told.send(asked.clone());
    let path = asked.split(' ').nth(1).unwrap_or_default();
    if path.starts_with("/exec/") {
        stream
            .write_all(format!("{AGREED}v4.channel.k8s.io\r\n\r\n").as_bytes())
            .await?;
        return shout(stream).await;
    }
    if path.starts_with("/portForward/") {
        stream
            .write_all(format!("{AGREED}portforward.k8s.io\r\n\r\n").as_bytes())
            .await?;
        // Sends everything back.
        let (mut reader, mut writer) = tokio::io::split(stream);
        tokio::io::copy(&mut reader, &mut writer).await?;
        return writer.shutdown().await;
    }
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlines";
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// A command that says its input again in capitals, and exits with 3 when that ends. The client wants stdin and stdout.
async fn shout(mut stream: TlsStream<TcpStream>) -> std::io::Result<()> {
    let (error, stdin, stdout) = (1, 3, 5);
    loop {
        let (first, second) = (stream.read_u32().await?, stream.read_u32().await?);
        let mut payload = vec![0; (second & 0x00ff_ffff) as usize];
        stream.read_exact(&mut payload).await?;
        match first {
            // A stream is opened.
            0x8003_0001 => {
                let reply = [&[0x80, 3, 0, 2, 0, 0, 0, 8][..], &payload[..4], &[0; 4]].concat();
                stream.write_all(&reply).await?;
            }
            first if first == stdin => {
                payload.make_ascii_uppercase();
                stream.write_all(&data(stdout, &payload, false)).await?;
                if second >> 24 == 1 {
                    break;
                }
            }
            _ => {}
        }
    }
    let status = r#"{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}"#;
    stream.write_all(&data(error, status.as_bytes(), true)).await?;
    stream.write_all(&data(stdout, b"", true)).await?;
    // The client ends the connection.
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await?;
    Ok(())
}

fn data(stream: u32, bytes: &[u8], is_last: bool) -> Vec<u8> {
    let length = u32::from(is_last) << 24 | u32::try_from(bytes.len()).unwrap();
    [&stream.to_be_bytes()[..], &length.to_be_bytes(), bytes].concat()
}
