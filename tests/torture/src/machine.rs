//! Time limits for work that shares its processors with other programs.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// The times for which the threads of this program were ready and had no processor, by their ids.
type Waits = HashMap<String, Duration>;

/// Performs `work` within `limit`; `None` if it takes longer. The time does not count for which a thread of this program waited for
/// a processor meanwhile: a machine that is busy with other programs delays all that the work depends on at least as long.
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let (begin, before) = (Instant::now(), waits());
    let over = async {
        loop {
            let left = left(limit, begin.elapsed(), delay(&before, &waits()));
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = over => None,
    }
}

/// The rest of `limit` after `elapsed`, of which `delay` does not count.
fn left(limit: Duration, elapsed: Duration, delay: Duration) -> Duration {
    (limit + delay).saturating_sub(elapsed)
}

/// The wait of the thread that waited longest between `before` and `now`.
fn delay(before: &Waits, now: &Waits) -> Duration {
    let waited = now
        .iter()
        .map(|(thread, wait)| wait.saturating_sub(before.get(thread).copied().unwrap_or_default()));
    waited.max().unwrap_or_default()
}

/// Reads the waits of all threads; empty where the kernel does not count them.
fn waits() -> Waits {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let waits = threads.filter_map(|thread| {
        let statistics = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let waited = statistics.split_whitespace().nth(1)?.parse().ok()?;
        let name = thread.file_name().into_string().ok()?;
        Some((name, Duration::from_nanos(waited)))
    });
    waits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn work_has_its_time_and_no_more() {
        assert_eq!(within(SECOND, std::future::ready(7)).await, Some(7));
        let begin = Instant::now();
        assert_eq!(within(SECOND / 10, std::future::pending::<()>()).await, None);
        assert!(begin.elapsed() >= SECOND / 10);
    }

    #[test]
    fn the_longest_wait_of_a_thread_does_not_count() {
        let waits = |waits: &[(&str, u32)]| -> Waits {
            let waits = waits
                .iter()
                .map(|(thread, seconds)| ((*thread).to_owned(), SECOND * *seconds));
            waits.collect()
        };
        let before = waits(&[("1", 10), ("2", 3), ("ended", 90)]);
        let now = waits(&[("1", 11), ("2", 5), ("new", 1)]);
        assert_eq!(delay(&before, &now), 2 * SECOND);
        assert_eq!(left(5 * SECOND, 6 * SECOND, 2 * SECOND), SECOND);
        assert_eq!(left(5 * SECOND, 8 * SECOND, 2 * SECOND), Duration::ZERO);
        assert_eq!(delay(&before, &Waits::new()), Duration::ZERO);
    }
}
