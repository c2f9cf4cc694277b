//! Round trips of fixtures: objects with all fields set, as kube-apiserver writes them, survive decoding and encoding
//! byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::protobuf;
use planesmith_machinery::value::Struct;
use planesmith_machinery::yaml;

use crate::reference::{folder, zero_objects};

/// Number of kinds that have fixtures.
const FIXTURES: usize = 185;

#[test]
fn json_survives_byte_for_byte() {
    each("json", |path, mut object| {
        let wanted = fs::read(path).expect("a readable fixture");
        let wanted = with_own_version(&wanted, object.as_ref());
        let findings = json::decode(&wanted, object.as_mut(), Strictness::Strict).map_err(|error| error.to_string())?;
        if !findings.is_empty() {
            return Err(findings.messages().join("; "));
        }
        let mut written = Vec::new();
        json::indent(&json::to_vec(object.as_ref()), &mut written);
        difference(&wanted, &written)
    });
}

#[test]
fn protobuf_survives_byte_for_byte() {
    each("pb", |path, mut object| {
        let wanted = fs::read(path).expect("a readable fixture");
        let envelope = protobuf::open(&wanted).map_err(|error| error.to_string())?;
        protobuf::decode(envelope.raw, object.as_mut()).map_err(|error| error.to_string())?;
        let mut written = Vec::new();
        match object.facts().type_meta.map(|meta| meta.api_version) {
            // The envelope contains the version in which the type is sent, its fields do not.
            None | Some("" | "meta.k8s.io/v1") => {
                protobuf::encode(object.as_ref(), &mut written);
                difference(envelope.raw, &written)
            }
            Some(_) => {
                protobuf::encode_enveloped(object.as_ref(), &mut written);
                difference(&wanted, &written)
            }
        }
    });
}

#[test]
fn yaml_means_the_same() {
    each("yaml", |path, mut object| {
        let text = fs::read(path).expect("a readable fixture");
        let document = yaml::to_json(&text).map_err(|error| error.to_string())?;
        let wanted = with_own_version(&document.json, object.as_ref());
        json::decode(&wanted, object.as_mut(), Strictness::Strict).map_err(|error| error.to_string())?;
        let written = yaml::from_json(&json::to_vec(object.as_ref())).map_err(|error| error.to_string())?;
        let written = yaml::to_json(&written).map_err(|error| error.to_string())?;
        let parse = |json: &[u8]| serde_json::from_slice::<serde_json::Value>(json).expect("JSON");
        let (wanted, written) = (parse(&wanted), parse(&written.json));
        (wanted == written)
            .then_some(())
            .ok_or_else(|| format!("wanted {wanted}, got {written}"))
    });
}

/// Replaces the version of a document by the one that the type is sent in: fixtures of metadata types have that of the
/// core group.
fn with_own_version(document: &[u8], object: &dyn Struct) -> Vec<u8> {
    let text = String::from_utf8_lossy(document);
    let (spaced, plain) = ("\"apiVersion\": \"v1\"", "\"apiVersion\":\"v1\"");
    match object.facts().type_meta.map(|meta| meta.api_version) {
        Some("meta.k8s.io/v1") => text
            .replacen(spaced, "\"apiVersion\": \"meta.k8s.io/v1\"", 1)
            .replacen(plain, "\"apiVersion\":\"meta.k8s.io/v1\"", 1)
            .into_bytes(),
        Some("") => text
            .replacen(&format!("{spaced},\n  "), "", 1)
            .replacen(&format!("{plain},"), "", 1)
            .into_bytes(),
        _ => document.to_vec(),
    }
}

/// Runs `check` for every fixture, each of which has a kind here.
fn each(extension: &str, check: impl Fn(&Path, Box<dyn Struct>) -> Result<(), String>) {
    let Some(folder) = folder("fixtures") else { return };
    let mut objects: BTreeMap<String, Box<dyn Struct>> = zero_objects().into_iter().collect();
    let (mut survived, mut missing, mut failures) = (0, Vec::new(), Vec::new());
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.extension().is_none_or(|found| found != extension) {
            continue;
        }
        count += 1;
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        match objects.remove(&name).map(|object| check(&path, object)) {
            None => missing.push(name),
            Some(Ok(())) => survived += 1,
            Some(Err(problem)) => failures.push(format!("{name}: {problem}")),
        }
    }
    missing.sort();
    println!("{survived} of {count} fixtures survive as {extension}");
    assert_eq!(count, FIXTURES, "fixtures");
    assert!(missing.is_empty(), "no kind for {}", missing.join(", "));
    assert!(
        failures.is_empty(),
        "{} of {count} fixtures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Reports the first difference between two documents.
fn difference(wanted: &[u8], written: &[u8]) -> Result<(), String> {
    if wanted == written {
        return Ok(());
    }
    let at = wanted
        .iter()
        .zip(written)
        .take_while(|(left, right)| left == right)
        .count();
    let around =
        |bytes: &[u8]| String::from_utf8_lossy(&bytes[at.saturating_sub(60)..bytes.len().min(at + 60)]).into_owned();
    Err(format!(
        "byte {at}: wanted {:?}, got {:?}",
        around(wanted),
        around(written)
    ))
}
