use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use planesmith_access::authentication::ClientCertificate;
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Authorities, ConnectionLimits, Listener, Service, Tls, TlsFiles};
use crate::connection::Connection;
use crate::sending::Answer;
use crate::shutdown::Stop;

mod slow_clients;
mod tls;

/// A limit that ends tests soon.
const SHORT_LIMIT: Duration = Duration::from_millis(30);

/// Bytes of an answer that no socket takes at once.
const LARGE: usize = 32 << 20;

/// Reports the client's identity by its certificate.
struct WhoAmI;

impl Service for WhoAmI {
    async fn serve(self: Arc<Self>, request: Request<Body>, connection: Arc<Connection>) -> Answer {
        if request.uri().path() == "/breaks" {
            let body = futures_util::stream::poll_fn(|_| -> Poll<Option<Result<&'static str, Infallible>>> {
                panic!("on purpose")
            });
            return Response::new(Body::from_stream(body)).into();
        }
        if request.uri().path() == "/endless" {
            let piece = Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 64 << 10]));
            let body = Body::from_stream(futures_util::stream::repeat_with(move || piece.clone()));
            return Answer {
                response: Response::new(body),
                until: Some(Instant::now() + SHORT_LIMIT),
            };
        }
        if request.uri().path() == "/overdue" {
            return Answer {
                response: Response::new(Body::from(vec![b'x'; LARGE])),
                until: Some(Instant::now()),
            };
        }
        assert_ne!(request.uri().path(), "/panics", "on purpose");
        // Reads the body, like a handler that needs it.
        let _ = request.into_body().collect().await;
        let text = match &connection.certificate {
            None => "nobody".to_owned(),
            Some(ClientCertificate::Untrusted(_) | ClientCertificate::Nameless) => "stranger".to_owned(),
            Some(ClientCertificate::Trusted { user, .. }) => format!("{} {:?}", user.name, user.groups),
        };
        let proxy = connection.proxy.as_ref();
        let text = proxy.map_or_else(|| text.clone(), |proxy| format!("proxy {}", proxy.name));
        Response::new(Body::from(text)).into()
    }
}

/// A listener that serves until it is dropped.
struct Serving {
    address: SocketAddr,
    tls: Option<Arc<Tls>>,
    _stop: Stop,
}

async fn serve(tls: Option<Tls>, limits: ConnectionLimits) -> Serving {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), tls).await.unwrap();
    let address = listener.local_addr().unwrap();
    let tls = listener.tls().cloned();
    let (stop, stopped) = Stop::new();
    tokio::spawn(listener.serve(Arc::new(WhoAmI), limits, stopped, Duration::ZERO));
    Serving {
        address,
        tls,
        _stop: stop,
    }
}

#[tokio::test]
async fn a_port_is_shared_if_both_agree() {
    let first = Listener::bind_shared("127.0.0.1:0".parse().unwrap(), None).unwrap();
    let address = first.local_addr().unwrap();
    assert!(Listener::bind_shared(address, None).is_ok());
    assert!(Listener::bind(address, None).await.is_err());
}
