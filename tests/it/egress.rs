//! A server whose cluster is behind a proxy.

use http::Method;
use planesmith_e2e::{Answer, Binary, Connection, Home};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixListener;

/// An address for documentation, which no network has.
const ADDRESS: &str = "192.0.2.10";

/// Reads the lines of a request up to the empty one.
async fn head(stream: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).await.unwrap(), 0, "{head}");
    }
    head
}

/// A proxy that opens the first connection, and answers its first request; it refuses the second one.
async fn proxy(listener: UnixListener) -> Vec<String> {
    let mut heads = Vec::new();
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = BufReader::new(stream);
    heads.push(head(&mut stream).await);
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    heads.push(head(&mut stream).await);
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfrom node";
    stream.write_all(answer).await.unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = BufReader::new(stream);
    heads.push(head(&mut stream).await);
    let refusal = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(refusal).await.unwrap();
    let _ = stream.read(&mut [0; 1]).await;
    heads
}

async fn patch(connection: &Connection, path: &str, patch: &Value) -> Answer {
    let request = connection.request(Method::PATCH, path);
    let request = request.header("content-type", "application/merge-patch+json");
    connection
        .finish(request.body(patch.to_string().into()).unwrap())
        .await
        .unwrap()
}

#[tokio::test]
async fn requests_for_nodes_pass_through_the_proxy_of_the_cluster() {
    let home = Home::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (socket, file) = (folder.path().join("proxy.sock"), folder.path().join("egress.yaml"));
    let proxy = tokio::spawn(proxy(UnixListener::bind(&socket).unwrap()));
    let selection = json!({
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [{"name": "cluster", "connection": {
            "proxyProtocol": "HTTPConnect",
            "transport": {"uds": {"udsName": socket}},
        }}],
    });
    std::fs::write(&file, selection.to_string()).unwrap();
    let flag = format!("--egress-selector-config-file={}", file.display());
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[&flag, "--storage=memory"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}).to_string();
    let created = connection.call(Method::POST, "/api/v1/nodes", node).await.unwrap();
    created.expect(201).unwrap();
    let status = json!({"status": {"addresses": [{"type": "InternalIP", "address": ADDRESS}]}});
    let patched = patch(&connection, "/api/v1/nodes/n/status", &status).await;
    patched.expect(200).unwrap();

    let answer = connection.get("/api/v1/nodes/n:80/proxy/greeting").await.unwrap();
    assert_eq!(answer.expect(200).unwrap().excerpt(), "from node");
    let refused = connection.get("/api/v1/nodes/n:80/proxy/greeting").await.unwrap();
    let expected = format!(
        "error trying to reach service: proxy error from {} while dialing {ADDRESS}:80, code 502: 502 Bad Gateway",
        socket.display()
    );
    let refused = refused.expect(503).unwrap();
    assert_eq!(refused.json().unwrap()["message"], expected);
    let heads = proxy.await.unwrap();
    let connect = format!("CONNECT {ADDRESS}:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert_eq!((&heads[0], &heads[2]), (&connect, &connect));
    assert!(heads[1].starts_with("GET /greeting HTTP/1.1\r\n"), "{}", heads[1]);

    let metrics = connection.get("/metrics").await.unwrap();
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    for series in [
        "apiserver_egress_dialer_dial_start_total{protocol=\"http_connect\",transport=\"uds\"} 2",
        "apiserver_egress_dialer_dial_failure_count{protocol=\"http_connect\",stage=\"proxy\",transport=\"uds\"} 1",
        "apiserver_egress_dialer_dial_duration_seconds_count{protocol=\"http_connect\",transport=\"uds\"} 1",
    ] {
        assert!(metrics.contains(series), "{series}");
    }
    server.kill().await.unwrap();
}
