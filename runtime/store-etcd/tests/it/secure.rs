//! etcd with TLS and certificates of clients.

use std::sync::Arc;

use planesmith_store::backend::Backend as _;
use planesmith_store_etcd::{Config, ConnectError, Etcd};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, RootCertStore};

use crate::server::{Cluster, is_skipped};

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Issuer {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn issue(authority: &Issuer) -> (rcgen::Certificate, KeyPair) {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, authority).unwrap(), key)
}

/// The settings of a client that trusts `authority` and has a certificate of `identity`.
fn client(authority: &Issuer, identity: Option<&Issuer>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.unwrap().with_root_certificates(roots);
    Arc::new(match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let (certificate, key) = issue(identity);
            let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
            builder
                .with_client_auth_cert(vec![certificate.der().clone()], key)
                .unwrap()
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_show_certificates() {
    if is_skipped() {
        return;
    }
    let (trusted, other) = (authority(), authority());
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (certificate, key) = issue(&trusted);
    let (certificate, key) = (
        write("server.crt", certificate.pem()),
        write("server.key", key.serialize_pem()),
    );
    let ca = write("ca.crt", trusted.pem());
    let flags = [
        ("cert-file", &*certificate),
        ("key-file", &key),
        ("trusted-ca-file", &ca),
        ("client-cert-auth", "true"),
    ];
    let cluster = Cluster::start_with(1, &flags, Some(client(&trusted, Some(&trusted)))).await;
    let etcd = Etcd::connect(&cluster.config()).await.unwrap();
    etcd.health().await.unwrap();
    for wrong in [
        client(&trusted, None),
        client(&trusted, Some(&other)),
        client(&other, Some(&trusted)),
    ] {
        let config = Config {
            tls: Some(wrong),
            connect_timeout: std::time::Duration::ZERO,
            ..cluster.config()
        };
        let refused = Etcd::connect(&config).await;
        assert!(matches!(refused, Err(ConnectError::Unreachable(_))), "{refused:?}");
    }
}
