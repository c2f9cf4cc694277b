//! TLS to the other side.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;

use super::*;

/// A server with a certificate of its own making, which lies in the folder as `ca.pem`. It answers one request.
async fn secure_backend() -> (TempDir, Target) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&key).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), certificate.pem()).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // A client that does not believe the certificate goes away.
        let Ok(mut stream) = TlsAcceptor::from(Arc::new(tls)).accept(stream).await else {
            return;
        };
        let mut asked = Vec::new();
        while !asked.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { return };
            asked.push(byte);
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        stream.write_all(answer).await.unwrap();
        stream.shutdown().await.unwrap();
    });
    let target = Target {
        secure: true,
        host: "127.0.0.1".to_owned(),
        port,
        path: "/logs".to_owned(),
        query: String::new(),
    };
    (folder, target)
}

#[tokio::test]
async fn anybody_is_believed_without_an_authority() {
    let (_folder, target) = secure_backend().await;
    let answer = fetch(&target, &link()).await.unwrap();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(&text[..], b"ok");
}

#[tokio::test]
async fn with_an_authority_only_its_own_are_believed() {
    let (folder, target) = secure_backend().await;
    let (other, _) = secure_backend().await;
    let trusting = |folder: &TempDir| {
        let tls = client_tls(Some(&folder.path().join("ca.pem")), None).unwrap();
        Link::new(tls, Duration::from_secs(5))
    };
    let answer = fetch(&target, &trusting(&folder)).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let (_folder, target) = secure_backend().await;
    let error = fetch(&target, &trusting(&other)).await.unwrap_err();
    assert!(error.to_string().starts_with("tls: "), "{error}");
}
