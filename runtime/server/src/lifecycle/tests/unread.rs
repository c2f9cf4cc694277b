//! Clients that do not read their answers.

use http::Response as HttpResponse;
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::*;
use crate::sending::SendLimits;

/// Bytes that a client accepts of an answer that it does not read.
const WINDOW: u32 = 1000;

/// A server that serves until this is dropped.
struct Serving {
    address: std::net::SocketAddr,
    _signal: Signal,
}

async fn serve(change: impl FnOnce(&mut Config)) -> Serving {
    let mut routes = Routes::new();
    routes.add(Arc::new(Echo::new("", "echoes", Scope::Cluster, &Verb::STORED)));
    let mut config = config(AlwaysAllow);
    change(&mut config);
    let server = config.complete().unwrap();
    let server = server.prepare(ApiServer::new("core", routes)).unwrap();
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), None).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (signal, signals) = Signals::manual();
    tokio::spawn(server.run(listener, signals));
    Serving {
        address,
        _signal: signal,
    }
}

/// An HTTP/2 client with a small window: it receives no more than it reads.
async fn client(serving: &Serving) -> SendRequest<Body> {
    let stream = TcpStream::connect(serving.address).await.unwrap();
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    let builder = builder.initial_stream_window_size(WINDOW);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

async fn get(client: &mut SendRequest<Body>, name: &str, token: &str) -> HttpResponse<Incoming> {
    let request =
        Request::get(format!("http://x/api/v1/echoes/{name}")).header("authorization", format!("Bearer {token}"));
    client.send_request(request.body(Body::empty()).unwrap()).await.unwrap()
}

/// Repeats the request until the answer is `code`.
async fn until(client: &mut SendRequest<Body>, name: &str, code: StatusCode) {
    while get(client, name, "bob").await.status() != code {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_answer_that_is_not_read_counts_as_in_flight() {
    let serving = serve(|config| {
        config.in_flight = InFlightLimits { reading: 1, writing: 1 };
    })
    .await;
    let mut client = client(&serving).await;
    let unread = get(&mut client, "large", "bob").await;
    assert_eq!(unread.status(), StatusCode::OK);
    let refused = get(&mut client, "small", "bob").await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    drop(unread);
    until(&mut client, "small", StatusCode::OK).await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_gets_no_more_large_answers() {
    let serving = serve(|config| {
        config.sending = SendLimits {
            server: 3 << 20,
            user: 2 << 20,
        };
    })
    .await;
    let mut client = client(&serving).await;
    let mut unread = Vec::new();
    for _ in 0..2 {
        unread.push(get(&mut client, "large", "bob").await);
    }
    let refused = get(&mut client, "large", "bob").await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(get(&mut client, "small", "bob").await.status(), StatusCode::OK);
    // The limit applies to the administrator, too, but each user has one of its own.
    let other = get(&mut client, "large", "root").await;
    assert_eq!(other.status(), StatusCode::OK);
    let other = other.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(other.len(), LARGE);
    drop(unread);
    until(&mut client, "large", StatusCode::OK).await;
}

#[tokio::test]
async fn an_answer_that_is_not_read_in_time_is_cut_off() {
    let serving = serve(|config| config.request_timeout = Duration::from_millis(300)).await;
    let mut client = client(&serving).await;
    let mut unread = get(&mut client, "large", "bob").await.into_body();
    let first = unread.frame().await.unwrap().unwrap();
    assert!(first.data_ref().unwrap().len() <= WINDOW as usize);
    // The window opens again only when this is dropped.
    let rest = async {
        tokio::time::sleep(Duration::from_millis(600)).await;
        unread.collect().await
    };
    assert!(rest.await.is_err(), "the stream is reset");
    assert_eq!(get(&mut client, "small", "bob").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn large_answers_arrive_whole() {
    let serving = serve(|_| {}).await;
    let stream = TcpStream::connect(serving.address).await.unwrap();
    let (mut one, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut many = client(&serving).await;
    for name in ["large", "pieces"] {
        let request = Request::get(format!("/api/v1/echoes/{name}")).header("host", "x");
        let answers = [
            one.send_request(request.body(Body::empty()).unwrap()).await.unwrap(),
            get(&mut many, name, "bob").await,
        ];
        for answer in answers {
            let whole = answer.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(whole.len(), LARGE, "{name}");
        }
    }
}
