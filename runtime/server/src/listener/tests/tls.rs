//! Certificates of both sides.

use planesmith_machinery::clock::Clock;
use planesmith_machinery::clock::SystemClock;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{SignatureScheme, SupportedProtocolVersion};

use super::*;
use crate::early_version::tests::as_version_one;
use crate::listener::TlsParameters;

/// An authority with a server certificate for loopback, in a folder of its own.
pub(super) struct Pki {
    dir: TempDir,
    issuer: Issuer<'static, KeyPair>,
    authority: CertificateDer<'static>,
    authority_key: PrivateKeyDer<'static>,
}

impl Pki {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("ca.crt"), certificate.pem()).unwrap();
        let authority = certificate.der().clone();
        let authority_key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
        let pki = Self {
            dir,
            authority_key,
            issuer: Issuer::new(params, key),
            authority,
        };
        pki.renew_server_certificate();
        pki
    }

    fn path(&self, file: &str) -> std::path::PathBuf {
        self.dir.path().join(file)
    }

    fn renew_server_certificate(&self) {
        let params = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        std::fs::write(
            self.path("server.crt"),
            params.signed_by(&key, &self.issuer).unwrap().pem(),
        )
        .unwrap();
        std::fs::write(self.path("server.key"), key.serialize_pem()).unwrap();
    }

    fn client(&self, name: &str, group: &str) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, group);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        (
            certificate,
            PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap(),
        )
    }

    /// The authority's own certificate and key, as those of a client.
    fn itself(&self) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        (self.authority.clone(), self.authority_key.clone_key())
    }

    pub(super) fn tls(&self) -> Tls {
        self.tls_with(TlsParameters::default())
    }

    fn tls_with(&self, parameters: TlsParameters) -> Tls {
        let files = TlsFiles {
            certificate: self.path("server.crt"),
            key: self.path("server.key"),
            client_authorities: vec![self.path("ca.crt")],
            proxy_authorities: Vec::new(),
            named: Vec::new(),
            parameters,
            clock: Arc::new(SystemClock),
        };
        Tls::open(files).unwrap()
    }

    async fn connect(
        &self,
        serving: &Serving,
        client: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>,
        protocol: &[u8],
    ) -> TlsStream<TcpStream> {
        self.connect_in(rustls::ALL_VERSIONS, serving, client, protocol).await
    }

    async fn connect_in(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        serving: &Serving,
        client: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>,
        protocol: &[u8],
    ) -> TlsStream<TcpStream> {
        self.try_connect(versions, serving, client, protocol).await.unwrap()
    }

    async fn try_connect(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        serving: &Serving,
        client: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>,
        protocol: &[u8],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap();
        let builder = builder.with_root_certificates(roots);
        let mut config = match client {
            Some(client) => builder.with_client_cert_resolver(Arc::new(PresentedCertificate::new(client))),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = TcpStream::connect(serving.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }
}

/// Presents one certificate, whatever its version.
#[derive(Debug)]
struct PresentedCertificate(Arc<CertifiedKey>);

impl PresentedCertificate {
    fn new((certificate, key): (CertificateDer<'static>, PrivateKeyDer<'static>)) -> Self {
        let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
        Self(Arc::new(CertifiedKey::new(vec![certificate], key)))
    }
}

impl ResolvesClientCert for PresentedCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

async fn send_h1(stream: TlsStream<TcpStream>) -> String {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    send_again(&mut sender).await
}

/// The status of an answer; `None` when the server closes the connection.
async fn try_request_h1(stream: TlsStream<TcpStream>) -> Option<StatusCode> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(connection);
    let request = Request::get("/")
        .header("host", "localhost")
        .body(Body::empty())
        .unwrap();
    Some(sender.send_request(request).await.ok()?.status())
}

