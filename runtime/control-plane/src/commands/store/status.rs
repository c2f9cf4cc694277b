//! `store status`: the size and the state of a store.

use std::fmt::Write as _;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use http::Method;
use serde_json::{Value, json};

use super::remote::ServerFlags;
use super::work::Work;
use super::{check, report};
use crate::store_api::STATUS;

/// Reports revisions, objects, size, history and alarms of the store of a server, running or stopped.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Status {
    #[command(flatten)]
    server: ServerFlags,

    /// Output for people, or for programs.
    #[arg(short = 'o', long, value_enum, default_value = "text", value_name = "FORMAT")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
}

impl Status {
    pub(super) fn run(&self, work: &Work<'_>) -> Result<()> {
        let status = match self.server.server()? {
            Some(server) => server.json(Method::GET, STATUS, work)?,
            None => self.of_stopped(work)?,
        };
        match self.output {
            Output::Json => report::say(&serde_json::to_string_pretty(&status)?),
            Output::Text => crate::commands::print(describe(&status).as_bytes()),
        }
    }

    /// Reads the store in the data folder. Its fields are those of a running server.
    fn of_stopped(&self, work: &Work<'_>) -> Result<Value> {
        use crate::store_scheme::OpenStore as _;
        let (found, folder) = check::inspect(&self.server.data_dir, work)?;
        let damaged = found.files.iter().filter(|file| file.damage.is_some()).count();
        let mut alarms = Vec::new();
        if damaged > 0 {
            let reason = format!("{damaged} files are damaged; `store check` lists them");
            alarms.push(json!({"kind": "damaged", "reason": reason}));
        }
        Ok(json!({
            "running": false,
            "program": work.program.name,
            "place": folder.place(),
            "revision": found.revision.0,
            "oldestRevision": found.oldest.0,
            "objects": found.states.len(),
            "bytes": found.states.iter().map(|state| state.size()).sum::<u64>(),
            "diskBytes": found.bytes,
            "alarms": alarms,
        }))
    }
}

/// Describes a store for people.
fn describe(status: &Value) -> String {
    let number = |name: &str| status[name].as_u64().unwrap_or_default();
    let text = |name: &str| status[name].as_str().unwrap_or_default().to_owned();
    let mut out = format!("{}\n", text("place"));
    let history = match status["historySeconds"].as_u64() {
        Some(seconds) => format!("after revision {}, {seconds} s at most", number("oldestRevision")),
        None => format!("after revision {}", number("oldestRevision")),
    };
    let mut lines = vec![
        (
            "state",
            if status["running"] == true {
                "running".to_owned()
            } else {
                "stopped".to_owned()
            },
        ),
        ("revision", number("revision").to_string()),
        ("history", history),
        (
            "objects",
            format!("{}, {}", number("objects"), report::size(number("bytes"))),
        ),
        ("on disk", report::size(number("diskBytes"))),
    ];
    let alarms = status["alarms"].as_array().map_or(&[][..], Vec::as_slice);
    if alarms.is_empty() {
        lines.push(("alarms", "none".to_owned()));
    }
    for alarm in alarms {
        let part = |name: &str| alarm[name].as_str().unwrap_or_default();
        lines.push(("alarm", format!("{}: {}", part("kind"), part("reason"))));
    }
    for (name, value) in lines {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {name:<9} {value}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_described_for_people() {
        let status = json!({
            "running": true, "place": "data/store", "revision": 812, "oldestRevision": 3, "historySeconds": 300,
            "objects": 7, "bytes": 9000, "diskBytes": 25_000_000,
            "alarms": [{"kind": "no-space", "reason": "the disk is full"}],
        });
        let expected = "data/store\n  state     running\n  revision  812\n  history   after revision 3, 300 s at most\n  \
            objects   7, 9000 bytes\n  on disk   25.0 MB\n  alarm     no-space: the disk is full\n";
        assert_eq!(describe(&status), expected);
    }
}
