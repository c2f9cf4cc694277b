//! Connections through a konnectivity server: each is one call of its `ProxyService`, over a connection of its own.
//!
//! Reading order: `packet` (the messages), `call` (gRPC), this module (the steps of a connection).

mod call;
pub(super) mod packet;

use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf};
use tokio::time::{sleep, timeout};

use self::call::{Call, Packets, Sender};
use self::packet::Packet;
use super::{ProxyError, connect_socket};
use crate::proxy::LinkError;
use crate::proxy::dialer::BoxedStream;
use crate::task;

/// Maximum time to connect to the server, and then to open a connection, as in kube-apiserver.
const MAX_CONNECT: Duration = Duration::from_secs(30);
const MAX_DIAL: Duration = Duration::from_secs(30);

/// Time before the second attempt to connect to the server, and the factor of later ones, as in Go's gRPC.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const BACKOFF_FACTOR: f64 = 1.6;

/// Maximum time until the server confirms that a connection is closed, as in kube-apiserver.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time for which data waits for its reader, as in kube-apiserver: the packets of all connections of an agent wait behind it.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes that wait for their reader, and the most bytes of a packet that is sent.
const BUFFER: usize = 64 << 10;
const MAX_DATA: usize = 32 << 10;

/// Calls the server at `socket`, within `limit`. A server that cannot be reached is tried again.
///
/// # Errors
///
/// The server could not be reached in time.
pub(super) async fn connect(socket: &Path, limit: Duration) -> Result<Call, LinkError> {
    let (begin, limit) = (Instant::now(), limit.min(MAX_CONNECT));
    let mut pause = FIRST_PAUSE;
    loop {
        let remaining = limit.saturating_sub(begin.elapsed());
        let connecting = async { Call::open(connect_socket(socket).await?).await };
        let failure = match timeout(remaining, connecting).await {
            Err(_) => return Err(LinkError::Late),
            Ok(Ok(call)) => return Ok(call),
            Ok(Err(failure)) => failure,
        };
        let remaining = limit.saturating_sub(begin.elapsed());
        sleep(pause.min(remaining)).await;
        if pause >= remaining {
            return Err(ProxyError::Unreachable(Box::new(failure)).into());
        }
        pause = pause.mul_f64(BACKOFF_FACTOR);
    }
}

/// Requests a connection to `address` over `call`, and returns it.
///
/// # Errors
///
/// The destination cannot be reached, or the server did not answer within `limit`.
pub(super) async fn dial(mut call: Call, address: &str, limit: Duration) -> Result<BoxedStream, ProxyError> {
    // Positive, as the server's generated code has it.
    let random = fastrand::i64(1..);
    let address = address.to_owned();
    let request = Packet::DialRequest { address, random };
    if !call.sender.send(&request).await {
        return Err(ProxyError::TunnelClosed);
    }
    match timeout(limit.min(MAX_DIAL), answer(&mut call.packets, random)).await {
        Ok(connection) => {
            let connection = connection?;
            let (local, remote) = tokio::io::duplex(BUFFER);
            task::spawn(relay(call, connection, remote));
            Ok(Box::new(local))
        }
        Err(_) => {
            task::spawn(async move {
                call.sender.send(&Packet::CloseDial { random }).await;
                call.close().await;
            });
            Err(if limit < MAX_DIAL {
                ProxyError::Late
            } else {
                ProxyError::Backstop
            })
        }
    }
}

/// Waits for the answer to the request `random`, and returns the number of its connection.
async fn answer(packets: &mut Packets, random: i64) -> Result<i64, ProxyError> {
    while let Some(bytes) = packets.next().await {
        match Packet::decode(&bytes) {
            Ok(Packet::DialResponse {
                error,
                connection,
                random: answered,
            }) if answered == random => {
                return match error.is_empty() {
                    true => Ok(connection),
                    false => Err(ProxyError::Endpoint(error)),
                };
            }
            Ok(Packet::CloseDial { random: closed }) if closed == random => return Err(ProxyError::DialClosed),
            Ok(Packet::DialResponse { .. } | Packet::CloseDial { .. }) | Err(_) => break,
            Ok(_) => {}
        }
    }
    Err(ProxyError::TunnelClosed)
}

/// Relays data in both directions until one side closes the connection. The protocol has no half-closed connections: after the
/// end of the data to the server, only that which is under way arrives.
async fn relay(mut call: Call, connection: i64, local: DuplexStream) {
    let (reader, writer) = tokio::io::split(local);
    let mut outward = pin!(send(reader, &call.sender, connection));
    let mut inward = pin!(receive(&mut call.packets, writer, &call.sender, connection));
    tokio::select! {
        () = &mut inward => {}
        () = &mut outward => {
            if timeout(CLOSE_TIMEOUT, &mut inward).await.is_err() {
                tracing::debug!(connection, "a konnectivity server did not confirm that a connection is closed");
            }
        }
    }
}

/// Sends data until its end, and closes the connection then.
async fn send(mut reader: ReadHalf<DuplexStream>, sender: &Sender, connection: i64) {
    let mut data = vec![0; MAX_DATA];
    while let Ok(count @ 1..) = reader.read(&mut data).await {
        let packet = Packet::Data {
            connection,
            data: bytes::Bytes::copy_from_slice(&data[..count]),
        };
        if !sender.send(&packet).await {
            return;
        }
    }
    sender.send(&Packet::CloseRequest { connection }).await;
}

/// Passes data on until the server closes the connection.
async fn receive(packets: &mut Packets, mut writer: WriteHalf<DuplexStream>, sender: &Sender, connection: i64) {
    while let Some(bytes) = packets.next().await {
        match Packet::decode(&bytes) {
            Ok(Packet::Data {
                connection: number,
                data,
            }) if number == connection => {
                // An error means that nothing reads any more; the closed connection ends the call.
                if timeout(READ_TIMEOUT, writer.write_all(&data)).await.is_err() {
                    return tracing::warn!(
                        connection,
                        "data of a connection through a konnectivity server is not read"
                    );
                }
            }
            Ok(Packet::Data { connection: number, .. }) if number != 0 => {
                sender.send(&Packet::CloseRequest { connection: number }).await;
            }
            Ok(Packet::CloseResponse {
                connection: number,
                error,
            }) if number == connection => {
                if !error.is_empty() {
                    tracing::debug!(connection, error, "a connection through a konnectivity server broke");
                }
                return;
            }
            Ok(Packet::CloseDial { .. } | Packet::DialResponse { .. }) => return,
            Ok(_) => {}
            Err(error) => return tracing::warn!(%error, "a konnectivity server sent a packet that cannot be read"),
        }
    }
}
