//! The cost of custom kinds: memory of definitions, installation time of many definitions, and operations on their objects.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Method;
use planesmith_e2e::Connection;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::load::{Pool, Read, read};
use super::subject::{Program, Subject};
use crate::import::documents;

/// The collection of definitions.
pub(super) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The number of real definitions for which the budget applies. The measured growth is scaled to it.
const REAL: usize = 64;

/// The number of synthetic definitions, each in a group of its own.
const MADE_UP: usize = 1_000;

/// The parts of the schema of each synthetic definition, for a typical size of about 20 KB.
const PARTS: usize = 16;

/// The number of custom objects.
const OBJECTS: usize = 100_000;

/// The number of concurrent requests.
const CONCURRENCY: usize = 16;

/// The time for background work before memory is measured.
const SETTLE: Duration = Duration::from_secs(2);

/// The timeout for the next of many objects.
const TIMEOUT: Duration = Duration::from_secs(10);

pub(super) const MEGABYTE: f64 = 1_000_000.0;

/// Returns the memory growth of a fresh server in megabytes, for [`REAL`] popular definitions.
pub(crate) async fn real_memory(program: &Program, folder: &Path) -> Result<f64> {
    let definitions = found(folder)?;
    ensure!(!definitions.is_empty(), "no definitions in {}", folder.display());
    let (subject, _) = program.start().await?;
    let pool = Pool::open(&subject.endpoint, 1).await?;
    let before = settled(&subject).await?;
    let count = definitions.len();
    install(&pool, definitions).await?;
    let grown = settled(&subject).await? - before;
    eprintln!("    {count} definitions: {grown:.1} MB");
    Ok(grown / count as f64 * REAL as f64)
}

/// Measures the row `definitions-install` and those that depend on it: installs the synthetic definitions on a fresh server,
/// and creates objects of one of them.
pub(crate) async fn many(program: &Program) -> Result<Vec<(&'static str, f64)>> {
    let (subject, _) = program.start().await?;
    let pool = Pool::open(&subject.endpoint, 4).await?;
    let start = Instant::now();
    install(&pool, (0..MADE_UP).map(|number| made_up(number, PARTS)).collect()).await?;
    let installed = start.elapsed();
    let with_definitions = settled(&subject).await?;
    let bodies = (0..OBJECTS).map(|number| (path_of(0), object(number))).collect();
    let cpu = subject.processes.cpu()?;
    post(&pool, bodies).await?;
    let created = (subject.processes.cpu()? - cpu).as_secs_f64() / OBJECTS as f64;
    let with_objects = settled(&subject).await?;
    let cpu = subject.processes.cpu()?;
    let all = Read::json(path_of(0));
    read(&pool, &all, 3, 1).await?;
    let listed = (subject.processes.cpu()? - cpu).as_secs_f64() / 3.0;
    let cpu = subject.processes.cpu()?;
    begin_watch(&pool).await?;
    let watched = (subject.processes.cpu()? - cpu).as_secs_f64();
    Ok(vec![
        ("definitions-install", installed.as_secs_f64() * 1e3),
        ("definitions-many", with_definitions),
        ("custom-create", created * 1e6),
        ("custom-objects", with_objects),
        ("custom-list", listed * 1e3),
        ("custom-watch", watched * 1e3),
    ])
}

/// Watches from the start, until all custom objects have been delivered.
async fn begin_watch(pool: &Pool) -> Result<()> {
    let path = format!("{}?watch=1&resourceVersion=0&timeoutSeconds=600", path_of(0));
    let mut watch = pool.connection(0).watch(&path).await?;
    for received in 0..OBJECTS {
        let line = tokio::time::timeout(TIMEOUT, watch.line()).await;
        let line = line.with_context(|| format!("no further event after {received} objects"))??;
        ensure!(line.is_some(), "the watch ended after {received} objects");
    }
    Ok(())
}

