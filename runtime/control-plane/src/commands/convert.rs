//! `convert`: objects in files, from one version of their kind to another, without a server.

use std::fmt::Write as _;
use std::io::Read as _;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use planesmith_machinery::conversion;
use planesmith_machinery::defaulting::set_defaults;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::yaml;
use serde_json::{Map, Value, value::RawValue};

use crate::program::Program;

/// Converts objects in files between the versions of their kinds, and prints them.
///
/// Values that the version of an object implies are filled in, because another version may imply others.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Convert {
    /// YAML or JSON with one or more objects, or lists of them; - for the standard input.
    #[arg(short = 'f', long, required = true, value_name = "FILE")]
    filename: Vec<String>,

    /// The version to convert to: apps/v1, or v1 for the core group.
    #[arg(long, value_name = "GROUP/VERSION")]
    output_version: String,

    /// Format of the output; several objects are a stream of YAML documents or a JSON list.
    #[arg(short = 'o', long, value_enum, default_value = "yaml", value_name = "FORMAT")]
    output: OutputFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    Yaml,
    Json,
}

impl Convert {
    pub(super) fn run(&self, program: &Program) -> Result<()> {
        let scheme = program.scheme();
        let mut converted = Vec::new();
        for file in &self.filename {
            let text = read(file)?;
            for (index, document) in documents(&text).with_context(|| file.clone())?.into_iter().enumerate() {
                let place = || format!("{file}, document {}", index + 1);
                self.document(&scheme, &document, &mut converted).with_context(place)?;
            }
        }
        if converted.is_empty() {
            bail!("there is no object in {}", self.filename.join(", "));
        }
        super::print(&print(&converted, self.output)?)
    }

    /// Converts the object of a document, or the objects of a list.
    fn document(&self, scheme: &Scheme, document: &[u8], converted: &mut Vec<Box<dyn Object>>) -> Result<()> {
        for item in items(document)? {
            converted.push(self.object(scheme, &item)?);
        }
        Ok(())
    }

    fn object(&self, scheme: &Scheme, document: &[u8]) -> Result<Box<dyn Object>> {
        let meta = json::type_meta(document)?;
        if meta.kind.is_empty() || meta.api_version.is_empty() {
            bail!("an object without `apiVersion` or `kind`; expected both, such as apps/v1 and Deployment");
        }
        let Some(source) = scheme.object_kind(&meta.api_version, &meta.kind) else {
            bail!("{} has no kind {}", meta.api_version, meta.kind);
        };
        let mut object = source.zero();
        let findings = json::decode(document, &mut *object, Strictness::Strict)
            .with_context(|| format!("{} {}", meta.api_version, meta.kind))?;
        warn(&*object, findings.messages());
        set_defaults(&mut *object, scheme.environment());
        Ok(conversion::convert(&*object, self.target(scheme, source)?))
    }

    /// Returns the kind that objects of `source` are converted to.
    fn target<'s>(&self, scheme: &'s Scheme, source: &ResourceFacts) -> Result<&'s ResourceFacts> {
        let related = |facts: &&ResourceFacts| facts.is_version_of(source);
        let known: Vec<_> = scheme.iter().filter(related).collect();
        let target = known.iter().find(|facts| facts.api_version == self.output_version);
        target.copied().with_context(|| {
            let known: Vec<&str> = known.iter().map(|facts| &*facts.api_version).collect();
            format!(
                "{} {} cannot become {}; it can become {}",
                source.api_version,
                source.kind,
                self.output_version,
                known.join(", ")
            )
        })
    }
}

fn read(file: &str) -> Result<Vec<u8>> {
    if file != "-" {
        return std::fs::read(file).with_context(|| format!("{file} cannot be read"));
    }
    let mut text = Vec::new();
    std::io::stdin()
        .read_to_end(&mut text)
        .context("the standard input cannot be read")?;
    Ok(text)
}

/// Returns the documents of a file, each as JSON; empty ones are skipped.
fn documents(text: &[u8]) -> Result<Vec<Vec<u8>>> {
    if text.trim_ascii_start().starts_with(b"{") {
        let documents = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>();
        let documents = documents.map(|document| document.map(|document| document.get().as_bytes().to_vec()));
        return documents.collect::<Result<_, _>>().context("not JSON");
    }
    let mut documents = Vec::new();
    for part in yaml_parts(text) {
        let json = yaml::to_json(&part).map_err(|error| anyhow::anyhow!("{error}"))?.json;
        if json.trim_ascii() != b"null" && !json.trim_ascii().is_empty() {
            documents.push(json);
        }
    }
    Ok(documents)
}

/// Splits a YAML stream into documents.
fn yaml_parts(text: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let starts = line.starts_with(b"---") && line[3..].first().is_none_or(u8::is_ascii_whitespace);
        if starts {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.extend_from_slice(line);
        }
    }
    parts.retain(|part| !part.trim_ascii().is_empty());
    parts
}

