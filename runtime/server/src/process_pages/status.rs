//! `/statusz`: the program's version and start time.

use std::collections::BTreeSet;
use std::sync::Arc;

use planesmith_machinery::clock::Clock;
use planesmith_machinery::json;
use planesmith_machinery::time::Time;

use super::{DELIMITERS, ProcessPage, member};
use crate::version::Version;

/// Paths that the page leaves out because they do not help with troubleshooting.
const OTHERWISE_KNOWN: [&str; 5] = ["/apis", "/api", "/openid", "/openapi", "/.well-known"];

/// The status of the running program.
#[derive(Debug)]
pub(super) struct StatusPage {
    started: Time,
    clock: Arc<dyn Clock>,
    version: Version,
    paths: BTreeSet<String>,
}

impl StatusPage {
    /// Returns the page of a program that starts now, by `clock`, and serves `paths` beside the API.
    pub(super) fn new(version: Version, paths: &[String], clock: Arc<dyn Clock>) -> Self {
        let first = |path: &String| {
            let name = path.split('/').nth(1).filter(|name| !name.is_empty())?;
            Some(format!("/{name}"))
        };
        let mut paths: BTreeSet<String> = paths.iter().filter_map(first).collect();
        paths.retain(|path| !OTHERWISE_KNOWN.contains(&path.as_str()));
        Self {
            started: clock.now().into(),
            clock,
            version,
            paths,
        }
    }

    fn uptime(&self) -> i64 {
        let now = Time::from(self.clock.now());
        (now.as_second() - self.started.as_second()).max(0)
    }

    /// The version of the API without its build metadata.
    fn binary_version(&self) -> &str {
        let version = self.version.git_version.trim_start_matches('v');
        version.split_once('+').map_or(version, |(version, _)| version)
    }

    fn emulated_version(&self) -> String {
        format!("{}.{}", self.version.emulation_major, self.version.emulation_minor)
    }
}

impl ProcessPage for StatusPage {
    const NAME: &'static str = "statusz";
    const KIND: &'static str = "Statusz";

    fn render(&self) -> String {
        let uptime = self.uptime();
        let delimiter = DELIMITERS[usize::try_from(uptime).unwrap_or_default() % DELIMITERS.len()];
        let started = self.started.timestamp().unwrap_or_default();
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        let lines = [
            ("Started", started.strftime("%a %b %e %H:%M:%S UTC %Y").to_string()),
            (
                "Up",
                format!(
                    "{} hr {:02} min {:02} sec",
                    uptime / 3600,
                    uptime / 60 % 60,
                    uptime % 60
                ),
            ),
            ("Go version", self.version.go_version.clone()),
            ("Binary version", self.binary_version().to_owned()),
            ("Emulation version", self.emulated_version()),
            ("Paths", paths.join(" ")),
        ];
        let lines = lines.map(|(name, value)| format!("{name}{delimiter} {value}\n"));
        format!("\n{}", lines.concat())
    }

    fn members(&self, out: &mut Vec<u8>) {
        out.push(b',');
        member("startTime", &self.started.to_string(), out);
        out.extend_from_slice(format!(",\"uptimeSeconds\":{},", self.uptime()).as_bytes());
        member("goVersion", &self.version.go_version, out);
        out.push(b',');
        member("binaryVersion", self.binary_version(), out);
        out.push(b',');
        member("emulationVersion", &self.emulated_version(), out);
        out.extend_from_slice(b",\"paths\":");
        json::encode_array(&self.paths, out, |path, out| json::encode_text(path, out));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use planesmith_machinery::clock::ManualClock;

    use super::*;

    /// The page of a program that started `up` seconds ago.
    fn page(up: u64) -> StatusPage {
        let paths = ["/healthz", "/healthz/ping", "/apis/apps", "/metrics", "/"].map(str::to_owned);
        let version = Version {
            go_version: "rustc 1.92.0".to_owned(),
            ..Version::default()
        };
        let clock = Arc::new(ManualClock::new(1_700_000_000_000));
        let page = StatusPage::new(version, &paths, Arc::<ManualClock>::clone(&clock));
        clock.advance(Duration::from_secs(up));
        page
    }

    #[test]
    fn people_read_since_when_it_runs() {
        let text = page(7384).render();
        assert_eq!(
            text,
            "\nStarted: Tue Nov 14 22:13:20 UTC 2023\nUp: 2 hr 03 min 04 sec\nGo version: rustc 1.92.0\nBinary version: 1.36.0\n\
             Emulation version: 1.36\nPaths: /healthz /metrics\n"
        );
    }

    #[test]
    fn no_program_can_rely_on_what_separates_names_and_values() {
        let text = page(2).render();
        assert!(text.contains("\nUp= 0 hr 00 min 02 sec\n"), "{text}");
    }

    #[test]
    fn programs_get_an_object() {
        let mut members = Vec::new();
        page(60).members(&mut members);
        let members = String::from_utf8(members).expect("text");
        assert!(
            members.starts_with(r#","startTime":"2023-11-14T22:13:20Z","uptimeSeconds":60,"goVersion":"rustc 1.92.0","binaryVersion":"1.36.0","#),
            "{members}"
        );
        assert!(
            members.ends_with(r#","emulationVersion":"1.36","paths":["/healthz","/metrics"]"#),
            "{members}"
        );
    }
}
