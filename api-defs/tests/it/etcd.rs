//! Comparison with the content of an etcd that kube-apiserver has written: every value is read as the object that
//! kube-apiserver answered, and written back under the same key with the same bytes.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use planesmith_extensions::definition::Definition;
use planesmith_extensions::{KnownFacts, SchemaChecks};
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, Scope};
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::{conversion, go_base64, protobuf};
use planesmith_server::stores::{Decoded, StorageCodec, StorageMediaType};
use serde_json::Value;

use crate::reference::folder;

/// The leases of servers: objects of a kind under keys that are not those of the kind.
const LEASES: [&str; 2] = ["/registry/masterleases/", "/registry/peerserverleases/"];

/// Kinds with defaults that depend on what kube-apiserver sets later: their objects are stored without some of these, and get
/// them whenever they are read.
const COMPLETED: [&str; 2] = ["Job", "PersistentVolumeClaim"];

/// A key and its value.
struct Record {
    key: String,
    value: Vec<u8>,
}

/// The kinds of the server, and those of the definitions among the records.
struct Kinds {
    scheme: Scheme,
    defined: Vec<ResourceFacts>,
}

impl Kinds {
    fn from_records(records: &[Record]) -> Self {
        let mut scheme = Scheme::new();
        planesmith::register(&mut scheme);
        let known = KnownFacts::new(|| Arc::new(SchemaChecks::default()));
        let mut kinds = Self {
            scheme,
            defined: Vec::new(),
        };
        let definitions = records
            .iter()
            .filter(|record| record.key.contains("/customresourcedefinitions/"));
        let definitions: Vec<Read> = definitions.filter_map(|record| kinds.read(record).ok()).collect();
        for definition in definitions {
            let document = json::to_value(&*definition.object);
            let facts = known.of(Definition::new(&document));
            kinds.defined.extend(facts.iter().cloned());
        }
        kinds
    }

    /// The kind in the version `api_version`.
    fn kind(&self, api_version: &str, kind: &str) -> Option<ResourceFacts> {
        let is_it = |facts: &&ResourceFacts| facts.api_version == api_version && facts.kind == kind;
        let declared = self.scheme.object_kind(api_version, kind);
        declared.or_else(|| self.defined.iter().find(is_it)).cloned()
    }

    fn codec(&self, hub: &ResourceFacts, media_type: StorageMediaType) -> StorageCodec {
        StorageCodec::new(hub, &self.scheme, media_type)
    }

    /// Reads a value.
    fn read(&self, record: &Record) -> Result<Read, String> {
        let value = &record.value;
        let meta = match protobuf::open(value) {
            Ok(envelope) => envelope.type_meta,
            Err(_) => json::type_meta(value).map_err(|error| error.to_string())?,
        };
        let kind = self.kind(&meta.api_version, &meta.kind).ok_or("the kind is unknown")?;
        let hub = kind.hub();
        let codec = self.codec(&hub, StorageMediaType::Protobuf);
        let decoded = codec.decode(value).ok_or("the value cannot be read")?;
        let version = if hub.custom.is_some() { &kind } else { &hub };
        let mut object = version.zero();
        json::decode(&decoded.canonical.bytes, &mut *object, Strictness::Lenient).map_err(|error| error.to_string())?;
        Ok(Read { hub, object, decoded })
    }

    /// Reads a value, and checks that it is written back with the same bytes, and read back from each encoding.
    fn check(&self, record: &Record) -> Result<Read, String> {
        let read = self.read(record)?;
        let Read { hub, decoded, .. } = &read;
        let codec = self.codec(hub, StorageMediaType::Protobuf);
        let written = codec.encode(&decoded.canonical).map_err(|error| error.to_string())?;
        match COMPLETED.contains(&&*hub.kind) {
            true => {
                let again = codec.decode(&written).ok_or("what was written cannot be read")?;
                difference(&decoded.canonical.bytes, &again.canonical.bytes)?;
            }
            false => difference(&record.value, &written)?,
        }
        for media_type in [StorageMediaType::Json, StorageMediaType::Yaml] {
            let other = self.codec(hub, media_type);
            let text = other.encode(&decoded.canonical).map_err(|error| error.to_string())?;
            let again = other.decode(&text).ok_or("what was written cannot be read")?;
            // YAML sorts the keys of raw values.
            let tree = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("JSON").to_string();
            let (wanted, found) = (tree(&decoded.canonical.bytes), tree(&again.canonical.bytes));
            difference(wanted.as_bytes(), found.as_bytes())?;
        }
        Ok(read)
    }
}

