//! Flags about metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use planesmith_machinery::configuration_file::{self, ConfigurationFileError};
use planesmith_server::metrics::MetricsSelection;

/// The version of Kubernetes before the one that is served.
const PREVIOUS_VERSION: &str = "1.35";

/// Flags about metrics.
#[derive(Args, Clone, Debug)]
pub struct MetricsOptions {
    /// Metrics that are not served, by their full names.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub disabled_metrics: Vec<String>,

    /// Values of a label that are served; others are added up under the value `unexpected`. With several metrics or labels,
    /// each is in quotes: '"METRIC,LABEL=VALUES","METRIC,LABEL=VALUES"'.
    #[arg(long, value_parser = parse_allowed, value_name = "METRIC,LABEL=VALUES")]
    pub allow_metric_labels: Vec<AllowedLabels>,

    /// File with the values of labels that are served, in YAML: "METRIC,LABEL": "VALUES". Not together with --allow-metric-labels.
    #[arg(long, value_name = "FILE")]
    pub allow_metric_labels_manifest: Option<PathBuf>,

    /// Serve metrics that this version hides and the given previous one does not: 1.35. There are none at present.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "VERSION")]
    pub show_hidden_metrics_for_version: String,
}

/// The allowed values, separated by commas, by `METRIC,LABEL`.
pub type AllowedLabels = BTreeMap<String, String>;

impl MetricsOptions {
    /// Returns the metrics that are served.
    ///
    /// # Errors
    ///
    /// The flag or file whose value cannot be used, and the reason.
    pub fn selection(&self) -> Result<MetricsSelection, String> {
        let flag = "--allow-metric-labels";
        let allowed = match &self.allow_metric_labels_manifest {
            None => by_metric(flag, self.allow_metric_labels.iter().flatten())?,
            Some(_) if !self.allow_metric_labels.is_empty() => {
                return Err(format!("{flag} and {flag}-manifest are both set; expected one of them"));
            }
            Some(file) => {
                let flag = format!("{flag}-manifest");
                let labels = read_manifest(file).map_err(|why| format!("{flag} is {}: {why}", file.display()))?;
                by_metric(&flag, &labels)?
            }
        };
        Ok(MetricsSelection {
            disabled: self.disabled_metrics.iter().cloned().collect(),
            allowed,
        })
    }

    /// Checks the flags.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(name) = self.disabled_metrics.iter().find(|name| !is_metric(name)) {
            return Err(format!(
                "--disabled-metrics has `{name}`; expected full names of metrics"
            ));
        }
        if !["", PREVIOUS_VERSION].contains(&&*self.show_hidden_metrics_for_version) {
            return Err(format!(
                "--show-hidden-metrics-for-version is {}; expected {PREVIOUS_VERSION}, the previous minor version",
                self.show_hidden_metrics_for_version
            ));
        }
        self.selection().map(drop)
    }
}

/// The values of labels by metric.
fn by_metric<'a>(
    flag: &str,
    allowed: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Result<BTreeMap<String, BTreeMap<String, BTreeSet<String>>>, String> {
    let mut metrics: BTreeMap<String, BTreeMap<_, _>> = BTreeMap::new();
    for (key, values) in allowed {
        let names = key.split_once(',');
        let Some((metric, label)) = names.filter(|(metric, label)| is_metric(metric) && is_label(label)) else {
            return Err(format!("{flag} has `{key}`; expected METRIC,LABEL"));
        };
        let values = values.split(',').map(str::to_owned).collect();
        metrics
            .entry(metric.to_owned())
            .or_default()
            .insert(label.to_owned(), values);
    }
    Ok(metrics)
}

fn read_manifest(file: &Path) -> Result<AllowedLabels, String> {
    let content = fs::read(file).map_err(|error| format!("it cannot be read: {error}"))?;
    let document = configuration_file::document(&content);
    let document = document.map_err(|error: ConfigurationFileError| error.to_string())?;
    serde_json::from_value(document).map_err(|error| format!("expected \"METRIC,LABEL\": \"VALUES\": {error}"))
}

/// True for a name that a metric can have.
fn is_metric(name: &str) -> bool {
    is_label(&name.replace(':', "_"))
}

/// True for a name that a label can have.
fn is_label(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| is_part(c) && !c.is_ascii_digit()) && name.chars().all(is_part)
}

/// Parses pairs as kube-apiserver does: one without quotes, or several in the form of CSV.
fn parse_allowed(text: &str) -> Result<AllowedLabels, String> {
    let pairs = match text.matches('=').count() {
        1 => vec![text.trim_matches('"').to_owned()],
        _ => csv_fields(text).ok_or("expected quotes around each METRIC,LABEL=VALUES")?,
    };
    let pairs = pairs.iter().map(|pair| {
        let (key, values) = pair
            .split_once('=')
            .ok_or_else(|| format!("`{pair}`: expected METRIC,LABEL=VALUES"))?;
        Ok((key.to_owned(), values.to_owned()))
    });
    pairs.collect()
}

/// The fields of a line of CSV; `None` if quotes are not balanced.
fn csv_fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let field = match rest.strip_prefix('"') {
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (field, after) = rest.split_at(end);
                rest = after;
                (!field.contains('"')).then(|| field.to_owned())?
            }
            Some(mut quoted) => {
                let mut field = String::new();
                loop {
                    let (part, after) = quoted.split_once('"')?;
                    field.push_str(part);
                    match after.strip_prefix('"') {
                        Some(after) => {
                            field.push('"');
                            quoted = after;
                        }
                        None => {
                            rest = after;
                            break field;
                        }
                    }
                }
            }
        };
        fields.push(field);
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => return rest.is_empty().then_some(fields),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let expected = expected
            .iter()
            .map(|(key, values)| ((*key).to_owned(), (*values).to_owned()));
        assert_eq!(parse_allowed(text), Ok(expected.collect()), "{text}");
    }

    #[test]
    fn labels_are_given_as_in_kube_apiserver() {
        check("m,l=a,b", &[("m,l", "a,b")]);
        check("\"m,l=a,b\"", &[("m,l", "a,b")]);
        check("\"m,l=a,b\",\"m,k=c\",n=d", &[("m,l", "a,b"), ("m,k", "c"), ("n", "d")]);
        check("\"m,l=say \"\"a\"\"=b\"", &[("m,l", "say \"a\"=b")]);
        for wrong in ["", "m,l", "m,l=a,k=c", "\"m,l=a\"x,\"k=c\""] {
            assert!(parse_allowed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_those_of_metrics_and_labels() {
        assert!(is_metric("apiserver:request_total") && is_metric("_1") && is_label("le"));
        for wrong in ["", "1a", "a-b", "a b", "ä"] {
            assert!(!is_metric(wrong) && !is_label(wrong), "{wrong}");
        }
        assert!(!is_label("a:b"));
    }
}
