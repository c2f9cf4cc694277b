//! Connections through proxies that run in the tests.

mod http_connect;
mod konnectivity;

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::metrics::Metrics;
use crate::proxy::{Dialer, client_tls};

/// Time for connections that are opened.
const LIMIT: Duration = Duration::from_secs(20);

/// A dialer through a proxy, and its metrics.
struct ThroughProxy {
    dialer: Dialer,
    metrics: Metrics,
}

impl ThroughProxy {
    fn new(server: ProxyServer) -> Self {
        let (resolver, all, metrics) = (
            NameResolver::default(),
            Arc::<EgressMetrics>::default(),
            Metrics::default(),
        );
        all.show_in(&metrics);
        let proxy = EgressProxy::new(server, &resolver, &all);
        Self {
            dialer: Dialer::through(proxy, &resolver),
            metrics,
        }
    }

    /// Opens a connection to a name that only the proxy resolves.
    async fn dial(&self) -> Result<BoxedStream, LinkError> {
        self.dial_within(LIMIT).await
    }

    async fn dial_within(&self, limit: Duration) -> Result<BoxedStream, LinkError> {
        self.dialer
            .dial(&Destination::of_object("node.invalid", 10250), limit)
            .await
    }

    /// The message of a connection that cannot be opened.
    async fn refusal(&self) -> String {
        self.dial().await.map(drop).unwrap_err().to_string()
    }

    /// The series of the metrics, without their buckets and sums.
    fn series(&self) -> Vec<String> {
        let text = self.metrics.text();
        let lines = text.lines().filter(|line| line.starts_with("apiserver_egress_dialer_"));
        let counts = lines.filter(|line| !line.contains("_bucket") && !line.contains("_sum"));
        counts
            .map(|line| line.trim_start_matches("apiserver_egress_dialer_").to_owned())
            .collect()
    }
}

/// Sends more than all buffers hold, and reads it back from a peer that echoes.
async fn echo_much(stream: BoxedStream) {
    let sent: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    let (mut reader, mut writer) = tokio::io::split(stream);
    let expected = sent.clone();
    let writing = async move { writer.write_all(&sent).await.map(|()| writer) };
    let mut received = vec![0; expected.len()];
    let (written, read) = tokio::join!(writing, reader.read_exact(&mut received));
    read.unwrap();
    drop(written.unwrap());
    assert!(received == expected);
}

#[tokio::test]
async fn addresses_that_objects_may_not_name_are_refused_before_the_proxy_is_called() {
    let through = ThroughProxy::new(ProxyServer::HttpSocket("/nonexistent".into()));
    let local = Destination::of_object("127.0.0.1", 80);
    let error = through.dialer.dial(&local, LIMIT).await.map(drop).unwrap_err();
    assert!(matches!(error, LinkError::NotAllowed), "{error}");
    let forged = Destination::of_object("a:1 HTTP/1.1\r\nX: y", 80);
    let error = through.dialer.dial(&forged, LIMIT).await.map(drop).unwrap_err();
    assert!(matches!(error, LinkError::Address), "{error}");
    assert_eq!(through.series(), [""; 0]);
}
