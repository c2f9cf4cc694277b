//! Flags about the streams of the log, which the feature LoggingAlphaOptions permits.

use clap::{ArgAction, Args};
use planesmith_machinery::go_format;
use planesmith_machinery::quantity::Quantity;

use super::LogFormat;
use crate::feature_gates::FeatureGates;

/// The feature without which other values than the defaults are refused.
const ALPHA_OPTIONS: &str = "LoggingAlphaOptions";

/// Flags about the streams of the log.
#[derive(Args, Clone, Debug)]
pub struct LogStreamOptions {
    /// With the text format, write errors to standard error and everything else to standard output (feature LoggingAlphaOptions)
    /// [default: all to standard error].
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, hide_default_value = true, value_name = "BOOL")]
    pub log_text_split_stream: bool,

    /// Accepted for compatibility (feature LoggingAlphaOptions): log lines are written at once.
    #[arg(long, default_value = "0", value_name = "QUANTITY")]
    pub log_text_info_buffer_size: Quantity,

    /// With the JSON format, write errors to standard error and everything else to standard output (feature LoggingAlphaOptions)
    /// [default: all to standard error].
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, hide_default_value = true, value_name = "BOOL")]
    pub log_json_split_stream: bool,

    /// Accepted for compatibility (feature LoggingAlphaOptions): log lines are written at once.
    #[arg(long, default_value = "0", value_name = "QUANTITY")]
    pub log_json_info_buffer_size: Quantity,
}

impl LogStreamOptions {
    /// Returns true if errors of a log in `format` have a stream of their own.
    #[must_use]
    pub fn splits(&self, format: LogFormat) -> bool {
        match format {
            LogFormat::Text => self.log_text_split_stream,
            LogFormat::Json => self.log_json_split_stream,
        }
    }

    /// Checks the flags with the features that are on, in kube-apiserver's words.
    pub(super) fn check(&self, gates: &FeatureGates) -> Result<(), String> {
        let options = [
            ("text.splitStream", self.log_text_split_stream),
            ("text.infoBufferSize", !self.log_text_info_buffer_size.is_zero()),
            ("json.splitStream", self.log_json_split_stream),
            ("json.infoBufferSize", !self.log_json_info_buffer_size.is_zero()),
        ];
        let set = options.iter().filter(|(_, is_set)| *is_set);
        let problems: Vec<String> = set
            .map(|(option, _)| format!("options.{option}: Forbidden: Feature {ALPHA_OPTIONS} is disabled"))
            .collect();
        match problems.is_empty() || gates.enabled(ALPHA_OPTIONS) {
            true => Ok(()),
            false => Err(go_format::aggregate(&problems)),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::options::Options;

    fn parsed(flags: &[&str]) -> Options {
        Options::try_parse_from(["server"].iter().chain(flags)).unwrap()
    }

    #[test]
    fn streams_of_the_log_need_their_feature() {
        let options = parsed(&["--log-text-split-stream", "--log-json-info-buffer-size=4Ki"]);
        let problem = "[options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled, \
                       options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled]";
        assert_eq!(options.check(), Err(problem.to_owned()));
        let on = "--feature-gates=LoggingAlphaOptions=true";
        assert_eq!(parsed(&["--log-text-split-stream", on]).check(), Ok(()));
        let defaults = parsed(&["--log-text-split-stream=false", "--log-json-info-buffer-size=0"]);
        assert_eq!(defaults.check(), Ok(()));
    }

    #[test]
    fn each_format_has_its_own_switch() {
        let streams = parsed(&["--log-json-split-stream"]).log_streams;
        assert!(streams.splits(LogFormat::Json) && !streams.splits(LogFormat::Text));
    }
}
