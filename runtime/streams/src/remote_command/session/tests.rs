use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::io::DuplexStream;
use tokio::task::JoinHandle;

use super::*;
use crate::spdy::tests::peer::{Peer, data};

/// A client, a kubelet that has opened these streams, and the session between them.
struct Setting {
    client: WebSocketStream<DuplexStream>,
    kubelet: Peer<DuplexStream>,
    /// Kinds and numbers of the streams.
    streams: Vec<(String, u32)>,
    session: JoinHandle<()>,
}

const ALL: StreamFlags = StreamFlags {
    stdin: true,
    stdout: true,
    stderr: true,
    tty: false,
};

impl Setting {
    async fn new(flags: StreamFlags, version: Version) -> Self {
        let (mut client, kubelet, session) = start(flags, version).await;
        let mut kubelet = Peer::new(kubelet);
        let first = match (flags.stdout, flags.stderr) {
            (true, _) => STDOUT,
            (false, true) => STDERR,
            (false, false) => ERROR,
        };
        assert_eq!(heard(&mut client).await, [first]);
        let resize = flags.tty && version >= Version::Resize;
        let wanted = [true, flags.stdin, flags.stdout, flags.stderr && !flags.tty, resize];
        let mut streams = Vec::new();
        for _ in 0..wanted.into_iter().filter(|wanted| *wanted).count() {
            let (number, headers) = kubelet.accept().await;
            assert_eq!(headers[0].0, "streamtype");
            streams.push((headers[0].1.clone(), number));
        }
        Self {
            client,
            kubelet,
            streams,
            session,
        }
    }

    fn stream(&self, kind: &str) -> u32 {
        let found = self.streams.iter().find(|(known, _)| known == kind);
        found.unwrap_or_else(|| panic!("no stream {kind}")).1
    }

    async fn send_from_client(&mut self, said: &[u8]) {
        self.client.send(Message::Binary(said.to_vec().into())).await.unwrap();
    }

    async fn send(&mut self, kind: &str, bytes: &[u8], is_last: bool) {
        let frame = data(self.stream(kind), bytes, is_last);
        self.kubelet.send(&frame).await;
    }

    /// The final Status, after which the connection is closed.
    async fn ended(mut self) -> String {
        let status = heard(&mut self.client).await;
        assert_eq!(status[0], ERROR, "{}", String::from_utf8_lossy(&status));
        let Some(Ok(Message::Close(Some(frame)))) = self.client.next().await else {
            panic!("the connection goes on");
        };
        assert_eq!(frame.code, CloseCode::Normal);
        // The answer to the close frame is sent with the next read.
        assert!(self.client.next().await.is_none());
        self.session.await.unwrap();
        self.kubelet.end().await;
        String::from_utf8(status[1..].to_vec()).unwrap()
    }
}

async fn start(flags: StreamFlags, version: Version) -> (WebSocketStream<DuplexStream>, DuplexStream, JoinHandle<()>) {
    let (client, server) = tokio::io::duplex(256 << 10);
    let (ours, kubelet) = tokio::io::duplex(256 << 10);
    let session = tokio::spawn(run(server, flags, async move { Ok((ours, version)) }));
    let client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
    (client, kubelet, session)
}

async fn heard(client: &mut WebSocketStream<DuplexStream>) -> Vec<u8> {
    match client.next().await {
        Some(Ok(Message::Binary(said))) => said.to_vec(),
        other => panic!("no message: {other:?}"),
    }
}

const SUCCESS: &str = r#"{"metadata":{},"status":"Success"}"#;

#[tokio::test]
async fn channels_are_streams_and_closing_stdin_closes_nothing_else() {
    let mut setting = Setting::new(ALL, Version::Status).await;
    let kinds: Vec<&str> = setting.streams.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["error", "stdin", "stdout", "stderr"]);
    let stdin = setting.stream("stdin");
    setting.send_from_client(b"\0cat").await;
    assert_eq!(setting.kubelet.data().await, (stdin, b"cat".to_vec(), false));
    setting.send_from_client(&[CLOSE, STDIN]).await;
    assert_eq!(setting.kubelet.data().await, (stdin, Vec::new(), true));
    // Data behind the end is dropped, and so are channels that are not the client's.
    for dropped in [
        &b"\0late"[..],
        &[CLOSE, STDIN],
        &[CLOSE, STDOUT],
        b"\x01x",
        b"\x07x",
        b"\x04{\"Width\":1}",
        b"",
    ] {
        setting.send_from_client(dropped).await;
    }
    setting.send("stdout", b"out", false).await;
    assert_eq!(heard(&mut setting.client).await, b"\x01out");
    setting.send("stderr", b"err", true).await;
    assert_eq!(heard(&mut setting.client).await, b"\x02err");
    setting.send("error", SUCCESS.as_bytes(), true).await;
    setting.send("stdout", b"!", true).await;
    assert_eq!(heard(&mut setting.client).await, b"\x01!");
    assert_eq!(setting.ended().await, SUCCESS);
}

