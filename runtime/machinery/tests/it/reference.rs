//! Metadata types and codecs against recorded facts of Kubernetes, where those are present.

use std::collections::BTreeMap;
use std::path::PathBuf;

use planesmith_machinery::Struct as DeriveStruct;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::facts::{FieldFacts, ListType, Omit, StructFacts, TypeFacts};
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::{self, ObjectMeta};
use planesmith_machinery::value::Struct;
use planesmith_machinery::{protobuf, yaml};
use serde_json::Value;

/// A kind with all of metadata; the real one lives with the definitions.
#[derive(Clone, Debug, Default, PartialEq, DeriveStruct)]
#[schema(type_meta("v1", "ConfigMap"))]
struct ConfigMap {
    #[field(proto = 1)]
    metadata: ObjectMeta,
    #[field(proto = 4)]
    immutable: Option<bool>,
    #[field(proto = 2)]
    data: BTreeMap<String, String>,
    #[field(proto = 3)]
    binary_data: BTreeMap<String, ByteString>,
}

/// Reads a file of the reference data; says so when there is none.
fn reference(path: &str) -> Option<Vec<u8>> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/kubernetes")
        .join(path);
    let bytes = std::fs::read(&file).ok();
    if bytes.is_none() {
        eprintln_skip(path);
    }
    bytes
}

#[expect(clippy::print_stderr, reason = "a skipped check has to be visible")]
fn eprintln_skip(path: &str) {
    eprintln!("skipped: no reference data at ../shared/kubernetes/{path}");
}

fn round_trips(name: &str, mut object: impl Struct + Default + PartialEq) {
    let Some(text) = reference(&format!("fixtures/{name}.json")) else {
        return;
    };
    let findings = json::decode(&text, &mut object, Strictness::Strict).expect("the fixture fits");
    assert_eq!(findings.messages(), [] as [&str; 0]);
    let mut indented = Vec::new();
    json::indent(&json::to_vec(&object), &mut indented);
    assert_eq!(String::from_utf8_lossy(&indented), String::from_utf8_lossy(&text));

    let bytes = reference(&format!("fixtures/{name}.pb")).expect("beside the JSON form");
    let envelope = protobuf::open(&bytes).expect("an envelope");
    let meta = object.facts().type_meta.expect("a kind");
    assert_eq!(
        (
            envelope.type_meta.api_version.as_str(),
            envelope.type_meta.kind.as_str()
        ),
        (meta.api_version, meta.kind)
    );
    protobuf::decode(envelope.raw, &mut object).expect("the fixture fits");
    // Lists were filled twice now; start anew to compare the bytes.
    json::decode(&text, &mut object, Strictness::Lenient).expect("the fixture fits");
    let mut written = Vec::new();
    protobuf::encode_enveloped(&object, &mut written);
    assert!(
        written == bytes,
        "protobuf of {name} differs:\n{written:02x?}\n{bytes:02x?}"
    );

    let document = reference(&format!("fixtures/{name}.yaml")).expect("beside the JSON form");
    let read = yaml::to_json(&document).expect("YAML");
    let tree: Value = serde_json::from_slice(&read.json).expect("JSON");
    assert_eq!(tree, json::to_value(&object));
    assert_eq!(
        String::from_utf8_lossy(&yaml::from_json(&text).expect("JSON")),
        String::from_utf8_lossy(&document)
    );
}

#[test]
fn fixtures_round_trip_byte_for_byte() {
    round_trips("core.v1.Status", meta::Status::default());
    round_trips("core.v1.ConfigMap", ConfigMap::default());
}

/// The facts of one field that JSON and protobuf depend on, as text.
fn field_line(field: &FieldFacts) -> String {
    let omit = match field.omit {
        Omit::Never => "keep",
        Omit::Empty => "omitempty",
        Omit::Zero => "omitzero",
    };
    let list = match field.list {
        ListType::Unspecified => String::new(),
        ListType::Atomic => "atomic".to_owned(),
        ListType::Set => "set".to_owned(),
        ListType::Map(keys) => format!("map {keys:?}"),
    };
    let patch = field.patch.map_or(String::new(), |patch| {
        format!("merge={} key={}", patch.merge, patch.merge_key)
    });
    let optional = matches!(field.ty, TypeFacts::Optional(_));
    format!(
        "{} {omit} {} [{list}] [{patch}] optional={optional}",
        field.name, field.proto
    )
}

/// The same from the reference facts; `None` for the inlined kind and apiVersion.
fn reference_line(field: &Value) -> Option<String> {
    let text = |key: &str| field[key].as_str().unwrap_or_default();
    if field["inline"] == true {
        return None;
    }
    let marker = |start: &str| {
        let markers = field["markers"].as_array().into_iter().flatten();
        markers
            .filter_map(Value::as_str)
            .find_map(|marker| marker.strip_prefix(start))
            .map(str::to_owned)
    };
    let omit = if text("omit").is_empty() { "keep" } else { text("omit") };
    let proto = text("proto").split(',').nth(1).unwrap_or("0");
    let list = match (marker("+listType="), marker("+listMapKey=")) {
        (Some(kind), Some(key)) => format!("{kind} [{key:?}]"),
        (Some(kind), None) => kind,
        _ => String::new(),
    };
    let patch = match text("patchStrategy") {
        "" => String::new(),
        strategy => format!("merge={} key={}", strategy == "merge", text("patchMergeKey")),
    };
    // Written as a message of its own in protobuf.
    let optional = text("type").starts_with('*') || text("type") == "Verbs";
    Some(format!(
        "{} {omit} {proto} [{list}] [{patch}] optional={optional}",
        text("json")
    ))
}

#[test]
fn metadata_types_have_the_fields_of_the_reference() {
    let Some(types) = reference("types/meta.v1.json") else {
        return;
    };
    let types: Value = serde_json::from_slice(&types).expect("JSON");
    let ours: [&dyn Struct; 23] = [
        &meta::ObjectMeta::default(),
        &meta::OwnerReference::default(),
        &meta::ManagedFieldsEntry::default(),
        &meta::ListMeta::default(),
        &meta::ShardInfo::default(),
        &meta::Status::default(),
        &meta::StatusDetails::default(),
        &meta::StatusCause::default(),
        &meta::LabelSelector::default(),
        &meta::LabelSelectorRequirement::default(),
        &meta::Condition::default(),
        &meta::DeleteOptions::default(),
        &meta::Preconditions::default(),
        &meta::CreateOptions::default(),
        &meta::UpdateOptions::default(),
        &meta::PatchOptions::default(),
        &meta::GetOptions::default(),
        &meta::ListOptions::default(),
        &meta::WatchEvent::default(),
        &meta::ApiGroup::default(),
        &meta::ApiVersions::default(),
        &meta::ApiResource::default(),
        &meta::ApiResourceList::default(),
    ];
    for object in ours {
        let facts: &StructFacts = object.facts();
        let reference = types["types"][facts.name]["fields"].as_array().expect(facts.name);
        let expected: Vec<String> = reference.iter().filter_map(reference_line).collect();
        let actual: Vec<String> = facts.fields.iter().map(field_line).collect();
        assert_eq!(actual, expected, "{}", facts.name);
        let typed = reference.iter().any(|field| field["type"] == "TypeMeta");
        assert_eq!(facts.type_meta.is_some(), typed, "{}", facts.name);
    }
}
