//! Writes with large bodies.

use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::timeout;

use crate::harness::{NOTES, Server};

const MIB: usize = 1 << 20;

/// A note of about `size` bytes.
fn note(name: &str, annotations: &str, size: usize) -> String {
    let text = "x".repeat(size);
    format!(
        r#"{{"apiVersion":"v1","kind":"Note","metadata":{{"name":"{name}","annotations":{annotations}}},"data":{{"text":"{text}"}}}}"#
    )
}

#[tokio::test]
async fn writes_that_wait_for_others_hold_up_nobody() {
    let server = Server::with_places().await;
    server.note("old", "{}").await;
    let old = format!("{NOTES}/old");
    let (new, changed) = (
        note("new", r#"{"waits":""}"#, 2 * MIB),
        note("old", r#"{"waits":""}"#, 2 * MIB),
    );
    let wanted = format!("{old}?fieldManager=m&force=true");
    let mut waiting = FuturesUnordered::new();
    for _ in 0..6 {
        waiting.push(server.post(NOTES, &new).boxed_local());
        waiting.push(server.put(&old, &changed).boxed_local());
        waiting.push(server.patch("merge", &old, &changed).boxed_local());
        waiting.push(server.apply(&wanted, &changed).boxed_local());
    }
    let others = async {
        let _all = server.waiting.acquire_many(24).await;
        server.create(NOTES, &note("large", "{}", 2 * MIB)).await;
        let answer = server.put(&old, &note("old", "{}", 2 * MIB)).await;
        assert_eq!(answer.code, 200, "{}", answer.text);
    };
    tokio::select! {
        done = timeout(Duration::from_secs(60), others) => done.expect("nobody is held up"),
        decided = waiting.next() => panic!("nobody decides: {decided:?}"),
    }
}