async fn send_again(sender: &mut http1::SendRequest<Body>) -> String {
    let request = Request::get("/")
        .header("host", "localhost")
        .body(Body::empty())
        .unwrap();
    let body = sender
        .send_request(request)
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn client_certificates_name_users_and_groups() {
    let (pki, other) = (Pki::new(), Pki::new());
    let serving = serve(Some(pki.tls()), ConnectionLimits::default()).await;
    for (client, expected) in [
        (None, "nobody"),
        (
            Some(pki.client("carol", "dev")),
            r#"carol ["dev", "system:authenticated"]"#,
        ),
        (Some(pki.client("", "dev")), "stranger"),
        (Some(other.client("carol", "dev")), "stranger"),
    ] {
        let stream = pki.connect(&serving, client, b"http/1.1").await;
        assert_eq!(send_h1(stream).await, expected);
    }
}

#[tokio::test]
async fn client_certificates_of_version_one_name_users_too() {
    let (pki, other) = (Pki::new(), Pki::new());
    let serving = serve(Some(pki.tls()), ConnectionLimits::default()).await;
    for versions in [&[&rustls::version::TLS12], &[&rustls::version::TLS13]] {
        for (signer, expected) in [(&pki, r#"carol ["dev", "system:authenticated"]"#), (&other, "stranger")] {
            let (certificate, key) = pki.client("carol", "dev");
            let certificate = as_version_one(&certificate, signer.issuer.key());
            let client = Some((certificate, key));
            let stream = pki.connect_in(versions, &serving, client, b"http/1.1").await;
            assert_eq!(send_h1(stream).await, expected, "{versions:?}");
        }
        // The certificate of another client is refused.
        let (certificate, _) = pki.client("carol", "dev");
        let (_, key) = pki.client("dave", "dev");
        let certificate = as_version_one(&certificate, pki.issuer.key());
        let stream = pki.try_connect(versions, &serving, Some((certificate, key)), b"http/1.1");
        let answered = match stream.await {
            Ok(stream) => try_request_h1(stream).await.is_some(),
            Err(_) => false,
        };
        assert!(!answered, "{versions:?}");
    }
}

#[tokio::test]
async fn an_authority_may_be_its_own_client() {
    let (pki, other) = (Pki::new(), Pki::new());
    let serving = serve(Some(pki.tls()), ConnectionLimits::default()).await;
    for (client, expected) in [
        (pki.itself(), r#"authority ["system:authenticated"]"#),
        (other.itself(), "stranger"),
    ] {
        let stream = pki.connect(&serving, Some(client), b"http/1.1").await;
        assert_eq!(send_h1(stream).await, expected);
    }
}

#[tokio::test]
async fn a_proxy_is_trusted_over_a_connection_that_is_older_than_its_authority() {
    let (pki, other) = (Pki::new(), Pki::new());
    let serving = serve(Some(pki.tls()), ConnectionLimits::default()).await;
    let stream = pki
        .connect(&serving, Some(other.client("front", "")), b"http/1.1")
        .await;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    assert_eq!(send_again(&mut sender).await, "stranger");
    let learned = Authorities {
        clients: Vec::new(),
        proxies: std::fs::read(other.path("ca.crt")).unwrap(),
    };
    serving.tls.as_ref().unwrap().trust(learned).unwrap();
    assert_eq!(send_again(&mut sender).await, "proxy front");
}

#[tokio::test]
async fn plain_http_is_told_to_use_tls() {
    let pki = Pki::new();
    let serving = serve(Some(pki.tls()), ConnectionLimits::default()).await;
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("no reset");
    assert_eq!(
        answer,
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
    );
}

#[tokio::test]
async fn http_2_is_agreed_on_in_the_handshake() {
    let pki = Pki::new();
    let serving = serve(Some(pki.tls()), ConnectionLimits::default()).await;
    let stream = pki.connect(&serving, None, b"h2").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let large = Body::from(vec![b'x'; 3 << 20]);
    let request = Request::post("https://localhost/").body(large).unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(
        (response.status(), response.version()),
        (StatusCode::OK, Version::HTTP_2)
    );
}

#[tokio::test]
async fn http_2_is_not_offered_if_it_is_off() {
    let pki = Pki::new();
    let tls = pki.tls_with(TlsParameters::default().with_http2(false));
    let serving = serve(Some(tls), ConnectionLimits::default()).await;
    let stream = pki.connect(&serving, None, b"http/1.1").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let newest = &[&rustls::version::TLS13];
    assert!(pki.try_connect(newest, &serving, None, b"h2").await.is_err());
}

#[tokio::test]
async fn an_answer_that_breaks_does_not_end_its_connection() {
    let pki = Pki::new();
    let serving = serve(Some(pki.tls()), ConnectionLimits::default()).await;
    let stream = pki.connect(&serving, None, b"h2").await;
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let get = |path: &str| {
        Request::get(format!("https://localhost{path}"))
            .body(Body::empty())
            .unwrap()
    };
    let broken = match sender.send_request(get("/breaks")).await {
        Ok(response) => response.into_body().collect().await.is_err(),
        Err(_) => true,
    };
    assert!(broken, "the broken answer looks whole");
    let panicked = sender.send_request(get("/panics")).await.unwrap();
    assert_eq!(panicked.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let status = panicked.into_body().collect().await.unwrap().to_bytes();
    assert!(
        status.starts_with(br#"{"kind":"Status","apiVersion":"v1""#),
        "{status:?}"
    );
    assert_eq!(sender.send_request(get("/")).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn renewed_certificates_are_used_for_new_connections() {
    let pki = Pki::new();
    let tls = pki.tls();
    let first = tls.current.load_full();
    tls.refresh();
    assert!(Arc::ptr_eq(&first, &tls.current.load()), "read again without a change");
    pki.renew_server_certificate();
    set_modified(&pki.path("server.crt"), 10);
    tls.refresh();
    let second = tls.current.load_full();
    assert!(!Arc::ptr_eq(&first, &second), "not read again");
    std::fs::write(pki.path("server.key"), "nonsense").unwrap();
    set_modified(&pki.path("server.key"), 20);
    tls.refresh();
    assert!(Arc::ptr_eq(&second, &tls.current.load()), "took a broken key");
    let serving = serve(Some(tls), ConnectionLimits::default()).await;
    assert_eq!(send_h1(pki.connect(&serving, None, b"http/1.1").await).await, "nobody");
}

fn set_modified(path: &Path, seconds: u64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemClock.now() + Duration::from_secs(seconds))
        .unwrap();
}

#[test]
fn wrong_files_are_named() {
    let pki = Pki::new();
    let error = |certificate: &str, key: &str| {
        let files = TlsFiles {
            certificate: pki.path(certificate),
            key: pki.path(key),
            client_authorities: vec![],
            proxy_authorities: Vec::new(),
            named: Vec::new(),
            parameters: TlsParameters::default(),
            clock: Arc::new(SystemClock),
        };
        Tls::open(files).unwrap_err().to_string()
    };
    assert!(error("none.crt", "server.key").ends_with("none.crt cannot be read"));
    assert!(error("server.key", "server.key").ends_with("server.key holds no certificate in PEM form"));
    assert!(error("server.crt", "ca.crt").ends_with("ca.crt holds no private key in PEM form"));
    assert!(error("ca.crt", "server.key").ends_with("ca.crt cannot be used with its key"));
}
