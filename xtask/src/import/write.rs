//! Renders drafts as Rust files: one per kind with the types that only it uses, and one per shared type.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::draft::{Draft, FieldDraft, StructDraft, literal, snake};
use super::mark;

/// Types of machinery and their modules.
const MACHINERY: &[(&str, &str)] = &[
    ("AnyJson", "raw"),
    ("ByteString", "byte_string"),
    ("Condition", "meta"),
    ("Duration", "duration"),
    ("FieldsV1", "raw"),
    ("GroupResource", "meta"),
    ("GroupVersionKind", "meta"),
    ("GroupVersionResource", "meta"),
    ("IntOrString", "int_or_string"),
    ("LabelSelector", "meta"),
    ("MicroTime", "micro_time"),
    ("ObjectMeta", "meta"),
    ("Quantity", "quantity"),
    ("RawExtension", "raw"),
    ("Status", "meta"),
    ("Time", "time"),
];

/// Types of the standard library.
const BUILT_IN: &[&str] = &[
    "bool", "i32", "i64", "f64", "String", "Vec", "Option", "Box", "BTreeMap",
];

/// Returns the files of all drafts, by path.
pub(super) fn files(drafts: &[Draft]) -> Vec<(PathBuf, String)> {
    let mut files = BTreeMap::new();
    let mut groups: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for draft in drafts {
        let module = module(&draft.group);
        let folder = Path::new(&module).join(&draft.version);
        version(draft, &folder, &mut files);
        groups.entry(module).or_default().insert(&draft.version);
    }
    for (module, versions) in groups {
        let mut text = format!("//! The versions of `{module}`.\n\n");
        versions
            .iter()
            .for_each(|version| text.push_str(&format!("pub mod {version};\n")));
        files.insert(PathBuf::from(format!("{module}.rs")), text);
    }
    files.into_iter().collect()
}

/// Returns the module of a group: its first word.
pub(super) fn module(group: &str) -> String {
    match group.split('.').next().unwrap_or_default() {
        "" => "core".to_owned(),
        word => snake(word),
    }
}

fn version(draft: &Draft, folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    let places = places(draft);
    let mut by_file: BTreeMap<&str, Vec<&StructDraft>> = BTreeMap::new();
    for item in &draft.structs {
        by_file.entry(places[item.name.as_str()]).or_default().push(item);
    }
    let mut text = format!("//! `{}`.\n\n", draft.api_version());
    for name in by_file.keys() {
        text.push_str(&format!("mod {};\n", snake(name)));
    }
    text.push('\n');
    for (name, structs) in &by_file {
        let mut names: Vec<&str> = structs.iter().map(|item| item.name.as_str()).collect();
        names.sort_unstable();
        let names = match names.as_slice() {
            [one] => (*one).to_owned(),
            names => format!("{{{}}}", names.join(", ")),
        };
        text.push_str(&format!("pub use {}::{names};\n", snake(name)));
    }
    files.insert(folder.with_extension("rs"), text);
    for (name, structs) in by_file {
        let path = folder.join(snake(name)).with_extension("rs");
        files.insert(path, file(name, &structs, &places));
    }
}

/// Returns the file of each struct: that of the only kind that uses it, else its own.
fn places(draft: &Draft) -> BTreeMap<&str, &str> {
    let by_name: BTreeMap<&str, &StructDraft> = draft.structs.iter().map(|item| (item.name.as_str(), item)).collect();
    let mut reached_by: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for kind in draft.structs.iter().filter(|item| item.resource.is_some()) {
        let mut open = vec![kind.name.as_str()];
        while let Some(name) = open.pop() {
            if !reached_by.entry(name).or_default().insert(&kind.name) {
                continue;
            }
            let inner = by_name[name].fields.iter().flat_map(|field| names(&field.ty));
            open.extend(inner.filter_map(|inner| by_name.get_key_value(inner).map(|(name, _)| *name)));
        }
    }
    let place = |item: &'_ &StructDraft| match reached_by
        .get(item.name.as_str())
        .map(|kinds| kinds.iter().collect::<Vec<_>>())
    {
        Some(kinds) if kinds.len() == 1 && item.resource.is_none() => Some(*kinds[0]),
        _ => None,
    };
    draft
        .structs
        .iter()
        .map(|item| (item.name.as_str(), place(&item).unwrap_or(item.name.as_str())))
        .collect()
}

/// Returns the names in a type.
fn names(ty: &str) -> impl Iterator<Item = &str> {
    ty.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|name| !name.is_empty())
}

