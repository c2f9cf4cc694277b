//! Comparison of names, order, tags, omission, list types and patch strategies with Kubernetes' own types.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use planesmith_machinery::facts::{FieldFacts, ListType, Omit, PatchFacts, Rule, StructFacts, TypeFacts};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use serde_json::Value;

use crate::reference::{folder, zero_objects};

#[test]
fn tables_agree_with_the_types_of_kubernetes() {
    let Some(folder) = folder("types") else { return };
    let mut comparison = Comparison {
        packages: Packages::read(&folder),
        is_served: true,
        seen: BTreeSet::new(),
        differences: Vec::new(),
    };
    let served = served();
    let (shown, others): (Vec<_>, Vec<_>) = zero_objects().into_iter().partition(|(name, _)| served.contains(name));
    assert!(!shown.is_empty());
    for (is_served, objects) in [(true, shown), (false, others)] {
        comparison.is_served = is_served;
        for (name, object) in objects {
            let Some((group_version, _)) = name.rsplit_once('.') else {
                continue;
            };
            match comparison.packages.by_name.get(group_version).cloned() {
                Some(package) => comparison.compare(&package, object.facts()),
                None => comparison
                    .differences
                    .push(format!("{name}: there is no {group_version}")),
            }
        }
    }
    let count = comparison.seen.len();
    assert!(
        comparison.differences.is_empty(),
        "in {count} structs:\n{}",
        comparison.differences.join("\n")
    );
    println!("{count} structs agree");
}

#[test]
fn inner_layouts_name_every_field_or_none_and_no_other() {
    let mut seen = BTreeSet::new();
    for (_, object) in zero_objects() {
        look_at_layouts(object.facts(), &mut seen);
    }
    assert!(seen.iter().any(|(_, name)| *name == "PodSpec"), "{seen:?}");
}

/// Checks the layout of a type and, recursively, of its fields' types.
fn look_at_layouts(facts: &'static StructFacts, seen: &mut BTreeSet<(&'static str, &'static str)>) {
    if !seen.insert((facts.module, facts.name)) {
        return;
    }
    if let Some(layout) = facts.internal {
        let lent = layout.lent.map_or(&[][..], |(_, fields)| fields);
        let named = [layout.fields, lent, layout.left_out].concat();
        let (named, count): (BTreeSet<_>, _) = (named.iter().copied().collect(), named.len());
        let fields: BTreeSet<_> = facts.fields.iter().map(|field| field.name).collect();
        if count > 0 {
            assert_eq!((&named, count), (&fields, fields.len()), "{}", facts.name);
        }
        for name in layout.zeros {
            let field = facts.field_named(name).expect("a field of the type");
            assert!(field.is_optional() && is_number(&field.ty), "{}.{name}", facts.name);
        }
    }
    for field in facts.fields {
        let mut ty = &field.ty;
        while let TypeFacts::List(inner) | TypeFacts::Map(inner) | TypeFacts::Optional(inner) = ty {
            ty = inner;
        }
        if let TypeFacts::Struct(inner) = ty {
            look_at_layouts(inner(), seen);
        }
    }
}

/// True for numbers, and for what is the number 0 unless it is given.
fn is_number(ty: &TypeFacts) -> bool {
    match ty.present() {
        TypeFacts::Int32 | TypeFacts::Int64 | TypeFacts::Double => true,
        TypeFacts::Scalar(scalar) => scalar.go_name == "intstr.IntOrString",
        _ => false,
    }
}

/// Returns the served kinds by the names of their fixtures.
fn served() -> BTreeSet<String> {
    let mut scheme = Scheme::new();
    planesmith::register(&mut scheme);
    let served = scheme.iter().filter(|facts| facts.served);
    let name = |facts: &ResourceFacts| {
        let group = if facts.group.is_empty() { "core" } else { &*facts.group };
        format!("{group}.{}.{}", facts.version, facts.kind)
    };
    served.map(name).collect()
}

/// Minor version of the declared Kubernetes release.
const MINOR: u32 = 36;

