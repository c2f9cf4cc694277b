//! The outcome of a command, as the error channel reports it: a Status without kind and version.

use planesmith_machinery::go_format::quote;
use planesmith_machinery::json::encode_text;
use serde::Deserialize;

use super::kubelet::Version;

const NON_ZERO_EXIT_CODE: &str = "NonZeroExitCode";
const EXIT_CODE: &str = "ExitCode";

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    /// The exit code of the command.
    Exit(u8),
    /// Any other failure.
    Internal(String),
}

/// The report of a kubelet on its error stream.
#[derive(Deserialize)]
struct RemoteStatus {
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
    details: Option<RemoteDetails>,
}

#[derive(Deserialize)]
struct RemoteDetails {
    #[serde(default)]
    causes: Vec<RemoteCause>,
}

#[derive(Deserialize)]
struct RemoteCause {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
}

impl Outcome {
    /// Reads the content of the error stream; `is_whole` if the kubelet has ended it.
    pub(super) fn read(version: Version, message: &[u8], is_whole: bool) -> Self {
        let text = || String::from_utf8_lossy(message);
        if message.is_empty() {
            // Kubelets of these versions report success explicitly.
            return match version == Version::Status && !is_whole {
                true => Self::Internal("error reading from error stream: unexpected EOF".to_owned()),
                false => Self::Success,
            };
        }
        if version < Version::Status {
            return Self::Internal(format!("error executing remote command: {}", text()));
        }
        let wrong = |why: String| Self::Internal(format!("error stream protocol error: {why}"));
        let status: RemoteStatus = match serde_json::from_slice(message) {
            Ok(status) => status,
            Err(error) => return wrong(format!("{error} in {}", quote(&text()))),
        };
        match status.status.as_str() {
            "Success" => Self::Success,
            "Failure" if status.reason == NON_ZERO_EXIT_CODE => {
                let Some(details) = status.details else {
                    return wrong("details must be set".to_owned());
                };
                let code = details.causes.iter().find(|cause| cause.reason == EXIT_CODE);
                match code.map(|cause| (cause.message.parse(), &cause.message)) {
                    Some((Ok(code), _)) => Self::Exit(code),
                    Some((Err(_), text)) => wrong(format!("invalid exit code value {}", quote(text))),
                    None => wrong(format!("no {EXIT_CODE} cause given")),
                }
            }
            "Failure" => Self::Internal(status.message),
            _ => wrong("unknown error".to_owned()),
        }
    }

    /// The Status as Go encodes it.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut out = br#"{"metadata":{},"status":"#.to_vec();
        let mut part = |before: &str, text: &str| {
            out.extend_from_slice(before.as_bytes());
            encode_text(text, &mut out);
        };
        match self {
            Self::Success => {
                part("", "Success");
                out.extend_from_slice(b"}");
            }
            Self::Exit(code) => {
                let why = "command terminated with non-zero exit code: command terminated with exit code";
                part("", "Failure");
                part(r#","message":"#, &format!("{why} {code}"));
                part(r#","reason":"#, NON_ZERO_EXIT_CODE);
                part(r#","details":{"causes":[{"reason":"#, EXIT_CODE);
                part(r#","message":"#, &code.to_string());
                out.extend_from_slice(b"}]}}");
            }
            Self::Internal(why) => {
                part("", "Failure");
                part(r#","message":"#, &format!("Internal error occurred: {why}"));
                part(r#","reason":"#, "InternalError");
                part(r#","details":{"causes":[{"message":"#, why);
                out.extend_from_slice(br#"}]},"code":500}"#);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Outcome {
        Outcome::read(Version::Status, message.as_bytes(), true)
    }

    #[test]
    fn answers_of_a_kubelet_are_read_as_clients_do() {
        let internal = |why: &str| Outcome::Internal(why.to_owned());
        assert_eq!(read(r#"{"metadata":{},"status":"Success"}"#), Outcome::Success);
        let exit = |code: &str| {
            let causes = format!(
                r#"{{"causes":[{{"reason":"Other","message":"1"}},{{"reason":"ExitCode","message":"{code}"}}]}}"#
            );
            read(&format!(
                r#"{{"status":"Failure","reason":"NonZeroExitCode","details":{causes}}}"#
            ))
        };
        assert_eq!(exit("3"), Outcome::Exit(3));
        assert_eq!(
            exit("256"),
            internal("error stream protocol error: invalid exit code value \"256\"")
        );
        let failure = r#"{"status":"Failure","message":"out of cloth","reason":"InternalError"}"#;
        assert_eq!(read(failure), internal("out of cloth"));
        let failure = r#"{"status":"Failure","reason":"NonZeroExitCode"}"#;
        assert_eq!(
            read(failure),
            internal("error stream protocol error: details must be set")
        );
        let failure = r#"{"status":"Failure","reason":"NonZeroExitCode","details":{}}"#;
        assert_eq!(
            read(failure),
            internal("error stream protocol error: no ExitCode cause given")
        );
        assert_eq!(read("{}"), internal("error stream protocol error: unknown error"));
        let Outcome::Internal(why) = read("no JSON") else {
            panic!("it is none")
        };
        assert!(
            why.starts_with("error stream protocol error: ") && why.ends_with(" in \"no JSON\""),
            "{why}"
        );
    }

    #[test]
    fn older_kubelets_say_errors_as_text() {
        let text = Outcome::read(Version::Resize, b"no", true);
        assert_eq!(text, Outcome::Internal("error executing remote command: no".to_owned()));
        assert_eq!(Outcome::read(Version::Text, b"", false), Outcome::Success);
        assert_eq!(Outcome::read(Version::Status, b"", true), Outcome::Success);
        let broken = Outcome::read(Version::Status, b"", false);
        assert_eq!(
            broken,
            Outcome::Internal("error reading from error stream: unexpected EOF".to_owned())
        );
    }

    #[test]
    fn clients_get_the_status_of_kube_apiserver() {
        let json = |outcome: Outcome| String::from_utf8(outcome.to_json()).unwrap();
        assert_eq!(json(Outcome::Success), r#"{"metadata":{},"status":"Success"}"#);
        assert_eq!(
            json(Outcome::Exit(3)),
            r#"{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: command terminated with exit code 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}"#
        );
        assert_eq!(
            json(Outcome::Internal("<\"no\">".to_owned())),
            r#"{"metadata":{},"status":"Failure","message":"Internal error occurred: \u003c\"no\"\u003e","reason":"InternalError","details":{"causes":[{"message":"\u003c\"no\"\u003e"}]},"code":500}"#
        );
    }
}
