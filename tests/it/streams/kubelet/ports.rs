//! Ports of the pod: those in [`SERVED`] echo their input, others refuse connections.

use std::collections::HashMap;
use std::io;

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::spdy::{self, Event};

const SERVED: [&str; 2] = ["80", "443"];

/// Forwards connections until the client ends.
pub(super) async fn forward(stream: TlsStream<TcpStream>) -> io::Result<()> {
    let (mut reader, writer) = spdy::split(stream);
    let mut errors = HashMap::new();
    let mut served = HashMap::new();
    loop {
        match reader.next().await? {
            Event::Open(stream, headers) if headers["streamtype"] == "error" => {
                errors.insert(headers["requestid"].clone(), stream);
            }
            Event::Open(stream, headers) => {
                let error = errors
                    .remove(&headers["requestid"])
                    .expect("the error stream is opened first");
                let port = headers["port"].clone();
                if SERVED.contains(&&*port) {
                    served.insert(stream, (error, port));
                } else {
                    let why = format!("error forwarding port {port} to pod p, uid : connection refused");
                    writer.data(error, why.as_bytes(), true).await?;
                    writer.data(stream, b"", true).await?;
                }
            }
            Event::Data(stream, bytes, is_last) => {
                let Some((error, port)) = served.get(&stream) else {
                    continue;
                };
                if !bytes.is_empty() {
                    let answer = [format!("{port}: ").as_bytes(), &bytes].concat();
                    writer.data(stream, &answer, false).await?;
                }
                if is_last {
                    writer.data(stream, b"", true).await?;
                    writer.data(*error, b"", true).await?;
                }
            }
        }
    }
}
