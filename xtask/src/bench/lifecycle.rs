//! What a server costs before anybody asks it anything, and once it has been used.

use std::time::Duration;

use anyhow::Result;

use super::load::{Pool, Write, Writes};
use super::objects::{self, Sample};
use super::subject::{Program, Subject};

/// How long a server that is ready may still tidy up before it counts as idle.
const SETTLE: Duration = Duration::from_secs(2);

/// How long idling is measured.
const IDLE: Duration = Duration::from_secs(10);

const MEGABYTE: f64 = 1_000_000.0;

/// Milliseconds from the start of the process to its first ready answer, on an empty folder.
pub(crate) async fn start(program: &Program) -> Result<f64> {
    let (_subject, taken) = program.start().await?;
    Ok(taken.as_secs_f64() * 1e3)
}

/// Resident megabytes of a server nobody has used.
pub(crate) async fn idle_memory(subject: &Subject) -> Result<f64> {
    tokio::time::sleep(SETTLE).await;
    megabytes(subject)
}

/// Percent of one core that a server uses while nobody asks it anything.
pub(crate) async fn idle_cpu(subject: &Subject) -> Result<f64> {
    let before = subject.processes.cpu()?;
    tokio::time::sleep(IDLE).await;
    let used = subject.processes.cpu()? - before;
    Ok(used.as_secs_f64() / IDLE.as_secs_f64() * 100.0)
}

/// Resident megabytes after so many objects were created and each was written once more.
pub(crate) async fn used_memory(subject: &Subject, objects: usize) -> Result<f64> {
    subject.prepare().await?;
    let pool = Pool::open(&subject.endpoint, 4).await?;
    for how in [Write::Create, Write::Update] {
        let writes = Writes {
            how,
            sample: Sample::ConfigMap,
            namespace: objects::READ,
            prefix: "",
            objects,
            total: objects,
            writers: 16,
            round: 1,
        };
        writes.run(&pool).await?;
    }
    tokio::time::sleep(SETTLE).await;
    megabytes(subject)
}

fn megabytes(subject: &Subject) -> Result<f64> {
    let memory = subject.processes.memory()?;
    eprintln!(
        "    resident {:.1} MB, at most {:.1} MB",
        memory.now as f64 / MEGABYTE,
        memory.peak as f64 / MEGABYTE
    );
    Ok(memory.now as f64 / MEGABYTE)
}
