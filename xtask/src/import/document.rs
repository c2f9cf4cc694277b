//! The documents of a file, and detection of those that describe kinds.

use anyhow::{Context, Result, bail};
use planesmith_machinery::yaml;
use serde_json::Value;

use super::draft::Draft;
use super::{crd, facts, openapi};

/// The expected content of files.
pub(super) const EXPECTED: &str = "expected a CustomResourceDefinition, an OpenAPI v3 document or facts about types";

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) drafts: Vec<Draft>,
    /// Documents that describe no kind, such as `document 2: a Namespace`.
    pub(super) skipped: Vec<String>,
}

impl Found {
    /// Reads the documents in `text`.
    pub(super) fn read(text: &[u8]) -> Result<Self> {
        Self::of(&documents(text)?)
    }

    /// Reads documents. Manifests often contain other objects besides definitions, which are skipped.
    pub(super) fn of(documents: &[Value]) -> Result<Self> {
        let several = documents.len() > 1;
        let mut found = Self::default();
        for (index, document) in documents.iter().enumerate() {
            let place = match several {
                true => format!("document {}", index + 1),
                false => String::new(),
            };
            found.take(&place, document)?;
        }
        if found.drafts.is_empty() && found.skipped.is_empty() {
            bail!("no kind is described; {EXPECTED}");
        }
        Ok(found)
    }

    fn take(&mut self, place: &str, document: &Value) -> Result<()> {
        let within = |inner: &str| match place.is_empty() {
            true => inner.to_owned(),
            false => format!("{place}: {inner}"),
        };
        match document["kind"].as_str() {
            Some("List" | "CustomResourceDefinitionList") => {
                for (index, item) in document["items"].as_array().into_iter().flatten().enumerate() {
                    self.take(&within(&format!("items[{index}]")), item)?;
                }
                return Ok(());
            }
            Some(kind) if kind != "CustomResourceDefinition" => {
                let name = document["metadata"]["name"].as_str();
                let name = name.map(|name| format!(" {name}")).unwrap_or_default();
                self.skipped.push(within(&format!("a {kind}{name}")));
                return Ok(());
            }
            _ => {}
        }
        let drafts = match place {
            "" => drafts(document)?,
            place => drafts(document).with_context(|| place.to_owned())?,
        };
        self.drafts.extend(drafts);
        Ok(())
    }
}

fn drafts(document: &Value) -> Result<Vec<Draft>> {
    if document["kind"].is_string() {
        return crd::drafts(document);
    }
    let drafts = if document["openapi"].is_string() {
        openapi::drafts(document)
    } else if document["swagger"].is_string() {
        bail!("an OpenAPI v2 document; expected version 3, as a server has it at /openapi/v3/apis/GROUP/VERSION")
    } else if document["types"].is_object() {
        vec![facts::draft(document)?]
    } else {
        bail!("neither a CustomResourceDefinition, nor an OpenAPI v3 document, nor facts about types")
    };
    if drafts.is_empty() {
        bail!("no kind is described: there is none with x-kubernetes-group-version-kind and metadata");
    }
    Ok(drafts)
}

/// Splits a YAML stream into documents; JSON is YAML, too.
pub(crate) fn documents(text: &[u8]) -> Result<Vec<Value>> {
    let text = std::str::from_utf8(text).context("not UTF-8")?;
    if text.trim_start().starts_with('{') {
        return Ok(vec![serde_json::from_str(text).context("not JSON")?]);
    }
    let mut documents = Vec::new();
    let mut part = String::new();
    for line in text.lines().chain(["---"]) {
        if !is_separator(line) {
            part.push_str(line);
            part.push('\n');
            continue;
        }
        let json = yaml::to_json(std::mem::take(&mut part).as_bytes()).map_err(|error| anyhow::anyhow!("{error}"))?;
        let document: Value = serde_json::from_slice(&json.json).context("not YAML")?;
        if !document.is_null() {
            documents.push(document);
        }
    }
    Ok(documents)
}

/// True for a separator `---`, with an optional comment.
fn is_separator(line: &str) -> bool {
    let rest = line.strip_prefix("---").map(str::trim);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}
