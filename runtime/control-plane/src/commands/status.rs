//! `status`: reports if a server runs, its address, and its health.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use http::{StatusCode, Uri};
use http_body_util::BodyExt as _;
use planesmith_server::proxy::{ClientIdentity, Destination, Dialer, Link, Target, client_tls, fetch};
use tokio::runtime::Handle;

use super::config::Folders;
use crate::program::Program;
use crate::running::Running;

/// The longest time the server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Reports if the server of a data folder runs, its address, and its health.
///
/// Exits with 0 if it is ready for requests, and with 1 if it is not.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Status {
    #[command(flatten)]
    folders: Folders,
}

/// The answer of the server's health check.
struct Health {
    /// Names of checks that passed.
    passed: usize,
    /// Names of the checks that failed.
    failed: Vec<String>,
}

impl Status {
    pub(super) fn run(&self, program: &Program, runtime: &Handle) -> Result<()> {
        let data_dir = &self.folders.data_dir;
        let running = Running::read(data_dir)?;
        let shown = data_dir.display();
        let Some(running) = running else {
            if !data_dir.exists() {
                bail!(
                    "there is no folder {shown}; start {} with --data-dir {shown}, or name the folder of another server",
                    program.name
                );
            }
            bail!("no server runs on {shown}");
        };
        if !running.is_alive() {
            bail!(
                "no server runs on {shown}; the last one, process {}, crashed or was killed",
                running.pid
            );
        }
        let health = runtime.block_on(probe(&running));
        super::print(describe(&running, data_dir, health.as_ref().ok()).as_bytes())?;
        let health = health.with_context(|| format!("{} does not answer", running.url))?;
        match health.failed.as_slice() {
            [] => Ok(()),
            failed => bail!("the server is not ready: {}", failed.join(", ")),
        }
    }
}

/// Describes a server for people.
fn describe(running: &Running, data_dir: &Path, health: Option<&Health>) -> String {
    let mut text = format!("{} {}\n", running.name, running.version);
    let store = match &running.store_folder {
        Some(folder) => format!("{}, {}", running.store, size(bytes_in(folder))),
        None => running.store.clone(),
    };
    let ready = match health {
        None => "unknown".to_owned(),
        Some(Health { passed, failed }) if failed.is_empty() => format!("yes, {passed} checks passed"),
        Some(Health { passed, failed }) => format!("no, {} of {} checks failed", failed.len(), passed + failed.len()),
    };
    for (what, value) in [
        ("at", running.url.clone()),
        ("process", format!("{}, since {}", running.pid, running.since)),
        ("data", data_dir.display().to_string()),
        ("store", store),
        ("ready", ready),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {what:<8} {value}");
    }
    text
}

async fn probe(running: &Running) -> Result<Health> {
    let url: Uri = running.url.parse()?;
    let target = Target {
        secure: true,
        destination: Destination::unrestricted(
            url.host().unwrap_or_default().trim_matches(['[', ']']),
            url.port_u16().unwrap_or(443),
        ),
        path: "/readyz".to_owned(),
        query: "verbose".to_owned(),
    };
    let identity = ClientIdentity {
        certificate: running.client_certificate.clone().into(),
        key: running.client_key.clone().into(),
    };
    let tls = client_tls(Some(&running.authority), Some(&identity))?;
    let link = Link::new(tls, TIMEOUT, &Dialer::default());
    let answer = async {
        let response = fetch(&target, &link).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        anyhow::Ok((status, String::from_utf8_lossy(&body).into_owned()))
    };
    let (status, body) = tokio::time::timeout(TIMEOUT, answer)
        .await
        .context("no answer in time")??;
    match status {
        StatusCode::OK | StatusCode::INTERNAL_SERVER_ERROR => Ok(Health::read(&body)),
        status => bail!("its health check was answered with {status}"),
    }
}

impl Health {
    /// Parses the answer to `/readyz?verbose`.
    fn read(answer: &str) -> Self {
        let failed = answer.lines().filter_map(|line| line.strip_prefix("[-]"));
        let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        Self {
            passed: answer.lines().filter(|line| line.starts_with("[+]")).count(),
            failed: failed.map(name).collect(),
        }
    }
}

/// Returns the size of the files below a folder, in bytes; unreadable entries count as nothing.
fn bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// Formats a number of bytes for people.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    let (mut number, mut unit) = (bytes, 0);
    while number >= 10 * 1024 && unit + 1 < UNITS.len() {
        number /= 1024;
        unit += 1;
    }
    format!("{number} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_told_apart() {
        let health =
            Health::read("[+]ping ok\n[-]poststarthook/a failed: reason withheld\n[+]log ok\nreadyz check failed\n");
        assert_eq!((health.passed, health.failed), (2, vec!["poststarthook/a".to_owned()]));
    }

    #[test]
    fn sizes_are_for_people() {
        for (bytes, shown) in [
            (0, "0 B"),
            (10_239, "10239 B"),
            (10_240, "10 KiB"),
            (200 << 20, "200 MiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