#[tokio::test]
async fn exit_codes_and_failures_are_told_at_the_end() {
    let exit = r#"{"metadata":{},"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"7"}]}}"#;
    for (version, error, expected) in [
        (Version::Status, exit, r#"[{"reason":"ExitCode","message":"7"}]"#),
        (
            Version::Text,
            "no such command",
            "error executing remote command: no such command",
        ),
        (Version::Status, "", SUCCESS),
    ] {
        let only_stderr = StreamFlags {
            stderr: true,
            ..StreamFlags::default()
        };
        let mut setting = Setting::new(only_stderr, version).await;
        setting.send("stderr", b"", true).await;
        setting.send("error", error.as_bytes(), true).await;
        let status = setting.ended().await;
        assert!(status.contains(expected), "{status}");
    }
}

#[tokio::test]
async fn a_terminal_has_a_size_and_no_stderr() {
    let flags = StreamFlags { tty: true, ..ALL };
    let mut setting = Setting::new(flags, Version::Resize).await;
    let kinds: Vec<&str> = setting.streams.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["error", "stdin", "stdout", "resize"]);
    let resize = setting.stream("resize");
    setting
        .send_from_client(b"\x04{\"Width\":80,\"Height\":24} {\"width\": 1}nonsense")
        .await;
    let sizes = b"{\"Width\":80,\"Height\":24}\n{\"Width\":1,\"Height\":0}\n".to_vec();
    assert_eq!(setting.kubelet.data().await, (resize, sizes, false));
    // No terminal is that large: this message is dropped, and the following ones are passed on.
    let large = [b"\x04", &b"{}".repeat(4 << 10)[..]].concat();
    setting.send_from_client(&large).await;
    setting.send_from_client(b"\x04{\"Width\":7,\"Height\":8}").await;
    let sizes = b"{\"Width\":7,\"Height\":8}\n".to_vec();
    assert_eq!(setting.kubelet.data().await, (resize, sizes, false));
    // A kubelet that closes stdin has it closed in return.
    setting.send("stdin", b"", true).await;
    assert_eq!(
        setting.kubelet.data().await,
        (setting.stream("stdin"), Vec::new(), true)
    );
    setting.send_from_client(b"\0late").await;
    setting.send("stdout", b"$ ", true).await;
    assert_eq!(heard(&mut setting.client).await, b"\x01$ ");
    setting.send("error", b"", true).await;
    assert_eq!(setting.ended().await, SUCCESS);
}

#[tokio::test]
async fn no_streams_at_all_are_a_session_too() {
    let mut setting = Setting::new(StreamFlags::default(), Version::Status).await;
    setting.send("error", SUCCESS.as_bytes(), true).await;
    assert_eq!(setting.ended().await, SUCCESS);
}

#[tokio::test]
async fn a_kubelet_that_refuses_or_breaks_off_is_reported() {
    let (client, server) = tokio::io::duplex(1 << 10);
    let refused = async { Err::<(DuplexStream, Version), _>("unable to upgrade connection: no".to_owned()) };
    let session = tokio::spawn(run(server, ALL, refused));
    let mut client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
    assert_eq!(heard(&mut client).await, [STDOUT]);
    let status = String::from_utf8(heard(&mut client).await).unwrap();
    assert!(
        status.contains("Internal error occurred: unable to upgrade connection: no"),
        "{status}"
    );
    drop(client);
    session.await.unwrap();

    let setting = Setting::new(ALL, Version::Status).await;
    let Setting {
        mut client,
        kubelet,
        session,
        ..
    } = setting;
    drop(kubelet);
    let status = String::from_utf8(heard(&mut client).await).unwrap();
    assert!(
        status.contains("error reading from error stream: unexpected EOF"),
        "{status}"
    );
    drop(client);
    session.await.unwrap();

    let mut setting = Setting::new(ALL, Version::Status).await;
    setting.kubelet.send(&[0x80, 2, 0, 1, 0, 0, 0, 0]).await;
    let status = String::from_utf8(heard(&mut setting.client).await).unwrap();
    assert!(status.contains(r#""reason":"InternalError""#), "{status}");
}

#[tokio::test]
async fn a_client_that_leaves_or_breaks_the_rules_ends_the_connection_to_the_kubelet() {
    for last in [&[CLOSE, 9][..], &[CLOSE], &[CLOSE, 0, 0], &[]] {
        let mut setting = Setting::new(ALL, Version::Status).await;
        match last {
            [] => drop(setting.client),
            last => {
                setting.send_from_client(last).await;
                drop(setting.client);
            }
        }
        setting.kubelet.end().await;
        setting.session.await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_stops_the_kubelet() {
    let mut setting = Setting::new(ALL, Version::Status).await;
    let stdout = setting.stream("stdout");
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let flood = tokio::spawn(async move {
        for _ in 0..64 {
            setting.kubelet.send(&data(stdout, &vec![b'x'; 64 << 10], false)).await;
            counted.fetch_add(1, Ordering::Relaxed);
        }
        setting.kubelet
    });
    // Some buffers are filled, and then no more data is accepted.
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert!(sent.load(Ordering::Relaxed) < 32, "most of 4 MiB was taken");
    let mut read = 0;
    while read < 64 * (64 << 10) {
        read += heard(&mut setting.client).await.len() - 1;
    }
    drop(flood.await.unwrap());
}

#[tokio::test]
async fn large_input_arrives_in_pieces() {
    let mut setting = Setting::new(ALL, Version::Status).await;
    let stdin = setting.stream("stdin");
    let mut large = vec![STDIN];
    large.extend((0..200_000_u32).map(|at| at.to_be_bytes()[3]));
    let said = setting.client.send(Message::Binary(large.clone().into()));
    let taken = async {
        let mut taken = Vec::new();
        while taken.len() < large.len() - 1 {
            let (stream, bytes, _) = setting.kubelet.data().await;
            assert!(stream == stdin && bytes.len() <= 32 << 10);
            taken.extend(bytes);
        }
        taken
    };
    let (said, taken) = tokio::join!(said, taken);
    said.unwrap();
    assert_eq!(taken, large[1..]);
}