#[test]
fn deprecated_versions_warn_as_those_of_kubernetes_do() {
    let Some(folder) = folder("types") else { return };
    let packages = Packages::read(&folder);
    let mut scheme = Scheme::new();
    planesmith::register(&mut scheme);
    let mut differences = Vec::new();
    for facts in scheme.iter().filter(|facts| facts.served) {
        let group = if facts.group.is_empty() { "core" } else { &*facts.group };
        let package = packages.by_name.get(&format!("{group}.{}", facts.version));
        let Some(declared) = package.and_then(|package| packages.types[package].get(&*facts.kind)) else {
            continue;
        };
        let wanted = warning(&facts.api_version, &facts.kind, declared);
        if wanted.as_deref() != facts.deprecated.as_deref() {
            let name = format!("{} {}", facts.api_version, facts.kind);
            differences.push(format!("{name}: {:?} is not {wanted:?}", facts.deprecated));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns the deprecation warning that results from the declared releases of a type.
fn warning(api_version: &str, kind: &str, declared: &Value) -> Option<String> {
    match (api_version, kind) {
        // These two kinds have their warning in code instead of markers.
        ("v1", "ComponentStatus") => return Some("v1 ComponentStatus is deprecated in v1.19+".to_owned()),
        ("v1", "Endpoints") => {
            let text = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
            return Some(text.to_owned());
        }
        _ => {}
    }
    let find = |key: &str| {
        let prefix = format!("+k8s:prerelease-lifecycle-gen:{key}=");
        markers(declared).find_map(|marker| marker.strip_prefix(&prefix).map(str::to_owned))
    };
    let minor = |text: String| text.rsplit('.').next().and_then(|minor| minor.parse::<u32>().ok());
    let unsettled = api_version.contains("alpha") || api_version.contains("beta");
    let introduced = find("introduced").and_then(minor);
    let deprecated = find("deprecated")
        .and_then(minor)
        .or_else(|| deprecation_of_unmarked(api_version, kind))
        .or(introduced.filter(|_| unsettled).map(|introduced| introduced + 3))?;
    let removed = find("removed").and_then(minor).or(unsettled.then_some(deprecated + 3));
    if deprecated > MINOR {
        return None;
    }
    let mut text = format!("{api_version} {kind} is deprecated in v1.{deprecated}+");
    if let Some(removed) = removed {
        text.push_str(&format!(", unavailable in v1.{removed}+"));
    }
    if let Some(replacement) = find("replacement") {
        let parts: Vec<&str> = replacement.split(',').collect();
        if let [group, version, kind] = parts.as_slice() {
            text.push_str(&format!("; use {group}/{version} {kind}"));
        }
    }
    Some(text)
}

/// The minor release in which a kind became deprecated whose facts have no markers. kube-apiserver warns about it all the same.
fn deprecation_of_unmarked(api_version: &str, kind: &str) -> Option<u32> {
    match (api_version, kind) {
        ("certificates.k8s.io/v1alpha1", "ClusterTrustBundle") => Some(34),
        ("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBinding") => Some(35),
        ("resource.k8s.io/v1beta1", "ResourceSlice") => Some(35),
        ("resource.k8s.io/v1beta2", "ResourceSlice") => Some(36),
        _ => None,
    }
}

/// Types by package and name.
struct Packages {
    types: BTreeMap<String, Value>,
    /// Packages by group and version in the notation of the fixtures.
    by_name: BTreeMap<String, String>,
}

impl Packages {
    fn read(folder: &Path) -> Self {
        let (mut types, mut by_name) = (BTreeMap::new(), BTreeMap::new());
        for entry in fs::read_dir(folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = fs::read(&path).expect("a readable file");
            let mut document: Value = serde_json::from_slice(&text).expect("JSON");
            if let (Some(group), Some(version)) = (document["group"].as_str(), document["version"].as_str()) {
                let group = if group.is_empty() { "core" } else { group };
                by_name.insert(format!("{group}.{version}"), name.clone());
            }
            types.insert(name, document["types"].take());
        }
        Self { types, by_name }
    }

    /// Finds the type `name` in `package`, then in version 1 of its group, then in the metadata package. Older versions
    /// refer to types of version 1 under the same name.
    fn find(&self, package: &str, name: &str) -> Option<(String, &Value)> {
        let stable = format!("{}.v1", package.split('.').next().unwrap_or_default());
        [package, stable.as_str(), "meta.v1", "core.v1", "authentication.v1"]
            .into_iter()
            .find_map(|package| {
                let found = self.types.get(package)?.get(name)?;
                let refers = found["of"] == format!("v1.{name}");
                (!refers).then(|| (package.to_owned(), found))
            })
    }

    /// Returns the enumeration values that OpenAPI lists for `ty`, including those inside of lists and maps.
    fn choices(&self, package: &str, ty: &str) -> BTreeSet<String> {
        let inner = ty.trim_start_matches('*');
        let inner = inner.strip_prefix("[]").unwrap_or(inner);
        let inner = match inner.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            Some((_, value)) => value,
            None => inner,
        };
        let name = inner.rsplit('.').next().unwrap_or(inner);
        let Some((_, found)) = self.find(package, name).filter(|(_, found)| has_marker(found, "+enum")) else {
            return BTreeSet::new();
        };
        match MADE.iter().find(|(made, _)| *made == name) {
            Some((_, texts)) => texts.iter().map(|text| (*text).to_owned()).collect(),
            None => found["values"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Renders `ty` of `package` without package prefixes and with aliases resolved.
    fn plain(&self, package: &str, ty: &str) -> String {
        for prefix in ["*", "[]", "map[string]"] {
            if let Some(rest) = ty.strip_prefix(prefix) {
                return format!("{prefix}{}", self.plain(package, rest));
            }
        }
        if let Some((_, value)) = ty.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            return format!("map[string]{}", self.plain(package, value));
        }
        let name = ty.rsplit('.').next().unwrap_or(ty);
        match self.find(package, name) {
            Some((_, found)) if found["kind"] == "alias" => {
                self.plain(package, found["of"].as_str().unwrap_or_default())
            }
            _ if ["UID", "NodeName"].contains(&name) => "string".to_owned(),
            _ => name.to_owned(),
        }
    }
}

/// Values of enumerations whose constants are derived from others and therefore missing in the types.
const MADE: &[(&str, &[&str])] = &[
    ("AddressType", &["FQDN", "IPv4", "IPv6"]),
    ("DeviceAllocationMode", &["All", "ExactCount"]),
    ("PathType", &["Exact", "ImplementationSpecific", "Prefix"]),
];

struct Comparison {
    packages: Packages,
    /// True if OpenAPI describes the compared types. Types of versions that OpenAPI does not describe borrow from
    /// others, including the enumerations.
    is_served: bool,
    seen: BTreeSet<(String, &'static str)>,
    differences: Vec<String>,
}

impl Comparison {
    fn compare(&mut self, package: &str, ours: &'static StructFacts) {
        let Some((package, theirs)) = self.packages.find(package, ours.name) else {
            self.differences.push(format!("{package}: there is no {}", ours.name));
            return;
        };
        if !self.seen.insert((package.clone(), ours.name)) {
            return;
        }
        let theirs = theirs.clone();
        let atomic = has_marker(&theirs, "+structType=atomic");
        if atomic != ours.atomic {
            self.differences
                .push(format!("{package} {}: atomic is {}", ours.name, ours.atomic));
        }
        let fields: Vec<&Value> = theirs["fields"].as_array().into_iter().flatten().collect();
        let type_meta = |field: &Value| {
            let ty = field["type"].as_str().unwrap_or_default();
            field["inline"] == true && ty.ends_with("TypeMeta")
        };
        let says_its_kind = fields.iter().any(|field| type_meta(field));
        let fields: Vec<&Value> = fields.into_iter().filter(|field| !type_meta(field)).collect();
        // An embedded struct has no name.
        let names = |field: &&Value| field["json"].as_str().unwrap_or_default().to_owned();
        let wanted: Vec<String> = fields.iter().map(names).collect();
        // Embedded objects have fields for their kind, standalone objects do not.
        let ours_fields = ours.fields.iter();
        let ours_fields: Vec<_> = ours_fields
            .filter(|field| !says_its_kind || !matches!(field.name, "kind" | "apiVersion"))
            .collect();
        let written: Vec<&str> = ours_fields.iter().map(|field| field.name).collect();
        if wanted != written {
            self.differences.push(format!(
                "{package} {}: fields are {written:?}, not {wanted:?}",
                ours.name
            ));
            return;
        }
        for (ours_field, theirs_field) in ours_fields.into_iter().zip(fields) {
            let mut wanted = self.wanted(&package, theirs_field);
            if theirs_field["inline"] == true {
                let ty = self
                    .packages
                    .plain(&package, theirs_field["type"].as_str().unwrap_or_default());
                wanted = line(&ty, &ours_field.proto.to_string(), ours_field.omit, "", false, "/");
            }
            let written = written_as(ours_field);
            if wanted != written {
                let name = format!("{package} {}.{}", ours.name, ours_field.name);
                self.differences
                    .push(format!("{name}:\n  written {written}\n  wanted  {wanted}"));
            }
            let ty = theirs_field["type"].as_str().unwrap_or_default();
            let (wanted, written) = (self.packages.choices(&package, ty), choices(ours_field));
            if wanted != written && self.is_served {
                let name = format!("{package} {}.{}", ours.name, ours_field.name);
                self.differences
                    .push(format!("{name}:\n  lists  {written:?}\n  wanted {wanted:?}"));
            }
            if let Some(inner) = struct_of(&ours_field.ty) {
                self.compare(&package, inner);
            }
        }
    }

    /// Renders their field in one line.
    fn wanted(&self, package: &str, field: &Value) -> String {
        let text = |key: &str| field[key].as_str().unwrap_or_default();
        let tag = text("proto").split(',').nth(1).unwrap_or_default();
        let omit = match text("omit") {
            "omitempty" => Omit::Empty,
            "omitzero" => Omit::Zero,
            _ => Omit::Never,
        };
        let marker = |name: &str| {
            markers(field)
                .filter_map(|marker| marker.strip_prefix(name))
                .collect::<Vec<_>>()
        };
        // One field that is not a list has list markers.
        let lists = self.packages.plain(package, text("type")).contains("[]");
        let list = match marker("+listType=").first().copied().filter(|_| lists) {
            Some("map") => format!("map {:?}", marker("+listMapKey=")),
            Some(other) => other.to_owned(),
            None => String::new(),
        };
        let atomic = marker("+mapType=").contains(&"atomic") || marker("+structType=").contains(&"atomic");
        let patch = [text("patchStrategy"), text("patchMergeKey")].join("/");
        let ty = self.packages.plain(package, text("type"));
        line(&ty, tag, omit, &list, atomic, &patch)
    }
}

/// Returns our enumeration values of a field.
fn choices(field: &FieldFacts) -> BTreeSet<String> {
    let texts = field.rules.iter().find_map(|rule| match rule {
        Rule::Enum(texts) | Rule::KnownValues(texts) => Some(*texts),
        _ => None,
    });
    texts.into_iter().flatten().map(|text| (*text).to_owned()).collect()
}

/// Renders our field in one line.
fn written_as(field: &FieldFacts) -> String {
    let list = match field.list {
        ListType::Unspecified => String::new(),
        ListType::Atomic => "atomic".to_owned(),
        ListType::Set => "set".to_owned(),
        ListType::Map(keys) => format!("map {keys:?}"),
    };
    let patch = match &field.patch {
        None => "/".to_owned(),
        Some(PatchFacts {
            merge,
            retain_keys,
            replace,
            merge_key,
        }) => {
            let words = [(*merge, "merge"), (*retain_keys, "retainKeys"), (*replace, "replace")];
            let words: Vec<&str> = words
                .into_iter()
                .filter_map(|(set, word)| set.then_some(word))
                .collect();
            format!("{}/{merge_key}", words.join(","))
        }
    };
    let tag = if field.proto == 0 {
        String::new()
    } else {
        field.proto.to_string()
    };
    line(&go_type(&field.ty), &tag, field.omit, &list, field.atomic, &patch)
}

fn line(ty: &str, tag: &str, omit: Omit, list: &str, atomic: bool, patch: &str) -> String {
    format!("{ty}, tag {tag}, omit {omit:?}, list [{list}], atomic {atomic}, patch [{patch}]")
}

fn go_type(ty: &TypeFacts) -> String {
    match ty {
        TypeFacts::Bool => "bool".to_owned(),
        TypeFacts::Int32 => "int32".to_owned(),
        TypeFacts::Int64 => "int64".to_owned(),
        TypeFacts::Double => "float64".to_owned(),
        TypeFacts::String => "string".to_owned(),
        TypeFacts::Bytes => "[]byte".to_owned(),
        TypeFacts::Scalar(scalar) => scalar.go_name.rsplit('.').next().unwrap_or_default().to_owned(),
        TypeFacts::Struct(facts) => facts().name.to_owned(),
        TypeFacts::List(element) => format!("[]{}", go_type(element)),
        TypeFacts::Map(value) => format!("map[string]{}", go_type(value)),
        // Lists and maps are optional in Go without a pointer.
        TypeFacts::Optional(inner) if matches!(inner, TypeFacts::List(_) | TypeFacts::Map(_)) => go_type(inner),
        TypeFacts::Optional(inner) => format!("*{}", go_type(inner)),
    }
}

fn struct_of(ty: &TypeFacts) -> Option<&'static StructFacts> {
    match ty {
        TypeFacts::Struct(facts) => Some(facts()),
        TypeFacts::List(inner) | TypeFacts::Map(inner) | TypeFacts::Optional(inner) => struct_of(inner),
        _ => None,
    }
}

fn markers(value: &Value) -> impl Iterator<Item = &str> {
    value["markers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn has_marker(value: &Value, marker: &str) -> bool {
    markers(value).any(|found| found == marker)
}