/// A value that was read.
struct Read {
    hub: ResourceFacts,
    object: Box<dyn Object>,
    decoded: Decoded,
}

impl Read {
    /// The key of the object.
    fn key(&self) -> String {
        let meta = self.object.meta();
        let prefix = self.hub.storage_prefix();
        match self.hub.scope {
            Scope::Namespaced => format!("{prefix}{}/{}", meta.namespace, meta.name),
            Scope::Cluster => format!("{prefix}{}", meta.name),
        }
    }
}

/// Reports the first difference between two texts.
fn difference(wanted: &[u8], found: &[u8]) -> Result<(), String> {
    if wanted == found {
        return Ok(());
    }
    let at = wanted.iter().zip(found).take_while(|(one, other)| one == other).count();
    let around = |bytes: &[u8]| {
        let part = &bytes[at.saturating_sub(80)..bytes.len().min(at + 80)];
        String::from_utf8_lossy(part).into_owned()
    };
    Err(format!(
        "byte {at}: wanted {:?}, found {:?}",
        around(wanted),
        around(found)
    ))
}

fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("a readable file");
    let lines = text.lines();
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn records(folder: &Path) -> Vec<Record> {
    let text = |line: &Value, name: &str| line[name].as_str().expect("a text").to_owned();
    let record = |line: &Value| Record {
        key: text(line, "key"),
        value: go_base64::decode(&text(line, "value")).expect("base64"),
    };
    lines(&folder.join("keys.jsonl")).iter().map(record).collect()
}

#[test]
fn values_are_written_back_byte_for_byte_under_their_keys() {
    let Some(folder) = folder("etcd") else { return };
    let records = records(&folder);
    assert!(records.len() > 400, "{} keys", records.len());
    let kinds = Kinds::from_records(&records);
    let mut failures = Vec::new();
    for record in &records {
        let problem = kinds.check(record).and_then(|read| {
            let is_elsewhere = LEASES.iter().any(|prefix| record.key.starts_with(prefix));
            // The metadata of a range is empty.
            let is_nameless = read.object.meta().name.is_empty() && record.key.starts_with(&read.hub.storage_prefix());
            match is_elsewhere || is_nameless || read.key() == record.key {
                true => Ok(()),
                false => Err(format!("the key of the object is {}", read.key())),
            }
        });
        failures.extend(problem.err().map(|problem| format!("{}: {problem}", record.key)));
    }
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} of {}:\n{}",
        records.len(),
        failures.join("\n")
    );
    println!("{} values are written back", records.len());
}

#[test]
fn objects_are_those_that_were_answered_in_every_version() {
    let Some(folder) = folder("etcd") else { return };
    let records = records(&folder);
    let kinds = Kinds::from_records(&records);
    let read = records.iter().filter_map(|record| kinds.read(record).ok());
    let objects: HashMap<String, Read> = read.map(|read| (read.object.meta().uid.to_string(), read)).collect();
    let (mut compared, mut computed, mut failures) = (0, 0, Vec::new());
    for answer in lines(&folder.join("answers.jsonl")) {
        let (path, mut wanted) = (answer["path"].to_string(), answer["object"].clone());
        let Some(uid) = wanted["metadata"]["uid"].as_str() else {
            computed += 1;
            continue;
        };
        compared += 1;
        let found = objects.get(uid).ok_or("it is not stored".to_owned()).and_then(|read| {
            let name = |name: &str| wanted[name].as_str().unwrap_or_default();
            let version = kinds
                .kind(name("apiVersion"), name("kind"))
                .ok_or("the kind is unknown")?;
            conversion::try_convert(&*read.object, &version).map_err(|error| error.to_string())
        });
        if let Some(metadata) = wanted["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        let problem = found.and_then(|found| {
            let found = json::to_value(&*found);
            difference(wanted.to_string().as_bytes(), found.to_string().as_bytes())
        });
        failures.extend(problem.err().map(|problem| format!("{path}: {problem}")));
    }
    let count = failures.len();
    assert!(failures.is_empty(), "{count} of {compared}:\n{}", failures.join("\n"));
    assert!(compared > 400, "{compared} answers");
    println!("{compared} objects are alike; {computed} answers are computed and not stored");
}
