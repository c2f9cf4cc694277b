//! Traces of requests, exported to a collector.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use planesmith_e2e::{Binary, Home};
use tokio::net::TcpListener;

use crate::objects::CONFIG_MAPS;

/// The gRPC method that receives spans.
const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// The trace context of a client's request.
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A collector that stores the received spans.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<u8>>>);

impl Collector {
    async fn listen(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let collector = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let collector = collector.clone();
                let service = service_fn(move |request| collector.clone().take(request));
                let builder = Builder::new(TokioExecutor::new());
                tokio::spawn(async move {
                    // Connection errors are handled by the exporter.
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        address
    }

    /// Responds as gRPC does: with an empty message, followed by the status as a trailer.
    async fn take(
        self,
        request: Request<Incoming>,
    ) -> Result<Response<impl http_body::Body<Data = Bytes, Error = Infallible>>, Infallible> {
        if request.uri().path() == EXPORT
            && let Ok(body) = request.into_body().collect().await
        {
            self.0.lock().unwrap().extend_from_slice(&body.to_bytes());
        }
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", "0".parse().unwrap());
        let frames = [
            Ok(Frame::data(Bytes::from_static(&[0; 5]))),
            Ok(Frame::trailers(trailers)),
        ];
        let response = Response::builder().header("content-type", "application/grpc");
        Ok(response
            .body(StreamBody::new(futures_util::stream::iter(frames)))
            .unwrap())
    }

    fn has(&self, piece: &[u8]) -> bool {
        self.0
            .lock()
            .unwrap()
            .windows(piece.len())
            .any(|window| window == piece)
    }
}

#[tokio::test]
async fn a_request_of_a_trace_gets_to_the_collector() {
    let collector = Collector::default();
    let address = collector.listen().await;
    let home = Home::new().unwrap();
    let file = home.path().join("tracing.yaml");
    let text = format!("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: {address}\n");
    std::fs::write(&file, text).unwrap();
    let flag = format!("--tracing-config-file={}", file.display());
    let binary = Binary::Planesmith.path().unwrap();
    let mut server = home.start(&binary, &["--storage=memory", &flag]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let request = connection.request(Method::GET, CONFIG_MAPS);
    let request = request.header("traceparent", PARENT).body(Bytes::new().into()).unwrap();
    connection.finish(request).await.unwrap().expect(200).unwrap();
    // Without a trace context, and not sampled.
    connection.get("/version").await.unwrap().expect(200).unwrap();
    drop(connection);
    server.terminate().await.unwrap();
    assert!(server.ended().await.unwrap().success());

    let trace = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes();
    let name = b"GET /api/v1/namespaces/{:namespace}/configmaps";
    for piece in [&trace[..], name, b"audit-id", b"encode", b"apiserver"] {
        assert!(collector.has(piece), "{}\n{}", piece.escape_ascii(), server.log());
    }
    assert!(!collector.has(b"/version"), "what nobody asked for is not recorded");
}
