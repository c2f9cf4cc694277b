//! Terminal sessions as test data: commands and their expected output.
//!
//! ```text
//! $ kubectl get configmap $NAME --no-headers
//! $NAME 2 [..]
//! $ kubectl get configmap nowhere
//! Error from server (NotFound): configmaps "nowhere" not found
//! ? 1
//! ```
//!
//! `$ ` starts a command and `> ` continues it; bash runs it with both outputs combined. The lines after it are the expected
//! output: `[..]` matches any text within a line, a line `...` any lines, `$NAME` the variable's value, and consecutive blanks
//! count as one. Blank lines are ignored. `? 1` is the exit status if it is not 0. `# ` starts a comment.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use planesmith_e2e::Home;
use tokio::process::Command;

/// The time limit of a command.
const COMMAND_WITHIN: Duration = Duration::from_secs(180);

/// The message of kubectl 1.30 to 1.33 if the first message of a stream, which is empty, arrives before they are ready for it.
const EARLY_MESSAGE: &str = "Unknown stream id 1, discarding message";

/// A session to run.
#[derive(Debug)]
pub(crate) struct Transcript {
    name: &'static str,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    line: usize,
    script: String,
    output: Vec<String>,
    status: i32,
}

impl Transcript {
    /// Parses `text`; `name` is the file name, for messages.
    pub(crate) fn read(name: &'static str, text: &str) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if let Some(script) = line.strip_prefix("$ ") {
                let script = script.to_owned();
                steps.push(Step {
                    line: number + 1,
                    script,
                    output: Vec::new(),
                    status: 0,
                });
                continue;
            }
            if line.trim().is_empty() || line.starts_with("# ") || line == "#" {
                continue;
            }
            let step = steps
                .last_mut()
                .unwrap_or_else(|| panic!("{name}: begins without a command"));
            if line == ">" || line.starts_with("> ") {
                step.script = format!("{}\n{}", step.script, line.get(2..).unwrap_or(""));
            } else if let Some(status) = line.strip_prefix("? ") {
                step.status = status.trim().parse().expect("an exit status is a number");
            } else {
                step.output.push(line.to_owned());
            }
        }
        Self { name, steps }
    }

    /// Runs the session as a client with the home `home`, with `variables` in the environment.
    ///
    /// # Panics
    ///
    /// The output differs; the message lists all differences of the session.
    pub(crate) async fn play(&self, home: &Home, variables: &[(&str, &str)]) {
        let mut differences = String::new();
        for step in &self.steps {
            let (output, status) = run(home, &step.script, variables).await;
            let expected = step.output.iter().map(|line| fill(line, variables));
            let expected: Vec<_> = expected.filter(|line| !line.is_empty()).collect();
            let got = output.lines().filter(|line| !line.ends_with(EARLY_MESSAGE));
            let got: Vec<_> = got.map(squeeze).filter(|line| !line.is_empty()).collect();
            if status != step.status || !lines_match(&expected, &got) {
                differences += &format!(
                    "\n{}:{}: {}\n  expected, status {}:\n    {}\n  got, status {status}:\n    {}\n",
                    self.name,
                    step.line,
                    fill(&step.script, variables),
                    step.status,
                    expected.join("\n    "),
                    got.join("\n    "),
                );
            }
        }
        assert!(
            differences.is_empty(),
            "{differences}\nserver log:\n{}",
            tail(&home.log())
        );
    }
}

/// Runs `script` in bash; returns its output and its exit status.
pub(crate) async fn run(home: &Home, script: &str, variables: &[(&str, &str)]) -> (String, i32) {
    let mut bash = at_home("bash", home);
    bash.args(["-c", &format!("exec 2>&1; set -o pipefail\n{script}")])
        .envs(variables.iter().copied())
        .kill_on_drop(true);
    let Ok(output) = tokio::time::timeout(COMMAND_WITHIN, bash.output()).await else {
        return (format!("still running after {COMMAND_WITHIN:?}"), -1);
    };
    let output = output.expect("bash can be started");
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        output.status.code().unwrap_or(-1),
    )
}

/// Returns a command that uses the server of `home`, isolated from the user's locale, `KUBE*` variables and proxies.
pub(crate) fn at_home(program: impl AsRef<OsStr>, home: &Home) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(home.path())
        .env("HOME", home.path())
        .env("KUBECONFIG", home.kubeconfig())
        .env("PATH", path_with_kubectl())
        .env("LC_ALL", "C.UTF-8");
    for (name, _) in std::env::vars_os() {
        let lowercase = name.to_string_lossy().to_lowercase();
        if lowercase.ends_with("_proxy") || (lowercase.starts_with("kube") && lowercase != "kubeconfig") {
            command.env_remove(&name);
        }
    }
    command
}

/// Returns the search path for commands. It starts with the folder `PLANESMITH_KUBECTL`, for tests with other versions of
/// kubectl.
pub(crate) fn path_with_kubectl() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    std::env::var("PLANESMITH_KUBECTL").map_or(path.clone(), |folder| format!("{folder}:{path}"))
}

/// True if kubectl is installed.
pub(crate) fn has_kubectl() -> bool {
    std::env::split_paths(&path_with_kubectl()).any(|folder: PathBuf| folder.join("kubectl").is_file())
}

fn tail(log: &str) -> String {
    let lines: Vec<_> = log.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

/// Replaces `$NAME` in `line` by the value of each variable, longest names first.
fn fill(line: &str, variables: &[(&str, &str)]) -> String {
    let mut variables = variables.to_vec();
    variables.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let line = variables.iter().fold(line.to_owned(), |line, (name, value)| {
        line.replace(&format!("${name}"), value)
    });
    squeeze(&line)
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True if `got` matches `expected`.
fn lines_match(expected: &[String], got: &[String]) -> bool {
    match expected.split_first() {
        None => got.is_empty(),
        Some((any, rest)) if any == "..." => (0..=got.len()).any(|skip| lines_match(rest, &got[skip..])),
        Some((pattern, rest)) => got
            .split_first()
            .is_some_and(|(line, got)| line_matches(pattern, line) && lines_match(rest, got)),
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let Some((start, rest)) = pattern.split_once("[..]") else {
        return pattern == line;
    };
    let Some(line) = line.strip_prefix(start) else {
        return false;
    };
    let ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    ends.into_iter().any(|at| line_matches(rest, &line[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(expected: &str, got: &str) -> bool {
        let lines = |text: &str| text.lines().map(squeeze).collect::<Vec<_>>();
        lines_match(&lines(expected), &lines(got))
    }

    #[test]
    fn wildcards_stand_for_text_and_lines() {
        assert!(matches("NAME AGE\nx [..]s", "NAME   AGE\nx      12s"));
        assert!(matches("...\nKind: x\n...", "Name: a\nKind: x\nLabels: b"));
        assert!(!matches("...\nKind: x", "Name: a\nKind: x\nLabels: b"));
        assert!(!matches("x [..]s", "x 12m"));
        assert!(matches("deleted[..]", "deleted"));
    }

    #[test]
    fn a_session_has_commands_outputs_and_statuses() {
        let read = Transcript::read("x", "# note\n$ cat <<A\n> one\n> A\none\n\n$ false\n? 1\n");
        assert_eq!(read.steps.len(), 2);
        assert_eq!(read.steps[0].script, "cat <<A\none\nA");
        assert_eq!(read.steps[0].output, ["one"]);
        assert_eq!((read.steps[1].line, read.steps[1].status), (7, 1));
    }
}
