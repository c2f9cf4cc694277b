//! The workers of the server: the threads that run the tasks of all connections.

use tokio::runtime::Builder;

/// The number of polls of tasks after which a busy worker looks for new requests. A poll of a connection that sends a large
/// list takes up to half a millisecond, so that a request waits for a millisecond or two beside such lists; a look takes
/// one microsecond. The runtime's own default, 61, is made for tasks that take little time.
const POLLS: u32 = 4;

/// Returns the builder of the server's runtime, which has a worker for each core.
pub(crate) fn runtime() -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.enable_all().event_interval(POLLS);
    builder
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Poll;

    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn requests_are_read_between_a_few_polls_of_a_busy_connection() {
        let runtime = runtime().worker_threads(1).build().unwrap();
        let waits = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut connection, _) = listener.accept().await.unwrap();
            let is_read = Arc::new(AtomicBool::new(false));
            let reads = Arc::clone(&is_read);
            tokio::spawn(async move {
                while connection.read_u8().await.is_ok() {
                    reads.store(true, Ordering::Relaxed);
                }
            });
            // It can always go on, as a connection that sends a list to a quick client.
            let busy = tokio::spawn(async move {
                let mut waits = Vec::new();
                for _ in 0..20 {
                    client.write_all(b"r").unwrap();
                    let mut polls = 0;
                    std::future::poll_fn(|cx| {
                        if is_read.swap(false, Ordering::Relaxed) {
                            return Poll::Ready(());
                        }
                        polls += 1;
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    })
                    .await;
                    waits.push(polls);
                }
                waits
            });
            busy.await.unwrap()
        });
        assert!(waits.iter().all(|polls| *polls <= 2 * POLLS), "{waits:?}");
    }
}
