//! Checks across types: names in attributes refer to fields, kinds do not conflict, versions convert.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_codegen_core::names;
use planesmith_codegen_core::resource::{CellSource, SubresourceKind};
use planesmith_codegen_core::structure::ListType;
use planesmith_machinery::json_path::JsonPath;

use super::{Definition, Field, Group, Kind, Model, Type};
use crate::generate::problem::Problem;
use crate::generate::source::RustPath;

/// Reports all inconsistencies.
pub(super) fn check(model: &Model, problems: &mut Vec<Problem>) {
    let mut check = Check { model, problems };
    for definition in model.structures() {
        check.inlined(definition);
        for field in &definition.fields {
            check.element_keys(definition, field);
        }
    }
    for package in &model.packages {
        check.clashes(&package.groups);
    }
    for (_, _, kind) in model.kinds() {
        check.paths(kind);
        check.json_paths(kind);
        check.hub(kind);
    }
}

struct Check<'a> {
    model: &'a Model,
    problems: &'a mut Vec<Problem>,
}

impl Check<'_> {
    fn report(&mut self, definition: &Definition, field: Option<&Field>, what: String, help: String) {
        let name = definition.path.name();
        let item = field.map_or_else(|| name.to_owned(), |field| format!("{name}.{}", field.facts.ident));
        self.problems.push(Problem {
            file: definition.file.clone(),
            item,
            what,
            help,
        });
    }

    /// Checks that inlined fields are structs whose fields do not conflict.
    fn inlined(&mut self, definition: &Definition) {
        for field in definition.fields.iter().filter(|field| field.facts.inline) {
            if !matches!(field.ty, Type::Struct(_)) {
                let help = "give it a struct type, or remove `inline`".to_owned();
                self.report(definition, Some(field), "`inline` needs a struct".to_owned(), help);
                return;
            }
        }
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        for field in self.model.json_fields(definition) {
            *seen.entry(&field.facts.name).or_default() += 1;
        }
        for (name, _) in seen.into_iter().filter(|(_, count)| *count > 1) {
            let what = format!("two fields are called \"{name}\" in JSON, one of them in an inlined struct");
            self.report(definition, None, what, "rename one of them".to_owned());
        }
    }

    /// Checks that map keys and merge keys are fields of the elements.
    fn element_keys(&mut self, definition: &Definition, field: &Field) {
        let facts = &field.facts;
        let map_keys = match &facts.list {
            ListType::Map(keys) => keys.as_slice(),
            ListType::Unspecified | ListType::Atomic | ListType::Set => &[],
        };
        let merge_key = facts
            .patch
            .as_ref()
            .map(|patch| &patch.merge_key)
            .filter(|key| !key.is_empty());
        let named = map_keys.iter().map(|key| ("list_map_keys", key));
        for (attribute, key) in named.chain(merge_key.map(|key| ("patch_merge_key", key))) {
            let Some(element) = field.ty.structure().map(|path| self.model.structure(path)) else {
                let what = format!("`{attribute}` needs structs in the list");
                self.report(definition, Some(field), what, "remove it".to_owned());
                return;
            };
            let fields = self.model.json_fields(element);
            if fields.iter().any(|field| field.facts.name == *key) {
                continue;
            }
            let known = || fields.iter().map(|field| field.facts.name.as_str());
            let help = match names::nearest(key, known()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("its fields are {}", known().collect::<Vec<_>>().join(", ")),
            };
            let what = format!("`{attribute}` names \"{key}\", which is no field of `{}`", element.name);
            self.report(definition, Some(field), what, help);
        }
    }

    /// Checks that no two kinds of a version share a name, and that a group has one folder.
    fn clashes(&mut self, groups: &[Group]) {
        for group in groups {
            if let Some(other) = groups
                .iter()
                .find(|other| other.module == group.module && other.name < group.name)
            {
                let what = format!(
                    "the groups \"{}\" and \"{}\" share the folder `{}`",
                    other.name, group.name, group.module
                );
                let kind = &group.versions[0].kinds[0];
                self.report(
                    self.model.structure(&kind.path),
                    None,
                    what,
                    "use one folder per group".to_owned(),
                );
            }
            self.storage_versions(group);
            self.client_names(group);
            for version in &group.versions {
                for (index, kind) in version.kinds.iter().enumerate() {
                    for other in &version.kinds[..index] {
                        self.clash(kind, other);
                    }
                }
            }
        }
    }

    /// Checks that a kind has one storage version: two would share keys in the store, and each would erase fields of the other.
    fn storage_versions(&mut self, group: &Group) {
        let kinds = group.versions.iter().flat_map(|version| &version.kinds);
        let is_stored = |kind: &&Kind| {
            let behavior = &kind.resource.behavior;
            kind.hub.is_none() && !behavior.create_only && !behavior.read_only
        };
        // The preferred version comes first.
        let stored: Vec<&Kind> = kinds.filter(is_stored).collect();
        for (index, older) in stored.iter().enumerate() {
            let Some(newer) = stored[..index].iter().find(|newer| {
                let (newer, older) = (&newer.resource, &older.resource);
                newer.kind == older.kind && newer.version != older.version
            }) else {
                continue;
            };
            let what = format!(
                "`{}` is a storage version of {} as well",
                newer.path, newer.resource.kind
            );
            let help = format!("add `storage_version = {}` to its `#[resource(...)]`", newer.path);
            self.report(self.model.structure(&older.path), None, what, help);
        }
    }

    /// Checks that the names and short names of a group's kinds are unique across versions.
    fn client_names(&mut self, group: &Group) {
        let kinds = group.versions.iter().flat_map(|version| &version.kinds);
        let mut known: BTreeMap<&str, &Kind> = BTreeMap::new();
        for kind in kinds.filter(|kind| kind.resource.served) {
            let resource = &kind.resource;
            let own = [&resource.plural, &resource.singular];
            for name in own.into_iter().chain(&resource.short_names) {
                let first = *known.entry(name).or_insert(kind);
                let is_reported =
                    first.resource.version == resource.version && first.resource.plural == resource.plural;
                if first.resource.kind != resource.kind && !is_reported {
                    let what = format!("clients call `{}` \"{name}\", too", first.path);
                    let help = "give one of them another plural, singular or short name".to_owned();
                    self.report(self.model.structure(&kind.path), None, what, help);
                }
            }
        }
    }

    fn clash(&mut self, kind: &Kind, other: &Kind) {
        let (mine, theirs) = (&kind.resource, &other.resource);
        let what = if mine.kind == theirs.kind {
            format!("`{}` has the same kind, {}", other.path, mine.kind)
        } else if mine.plural == theirs.plural {
            format!("`{}` has the same plural, {}", other.path, mine.plural)
        } else {
            return;
        };
        let help = "give one of them another name in `#[resource(...)]`".to_owned();
        self.report(self.model.structure(&kind.path), None, what, help);
    }

    /// Checks that the dotted paths of a kind lead to fields.
    fn paths(&mut self, kind: &Kind) {
        let definition = self.model.structure(&kind.path);
        let mut paths: Vec<(&str, &str)> = Vec::new();
        for subresource in &kind.resource.subresources {
            if let SubresourceKind::Scale(scale) = &subresource.kind {
                paths.extend([
                    ("scale", scale.spec_replicas.as_str()),
                    ("scale", &scale.status_replicas),
                ]);
                paths.extend((!scale.selector.is_empty()).then_some(("scale", scale.selector.as_str())));
            }
        }
        paths.extend(
            kind.resource
                .selectable
                .iter()
                .map(|path| ("selectable", path.as_str())),
        );
        paths.extend(kind.resource.columns.iter().filter_map(|column| match &column.source {
            CellSource::Path(path) => Some(("column", path.as_str())),
            CellSource::Name | CellSource::Age | CellSource::JsonPath(_) | CellSource::Function(_) => None,
        }));
        let rows_by = kind.resource.behavior.rows_by.as_str();
        paths.extend((!rows_by.is_empty()).then_some(("rows_by", rows_by)));
        for (key, path) in paths {
            if let Err(reason) = self.model.at(definition, path) {
                let what = format!("`{key}` names \"{path}\", but {reason}");
                self.report(
                    definition,
                    None,
                    what,
                    "write JSON names with dots between them".to_owned(),
                );
            }
        }
    }

    /// Checks that the JSONPath columns can be parsed.
    fn json_paths(&mut self, kind: &Kind) {
        for column in &kind.resource.columns {
            if let CellSource::JsonPath(path) = &column.source
                && let Err(reason) = JsonPath::parse(&format!(".{path}"))
            {
                self.report(
                    self.model.structure(&kind.path),
                    None,
                    format!("`column` has the path \"{path}\", but {reason}"),
                    "write it as in `kubectl get -o jsonpath`, such as \"status.conditions[?(@.type=='Ready')].status\"".to_owned(),
                );
            }
        }
    }

    /// Checks that a version converts to a storage version of the same kind, in its own or another group, and that its moved
    /// fields have a target.
    fn hub(&mut self, kind: &Kind) {
        let Some(hub) = &kind.hub else {
            return;
        };
        let definition = self.model.structure(&kind.path);
        let Some((_, _, hub)) = self.model.kinds().find(|(_, _, other)| other.path == *hub) else {
            let help = "define it under a group and version".to_owned();
            self.report(
                definition,
                None,
                format!("the storage version `{hub}` is not served"),
                help,
            );
            return;
        };
        let (mine, theirs) = (&kind.resource, &hub.resource);
        // It can be in another group: groups with a common kind share its objects.
        if mine.kind != theirs.kind {
            let what = format!("the storage version is of another kind: {}", theirs.kind);
            self.report(
                definition,
                None,
                what,
                "name the same kind in another version".to_owned(),
            );
        }
        if theirs.storage_version.is_some() {
            let what = format!("the storage version `{}` has a storage version of its own", hub.path);
            self.report(definition, None, what, "name that one".to_owned());
        }
        if mine.namespaced != theirs.namespaced {
            let what = format!(
                "`{}` is in namespaces and this version is not, or the other way round",
                hub.path
            );
            self.report(definition, None, what, "write `cluster` in both or in none".to_owned());
        }
        let target = self.model.structure(&hub.path);
        self.moved(definition, target, &mut BTreeSet::new());
    }

    /// Checks that moved fields, including those of nested structs, have a target in the storage version.
    fn moved(&mut self, definition: &Definition, hub: &Definition, seen: &mut BTreeSet<RustPath>) {
        if !seen.insert(definition.path.clone()) {
            return;
        }
        for field in &definition.fields {
            if let Some(path) = &field.facts.moved_to
                && let Err(reason) = self.model.at(hub, path)
            {
                let what = format!("`moved_to` names \"{path}\" in the storage version, but {reason}");
                self.report(
                    definition,
                    Some(field),
                    what,
                    "write JSON names with dots between them".to_owned(),
                );
            }
            if let Type::Struct(inner) = field.ty.present() {
                self.moved(self.model.structure(inner), hub, seen);
            }
        }
    }
}
