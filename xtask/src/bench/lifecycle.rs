//! The cost of starting a server and of idling, unused and used.

use std::time::Duration;

use anyhow::Result;

use super::load::{Pool, Write, Writes};
use super::objects::{self, Sample};
use super::subject::{Program, Subject};

/// The time for background work before a ready server counts as idle.
pub(crate) const SETTLE: Duration = Duration::from_secs(2);

/// The duration of the idle measurement.
const IDLE: Duration = Duration::from_secs(10);

const MEGABYTE: f64 = 1_000_000.0;

/// Returns the milliseconds from process start to the first ready response, on an empty folder.
pub(crate) async fn start(program: &Program) -> Result<f64> {
    let (_subject, taken) = program.start().await?;
    Ok(taken.as_secs_f64() * 1e3)
}

/// Returns the resident memory of an unused server, in megabytes.
pub(crate) async fn idle_memory(subject: &Subject) -> Result<f64> {
    tokio::time::sleep(SETTLE).await;
    megabytes(subject)
}

/// Returns the idle processor load of a server, in percent of one core.
pub(crate) async fn idle_cpu(subject: &Subject) -> Result<f64> {
    let before = subject.processes.cpu()?;
    tokio::time::sleep(IDLE).await;
    let used = subject.processes.cpu()? - before;
    Ok(used.as_secs_f64() / IDLE.as_secs_f64() * 100.0)
}

/// Returns the resident memory in megabytes, after `objects` objects were created and updated once.
pub(crate) async fn used_memory(subject: &Subject, objects: usize) -> Result<f64> {
    subject.prepare().await?;
    let pool = Pool::open(&subject.endpoint, 4).await?;
    for how in [Write::Create, Write::Update] {
        let writes = Writes {
            how,
            round: 1,
            ..Writes::creates(Sample::ConfigMap, objects::READ_NAMESPACE, objects)
        };
        writes.run(&pool).await?;
    }
    tokio::time::sleep(SETTLE).await;
    megabytes(subject)
}

/// Returns the resident memory of a server, in megabytes.
pub(crate) fn megabytes(subject: &Subject) -> Result<f64> {
    let memory = subject.processes.memory()?;
    eprintln!(
        "    resident {:.1} MB, at most {:.1} MB",
        memory.now as f64 / MEGABYTE,
        memory.peak as f64 / MEGABYTE
    );
    Ok(memory.now as f64 / MEGABYTE)
}
