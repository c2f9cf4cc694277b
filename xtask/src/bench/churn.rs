//! The memory that definitions leave behind when they are deleted.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Method;
use planesmith_e2e::Connection;
use tokio::task::JoinSet;

use super::definitions::{DEFINITIONS, MEGABYTE, group, made_up, path_of};
use super::load::Pool;
use super::subject::{Program, Subject};

/// The number of definitions that are created and deleted per round. No name is used twice.
const DEFINITIONS_PER_ROUND: usize = 1_000;

/// The parts of each schema: a definition has about 6 KB.
const PARTS: usize = 4;

/// The number of rounds, and that of a quick run.
const ROUNDS: usize = 10;
const QUICK_ROUNDS: usize = 4;

/// The number of rounds that are not compared: the first one fills caches.
const UNCOMPARED: usize = 1;

/// The path that forgets the history of the store.
const COMPACT: &str = "/planesmith/store/compact";

/// The number of concurrent requests.
const CONCURRENCY: usize = 16;

/// The timeout for one definition to be served, and for all of a round to be gone.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The interval of questions for one definition, and for all of them: an answer about many groups is not cheap.
const PAUSE: Duration = Duration::from_millis(20);
const LONG_PAUSE: Duration = Duration::from_millis(200);

/// Memory is settled when this number of readings, one per interval, differ by at most the tolerance. The allocator returns unused
/// memory after a second, and a merge of the store takes less.
const READINGS: usize = 4;
const INTERVAL: Duration = Duration::from_secs(1);
const TOLERANCE: f64 = 0.005;

/// Maximum number of readings per round; then the last one counts.
const MAX_READINGS: usize = 20;

/// Measures the row `definitions-churn` and the one that depends on it: the least resident memory after one of the latter half of
/// the rounds, divided by that of the former half, and the megabytes after the last one.
///
/// The ratio is of memory without history, which the server keeps for minutes, however many definitions were deleted. A leak raises
/// the least reading as well; free pages of the allocator do not. The megabytes are those with history.
pub(super) async fn measure(program: &Program, quick: bool) -> Result<Vec<(&'static str, f64)>> {
    let (subject, _) = program.start().await?;
    let pool = Pool::open(&subject.endpoint, 4).await?;
    let mut memory = Vec::new();
    let mut with_history = 0.0;
    for round in 0..if quick { QUICK_ROUNDS } else { ROUNDS } {
        let numbers = round * DEFINITIONS_PER_ROUND..(round + 1) * DEFINITIONS_PER_ROUND;
        let began = Instant::now();
        each(&pool, numbers.clone(), create).await?;
        let served = began.elapsed();
        each(&pool, numbers, delete).await?;
        wait_until_deleted(pool.connection(0)).await?;
        let gone = began.elapsed();
        with_history = settled(&subject).await?;
        forget_history(pool.connection(0)).await?;
        memory.push(settled(&subject).await?);
        eprintln!(
            "    round {}: {with_history:.1} MB, {:.1} without history; served after {:.1} s, gone after {:.1} s, settled after {:.1} s",
            round + 1,
            memory[round],
            served.as_secs_f64(),
            gone.as_secs_f64(),
            began.elapsed().as_secs_f64()
        );
    }
    let compared = memory.get(UNCOMPARED..).unwrap_or_default();
    let half = compared.len() / 2;
    let least = |rounds: &[f64]| rounds.iter().copied().reduce(f64::min);
    let former = least(&compared[..half]);
    let (former, latter) = former
        .zip(least(&compared[compared.len() - half..]))
        .context("there are more rounds than the compared ones")?;
    Ok(vec![
        ("definitions-churn", latter / former),
        ("definitions-churn-memory", with_history),
    ])
}

/// Creates a definition, and lists its objects once they are served: from then on it is established.
async fn create(connection: Connection, number: usize) -> Result<()> {
    let body = Bytes::from(made_up(number, PARTS).to_string());
    connection.call(Method::POST, DEFINITIONS, body).await?.expect(201)?;
    let (path, began) = (path_of(number), Instant::now());
    while connection.get(&path).await?.status != 200 {
        ensure!(began.elapsed() < TIMEOUT, "{path} is not served");
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

async fn delete(connection: Connection, number: usize) -> Result<()> {
    let path = format!("{DEFINITIONS}/things.{}", group(number));
    connection.call(Method::DELETE, &path, "").await?.expect(200)?;
    Ok(())
}

/// Waits until no definition is stored, and discovery has none of their groups.
async fn wait_until_deleted(connection: &Connection) -> Result<()> {
    let began = Instant::now();
    let domain = group(0).split_once('.').map(|(_, domain)| domain.to_owned());
    let domain = domain.context("groups have a domain")?;
    loop {
        let stored = connection.get(&format!("{DEFINITIONS}?limit=1")).await?.expect(200)?;
        let groups = connection.get("/apis").await?.expect(200)?;
        let is_stored = stored.json()?["items"].as_array().is_none_or(|items| !items.is_empty());
        if !is_stored && !String::from_utf8_lossy(&groups.body).contains(&domain) {
            return Ok(());
        }
        ensure!(began.elapsed() < TIMEOUT, "deleted definitions are still served");
        tokio::time::sleep(LONG_PAUSE).await;
    }
}

/// Forgets the history of the store, if the server offers that: another than ours may not.
async fn forget_history(connection: &Connection) -> Result<()> {
    let answer = connection.call(Method::POST, COMPACT, "").await?;
    match answer.status.as_u16() {
        404 => Ok(()),
        _ => answer.expect(200).map(drop),
    }
}

/// Returns the resident memory in megabytes once it no longer changes, or after [`MAX_READINGS`].
async fn settled(subject: &Subject) -> Result<f64> {
    let mut readings: Vec<f64> = Vec::new();
    loop {
        tokio::time::sleep(INTERVAL).await;
        let now = subject.processes.memory()?.now as f64 / MEGABYTE;
        readings.push(now);
        if is_steady(&readings) || readings.len() >= MAX_READINGS {
            return Ok(now);
        }
    }
}

/// True if the last [`READINGS`] differ by at most [`TOLERANCE`].
fn is_steady(readings: &[f64]) -> bool {
    let Some(last) = readings.len().checked_sub(READINGS).map(|start| &readings[start..]) else {
        return false;
    };
    let most = last.iter().copied().fold(f64::MIN, f64::max);
    let least = last.iter().copied().fold(f64::MAX, f64::min);
    most - least <= most * TOLERANCE
}

/// Runs `work` for each of `numbers`, [`CONCURRENCY`] at a time.
async fn each<Done>(pool: &Pool, numbers: Range<usize>, work: fn(Connection, usize) -> Done) -> Result<()>
where
    Done: Future<Output = Result<()>> + Send + 'static,
{
    let mut running = JoinSet::new();
    for number in numbers {
        if running.len() == CONCURRENCY
            && let Some(done) = running.join_next().await
        {
            done??;
        }
        running.spawn(work(pool.connection(number).clone(), number));
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_steady_once_the_last_readings_are_close() {
        assert!(!is_steady(&[100.0, 100.0, 100.0]));
        assert!(!is_steady(&[100.0, 101.0, 100.0, 100.0]));
        assert!(is_steady(&[130.0, 100.0, 100.2, 100.0, 100.4]));
    }

    #[test]
    fn a_definition_has_a_few_kilobytes() {
        let length = made_up(7, PARTS).to_string().len();
        assert!((4_000..8_000).contains(&length), "{length} bytes");
    }
}
