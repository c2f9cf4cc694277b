//! An unmodified kubectl with a kubelet, in both protocols that it can start with.

use std::process::Stdio;
use std::time::Duration;

use planesmith_e2e::Home;
use planesmith_e2e::skip::skip;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;

use super::Setting;
use crate::transcript::{Transcript, at_home, has_kubectl, run};

/// The time limit for kubectl to print something.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn setting() -> Option<Setting> {
    if !has_kubectl() {
        skip("streams of kubectl", "no kubectl is on PATH");
        return None;
    }
    Some(Setting::new().await)
}

/// True if this kubectl supports commands and port forwarding over WebSocket: 1.30 and later. It silently falls back to SPDY on
/// failure.
async fn speaks_web_socket(home: &Home) -> bool {
    let (version, _) = run(home, "kubectl version --client -o json", &[]).await;
    let version: Value = serde_json::from_str(&version).unwrap();
    let minor = version["clientVersion"]["minor"].as_str().unwrap();
    minor.trim_end_matches('+').parse::<u32>().unwrap() >= 30
}

async fn stream_commands(over_web_socket: &str) {
    let Some(mut setting) = setting().await else { return };
    let variables = [
        ("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", over_web_socket),
        ("CONTAINER", setting.kubelet.folder().to_str().unwrap()),
    ];
    let text = include_str!("../kubectl/streams.txt");
    Transcript::read("streams.txt", text)
        .play(&setting.home, &variables)
        .await;
    // Requests that the server translates carry no client name.
    let is_from_client = |request: &str| request.contains("\r\nuser-agent: kubectl/");
    let expects_client = over_web_socket == "false" || !speaks_web_socket(&setting.home).await;
    while let Some(request) = setting.kubelet.request() {
        if request.starts_with("POST ") {
            assert_eq!(is_from_client(&request), expects_client, "{request}");
        }
    }
}

async fn line(lines: &mut Lines<impl AsyncBufRead + Unpin>) -> String {
    let line = tokio::time::timeout(TIMEOUT, lines.next_line()).await;
    line.expect("kubectl says something in time").unwrap().unwrap()
}

async fn forward_ports(over_web_socket: &str) {
    let Some(mut setting) = setting().await else { return };
    let mut kubectl = at_home("kubectl", &setting.home)
        .args(["port-forward", "--address=127.0.0.1", "pod/p", ":80", ":443", ":81"])
        .env("KUBECTL_PORT_FORWARD_WEBSOCKETS", over_web_socket)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut output = BufReader::new(kubectl.stdout.take().unwrap()).lines();
    let mut local_ports = Vec::new();
    for remote in ["80", "443", "81"] {
        let said = line(&mut output).await;
        let ports = said.strip_prefix("Forwarding from 127.0.0.1:").expect(&said);
        let (local, to) = ports.split_once(" -> ").expect(&said);
        assert_eq!(to, remote);
        local_ports.push(local.parse().unwrap());
    }
    let connect = async |port: usize| TcpStream::connect(("127.0.0.1", local_ports[port])).await.unwrap();
    let mut connections = [connect(0).await, connect(1).await];
    // All connections stay open while each is used.
    for (connection, port) in connections.iter_mut().zip(["80", "443"]) {
        connection.write_all(b"a question").await.unwrap();
        let expected = format!("{port}: a question");
        let mut answer = vec![0; expected.len()];
        connection.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
    }
    for mut connection in connections {
        connection.shutdown().await.unwrap();
        let mut rest = Vec::new();
        connection.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty());
    }
    // kubectl reports the port without a listener.
    let mut refused = connect(2).await;
    let mut rest = Vec::new();
    let _ = refused.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
    let mut errors = BufReader::new(kubectl.stderr.take().unwrap()).lines();
    let expected = "an error occurred forwarding";
    loop {
        let said = line(&mut errors).await;
        if said.contains(expected) {
            let why = "error forwarding port 81 to pod p, uid : connection refused";
            assert!(said.contains(why), "{said}");
            break;
        }
    }
    kubectl.kill().await.unwrap();
    // A POST by a client has a content length; a translated WebSocket request has none.
    let is_posted = setting.kubelet.request().unwrap().contains("\r\ncontent-length: 0\r\n");
    let expects_post = over_web_socket == "false" || !speaks_web_socket(&setting.home).await;
    assert_eq!(is_posted, expects_post);
}

#[tokio::test]
async fn commands_and_logs_stream_over_web_socket() {
    stream_commands("true").await;
}

#[tokio::test]
async fn commands_and_logs_stream_over_spdy() {
    stream_commands("false").await;
}

#[tokio::test]
async fn ports_are_forwarded_over_web_socket() {
    forward_ports("true").await;
}

#[tokio::test]
async fn ports_are_forwarded_over_spdy() {
    forward_ports("false").await;
}