/// Returns the objects of a list, or the one object of a document.
fn items(document: &[u8]) -> Result<Vec<Vec<u8>>> {
    let meta = json::type_meta(document)?;
    let value: Map<String, Value> = serde_json::from_slice(document).context("not an object")?;
    let Some(Value::Array(items)) = value.get("items").filter(|_| meta.kind.ends_with("List")) else {
        return Ok(vec![document.to_vec()]);
    };
    let kind = meta.kind.strip_suffix("List").unwrap_or_default();
    let item = |item: &Value| {
        let mut item = item.clone();
        // The items of a list of one kind may omit their kind.
        if let (Value::Object(members), false) = (&mut item, kind.is_empty()) {
            members
                .entry("apiVersion")
                .or_insert_with(|| meta.api_version.clone().into());
            members.entry("kind").or_insert_with(|| kind.into());
        }
        item.to_string().into_bytes()
    };
    Ok(items.iter().map(item).collect())
}

#[expect(
    clippy::print_stderr,
    reason = "a word to the person at the terminal beside the output"
)]
fn warn(object: &dyn Object, findings: &[String]) {
    for finding in findings {
        eprintln!("warning: {} {}: {finding}", object.resource().kind, object.meta().name);
    }
}

/// Formats the objects.
fn print(objects: &[Box<dyn Object>], form: OutputFormat) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    match (form, objects) {
        (OutputFormat::Json, [object]) => json::indent(&json::to_vec(&**object), &mut text),
        (OutputFormat::Json, objects) => {
            let items: Vec<String> = objects
                .iter()
                .map(|object| String::from_utf8_lossy(&json::to_vec(&**object)).into_owned())
                .collect();
            let mut list = String::new();
            // Writing to a String cannot fail.
            let _ = write!(
                list,
                "{{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"items\":[{}]}}",
                items.join(",")
            );
            json::indent(list.as_bytes(), &mut text);
        }
        (OutputFormat::Yaml, objects) => {
            for (index, object) in objects.iter().enumerate() {
                if index > 0 {
                    text.extend_from_slice(b"---\n");
                }
                let yaml = yaml::from_json(&json::to_vec(&**object)).map_err(|error| anyhow::anyhow!("{error}"))?;
                text.extend_from_slice(&yaml);
            }
        }
    }
    if text.last() != Some(&b'\n') {
        text.push(b'\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::autoscaling::{v1, v2};

    use super::*;

    /// Converts a stream. Returns the output or the error.
    fn converted(text: &str, version: &str, form: OutputFormat) -> String {
        let mut scheme = Scheme::new();
        scheme.add::<v2::HorizontalPodAutoscaler>();
        scheme.add::<v1::HorizontalPodAutoscaler>();
        let convert = Convert {
            filename: Vec::new(),
            output_version: version.to_owned(),
            output: form,
        };
        let run = || {
            let mut objects = Vec::new();
            for document in documents(text.as_bytes())? {
                convert.document(&scheme, &document, &mut objects)?;
            }
            print(&objects, form)
        };
        match run() {
            Ok(text) => String::from_utf8(text).unwrap(),
            Err(error) => format!("error: {error:#}"),
        }
    }

    const OLD: &str = "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec:\n  \
                       maxReplicas: 3\n  targetCPUUtilizationPercentage: 70\n  scaleTargetRef: {kind: Deployment, name: web}\n";

    #[test]
    fn documents_of_a_stream_are_converted_one_by_one() {
        let stream = format!("# a comment\n---\n{OLD}---\n---\n{OLD}");
        let text = converted(&stream, "autoscaling/v2", OutputFormat::Yaml);
        assert_eq!(text.matches("apiVersion: autoscaling/v2\n").count(), 2, "{text}");
        assert_eq!(text.matches("---\n").count(), 1, "{text}");
        assert!(text.contains("averageUtilization: 70"), "{text}");
    }

    #[test]
    fn lists_are_converted_item_by_item() {
        let list = r#"{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscalerList","items":[
            {"metadata":{"name":"a"},"spec":{"maxReplicas":1}},{"metadata":{"name":"b"},"spec":{"maxReplicas":2}}]}"#;
        let text = converted(list, "autoscaling/v2", OutputFormat::Json);
        let list: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(list["kind"], "List");
        assert_eq!(list["items"][1]["apiVersion"], "autoscaling/v2");
        assert_eq!(list["items"][1]["metadata"]["name"], "b");
    }

    #[test]
    fn mistakes_say_what_was_expected() {
        for (text, version, expected) in [
            (
                OLD,
                "autoscaling/v9",
                "cannot become autoscaling/v9; it can become autoscaling/v2, autoscaling/v1",
            ),
            ("kind: X", "v1", "without `apiVersion` or `kind`"),
            ("apiVersion: v1\nkind: X", "v1", "v1 has no kind X"),
            ("{", "v1", "not JSON"),
        ] {
            let error = converted(text, version, OutputFormat::Yaml);
            assert!(error.starts_with("error: ") && error.contains(expected), "{error}");
        }
    }
}
