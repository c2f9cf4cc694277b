//! Objects with every field set, as kube-apiserver writes them, survive reading and writing byte for byte.

use std::fs;
use std::path::Path;

use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::protobuf;
use planesmith_machinery::value::Struct;
use planesmith_machinery::yaml;

use crate::reference::{folder, zero_objects};

#[test]
fn json_survives_byte_for_byte() {
    each("json", |path, mut object| {
        let wanted = fs::read(path).expect("a readable fixture");
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
        protobuf::encode_enveloped(object.as_ref(), &mut written);
        difference(&wanted, &written)
    });
}

#[test]
fn yaml_means_the_same() {
    each("yaml", |path, mut object| {
        let text = fs::read(path).expect("a readable fixture");
        let document = yaml::to_json(&text).map_err(|error| error.to_string())?;
        json::decode(&document.json, object.as_mut(), Strictness::Strict).map_err(|error| error.to_string())?;
        let written = yaml::from_json(&json::to_vec(object.as_ref())).map_err(|error| error.to_string())?;
        let written = yaml::to_json(&written).map_err(|error| error.to_string())?;
        let parse = |json: &[u8]| serde_json::from_slice::<serde_json::Value>(json).expect("JSON");
        let (wanted, written) = (parse(&document.json), parse(&written.json));
        (wanted == written)
            .then_some(())
            .ok_or_else(|| format!("wanted {wanted}, got {written}"))
    });
}

/// Runs `check` for the fixture of every kind; kinds without one are counted as failures.
fn each(extension: &str, check: impl Fn(&Path, Box<dyn Struct>) -> Result<(), String>) {
    let Some(folder) = folder("fixtures") else { return };
    let objects = zero_objects();
    let count = objects.len();
    let mut failures = Vec::new();
    for (name, object) in objects {
        let path = folder.join(format!("{name}.{extension}"));
        let result = match path.is_file() {
            true => check(&path, object),
            false => Err("has no fixture".to_owned()),
        };
        if let Err(problem) = result {
            failures.push(format!("{name}: {problem}"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} kinds:\n{}",
        failures.len(),
        failures.join("\n")
    );
    println!("{count} kinds survive as {extension}");
}

/// Shows the first place where two documents part.
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