fn file(name: &str, structs: &[&StructDraft], places: &BTreeMap<&str, &str>) -> String {
    let mut machinery: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut siblings = BTreeSet::new();
    let (mut maps, mut kinds, mut plain) = (false, false, false);
    let mut body = String::new();
    for item in structs {
        kinds |= item.resource.is_some();
        plain |= item.resource.is_none();
        body.push('\n');
        body.push_str(&structure(item, places));
        for field in &item.fields {
            let (ty, _) = reachable(&field.ty, places);
            for used in names(&ty) {
                maps |= used == "BTreeMap";
                match (
                    MACHINERY.iter().find(|(known, _)| *known == used),
                    places.get_key_value(used),
                ) {
                    (_, Some((used, place))) if *place != name => drop(siblings.insert(*used)),
                    (Some((known, module)), None) => drop(machinery.entry(module).or_default().insert(known)),
                    _ => {}
                }
            }
        }
    }
    let mut text = format!("//! {}\n\n", first_line(&structs[0].doc));
    if maps {
        text.push_str("use std::collections::BTreeMap;\n\n");
    }
    for (module, used) in machinery {
        text.push_str(&import(&format!("planesmith_machinery::{module}"), used));
    }
    let derives = [(kinds, "Resource"), (plain, "Struct")];
    let derives = derives.into_iter().filter_map(|(used, name)| used.then_some(name));
    text.push_str(&import("planesmith_machinery", derives));
    if !siblings.is_empty() {
        text.push('\n');
        text.push_str(&import("super", siblings));
    }
    text + &body
}

fn import<'n>(path: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [one] => format!("use {path}::{one};\n"),
        names => format!("use {path}::{{{}}};\n", names.join(", ")),
    }
}

fn first_line(doc: &str) -> &str {
    doc.lines().next().unwrap_or_default()
}

fn structure(item: &StructDraft, places: &BTreeMap<&str, &str>) -> String {
    let mut text = comment("", &item.doc);
    text.extend(item.marks.iter().map(|mark| mark::comment("", mark)));
    let derive = if item.resource.is_some() { "Resource" } else { "Struct" };
    text.push_str(&format!("#[derive(Clone, Debug, Default, PartialEq, {derive})]\n"));
    if let Some(keys) = &item.resource {
        let (columns, keys): (Vec<&String>, Vec<&String>) = keys.iter().partition(|key| key.starts_with("column("));
        text.push_str(&attribute("", "resource", &keys));
        if !columns.is_empty() {
            text.push_str(&attribute("", "resource", &columns));
        }
    }
    if !item.schema.is_empty() {
        text.push_str(&attribute("", "schema", &item.schema.iter().collect::<Vec<_>>()));
    }
    if item.fields.is_empty() {
        return text + &format!("pub struct {} {{}}\n", item.name);
    }
    text.push_str(&format!("pub struct {} {{\n", item.name));
    for field in &item.fields {
        text.push_str(&self::field(item, field, places));
    }
    text.push_str("}\n");
    text
}

fn field(owner: &StructDraft, field: &FieldDraft, places: &BTreeMap<&str, &str>) -> String {
    let inline = field.keys.iter().any(|key| key == "inline");
    let name = if inline { snake(&field.ty) } else { snake(&field.name) };
    let mut keys = field.keys.clone();
    if !inline && planesmith_codegen_core::names::camel_case(&name) != field.name {
        keys.insert(0, format!("name = {}", literal(&field.name)));
    }
    let (mut ty, missing) = reachable(&field.ty, places);
    let mut text = comment("    ", &field.doc);
    if let Some(missing) = missing {
        let mark = format!("{missing} is of another package: import it, and write its type here");
        text.push_str(&mark::comment("    ", &mark));
    }
    text.extend(field.marks.iter().map(|mark| mark::comment("    ", mark)));
    if names(&ty).any(|name| name == owner.name) && !ty.contains("Vec<") && !ty.contains("BTreeMap<") {
        ty = ty.replace(&owner.name, &format!("Box<{}>", owner.name));
    }
    if !keys.is_empty() {
        text.push_str(&attribute("    ", "field", &keys.iter().collect::<Vec<_>>()));
    }
    text.push_str(&format!("    pub {name}: {ty},\n"));
    text
}

/// Returns a type whose first unknown name is replaced by `RawExtension`, and that name, which is of another package.
fn reachable<'t>(ty: &'t str, places: &BTreeMap<&str, &str>) -> (String, Option<&'t str>) {
    let known = |name: &str| {
        BUILT_IN.contains(&name) || places.contains_key(name) || MACHINERY.iter().any(|(known, _)| *known == name)
    };
    match names(ty).find(|name| !known(name)) {
        Some(missing) => (ty.replace(missing, "RawExtension"), Some(missing)),
        None => (ty.to_owned(), None),
    }
}

/// Returns an attribute on one line, or with a key per line.
fn attribute(indent: &str, name: &str, keys: &[&String]) -> String {
    let keys: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
    let line = format!("{indent}#[{name}({})]\n", keys.join(", "));
    if line.len() <= 120 {
        return line;
    }
    let keys: String = keys.iter().map(|key| format!("{indent}    {key},\n")).collect();
    format!("{indent}#[{name}(\n{}\n{indent})]\n", keys.trim_end_matches(",\n"))
}

/// Returns a doc comment, wrapped.
fn comment(indent: &str, doc: &str) -> String {
    let mut text = String::new();
    for paragraph in doc.lines() {
        let mut line = format!("{indent}///");
        for word in paragraph.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > 120 {
                text.push_str(&line);
                text.push('\n');
                line = format!("{indent}///");
            }
            line.push(' ');
            line.push_str(word);
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}