/// Creates definitions, and waits until all their resources can be listed.
async fn install(pool: &Pool, definitions: Vec<Value>) -> Result<()> {
    let paths: Vec<String> = definitions.iter().filter_map(served_at).collect();
    let bodies = definitions
        .iter()
        .map(|definition| (DEFINITIONS.to_owned(), definition.to_string()));
    post(pool, bodies.collect()).await?;
    for path in paths {
        while pool.connection(0).get(&path).await?.status != 200 {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

/// Posts bodies to their paths, with [`CONCURRENCY`] concurrent requests.
async fn post(pool: &Pool, bodies: Vec<(String, String)>) -> Result<()> {
    let (bodies, turn) = (Arc::new(bodies), Arc::new(AtomicUsize::new(0)));
    let mut workers = JoinSet::new();
    for worker in 0..CONCURRENCY {
        let connection: Connection = pool.connection(worker).clone();
        let (bodies, turn) = (Arc::clone(&bodies), Arc::clone(&turn));
        workers.spawn(async move {
            while let Some((path, body)) = bodies.get(turn.fetch_add(1, Ordering::Relaxed)) {
                let body = Bytes::from(body.clone());
                connection.call(Method::POST, path, body).await?.expect(201)?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(worker) = workers.join_next().await {
        worker??;
    }
    Ok(())
}

/// Returns the resident memory in megabytes once the server is idle.
async fn settled(subject: &Subject) -> Result<f64> {
    tokio::time::sleep(SETTLE).await;
    Ok(subject.processes.memory()?.now as f64 / MEGABYTE)
}

/// Returns the definitions in the YAML files of a folder and its subfolders.
fn found(folder: &Path) -> Result<Vec<Value>> {
    let mut definitions = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(definitions);
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            definitions.extend(found(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            let documents = documents(&text).with_context(|| path.display().to_string())?;
            let is_definition = |document: &Value| document["kind"] == "CustomResourceDefinition";
            definitions.extend(documents.into_iter().filter(is_definition));
        }
    }
    Ok(definitions)
}

/// Returns the collection path of the first served version of a definition.
fn served_at(definition: &Value) -> Option<String> {
    let spec = &definition["spec"];
    let version = spec["versions"]
        .as_array()?
        .iter()
        .find(|version| version["served"] == true)?;
    let (group, plural) = (spec["group"].as_str()?, spec["names"]["plural"].as_str()?);
    Some(format!("/apis/{group}/{}/{plural}", version["name"].as_str()?))
}

/// Returns the group of synthetic definition `number`.
pub(super) fn group(number: usize) -> String {
    format!("group-{number}.bench.example.com")
}

/// Returns the collection of objects of synthetic definition `number`.
pub(super) fn path_of(number: usize) -> String {
    format!("/apis/{}/v1/namespaces/default/things", group(number))
}

/// Returns a definition whose schema has `parts` parts of about 1.3 KB; no two are equal.
pub(super) fn made_up(number: usize, parts: usize) -> Value {
    let doc = "What the controller makes of this field, and what it does when the field is absent.";
    let leaf = |field: usize| json!({"type": "string", "description": doc, "maxLength": 100 + number % 100 + field});
    let part = |part: usize| {
        let fields = (0..8).map(|field| (format!("field{field}"), leaf(field)));
        let fields: serde_json::Map<String, Value> = fields.collect();
        (
            format!("part{part}"),
            json!({"type": "object", "description": doc, "properties": fields}),
        )
    };
    let parts: serde_json::Map<String, Value> = (0..parts).map(part).collect();
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": parts},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("things.{}", group(number))},
        "spec": {
            "group": group(number), "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                          "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn object(number: usize) -> String {
    let text = "a text of some length that says what is wanted";
    json!({
        "apiVersion": format!("{}/v1", group(0)), "kind": "Thing",
        "metadata": {"name": format!("thing-{number:06}"), "labels": {"app": "bench"}},
        "spec": {"part0": {"field0": text, "field1": number.to_string()}, "part1": {"field0": text}},
    })
    .to_string()
}
