//! Writes that clients make at the same time.

use crate::process::Failure;

const WRITERS: usize = 64;

/// Calls `write` with each number below `writes`, with several writers, and returns the results.
pub(crate) async fn write_all<W>(
    writes: usize,
    write: impl Fn(usize) -> W + Clone + Send + 'static,
) -> Result<Vec<W::Output>, Failure>
where
    W: Future<Output: Send + 'static> + Send,
{
    let tasks = (0..WRITERS).map(|writer| {
        let write = write.clone();
        tokio::spawn(async move {
            let mut results = Vec::new();
            for number in (writer..writes).step_by(WRITERS) {
                results.push(write(number).await);
            }
            results
        })
    });
    let mut all = Vec::with_capacity(writes);
    for task in tasks.collect::<Vec<_>>() {
        all.append(&mut task.await?);
    }
    Ok(all)
}
