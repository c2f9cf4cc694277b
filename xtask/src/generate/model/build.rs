//! Builds the model from sources: parses each definition with the code of the derives, and resolves its names.

use std::collections::BTreeMap;

use planesmith_codegen_core::names::version_parts;
use planesmith_codegen_core::structure::{FieldModel, RuleModel, StructModel};
use planesmith_codegen_core::type_ref::TypeRef;
use planesmith_codegen_core::{resource, structure};

use super::{Definition, Field, Group, Kind, Model, PackageModel, Type, Version, leaf};
use crate::generate::package::{Package, Role};
use crate::generate::problem::Problem;
use crate::generate::source::{Derive, Item, Module, PRIORITY, RustPath, Sources, Written};

/// Builds the model, which is only valid if there are no problems.
pub(super) fn build(sources: &Sources, problems: &mut Vec<Problem>) -> Model {
    let mut builder = Builder {
        sources,
        problems,
        structs: BTreeMap::new(),
        messages: Vec::new(),
    };
    let mut packages = Vec::new();
    for package in &sources.packages {
        let kinds = builder.package(package);
        if package.role == Role::Own && !kinds.is_empty() {
            builder.includes_generated(package);
        }
        builder.messages.sort();
        if package.role == Role::Library {
            builder.messages.clear();
        } else {
            packages.push(PackageModel {
                package: package.clone(),
                groups: groups(kinds, sources),
                messages: std::mem::take(&mut builder.messages),
            });
        }
    }
    Model {
        packages,
        structs: builder.structs,
    }
}

struct Builder<'a> {
    sources: &'a Sources,
    problems: &'a mut Vec<Problem>,
    structs: BTreeMap<RustPath, Definition>,
    messages: Vec<RustPath>,
}

/// A kind and the module of its group.
struct Placed {
    kind: Kind,
    group_module: String,
}

impl Builder<'_> {
    /// Adds the structs of a crate; returns its kinds.
    fn package(&mut self, package: &Package) -> Vec<Placed> {
        let mut kinds = Vec::new();
        for (path, module) in self.sources.modules_of(package) {
            for (name, item) in &module.items {
                if let Item::Definition(written) = item {
                    kinds.extend(self.definition(module, path, &path.join(name), written));
                }
            }
        }
        kinds
    }

    /// Reports a crate that does not declare its module `generated`.
    fn includes_generated(&mut self, package: &Package) {
        let root = RustPath(vec![package.crate_name()]);
        let Some(lib) = self.sources.module(&root) else {
            return;
        };
        if !matches!(lib.items.get("generated"), Some(Item::Module)) {
            let what = "what is generated is not part of the crate".to_owned();
            self.report(lib, "", what, "add `pub mod generated;`");
        }
    }

    fn definition(&mut self, module: &Module, at: &RustPath, path: &RustPath, written: &Written) -> Option<Placed> {
        let model = match written.derive {
            Derive::Struct => structure::model(&written.input).map(|structure| (structure, None)),
            Derive::Resource => resource::model(&written.input).map(|kind| (kind.structure.clone(), Some(kind))),
        };
        let (structure, kind) = match model {
            Ok(model) => model,
            Err(errors) => {
                for error in errors {
                    self.report_derive(module, path, &error);
                }
                return None;
            }
        };
        let definition = self.resolved(module, at, path, structure);
        if definition.type_meta.is_some() && kind.is_none() {
            self.messages.extend(self.sources.public_path(path));
        }
        self.structs.insert(path.clone(), definition);
        let kind = kind?;
        let hub = kind.storage_version.as_ref().and_then(|hub| {
            let found = self.sources.resolve(at, &segments(hub));
            let is_kind = |path: &RustPath| {
                matches!(self.sources.item(path), Some(Item::Definition(hub)) if hub.derive == Derive::Resource)
            };
            if !found.as_ref().is_some_and(is_kind) {
                let shown = segments(hub).join("::");
                let help = "name the struct of the storage version, such as `super::v1::Order`";
                self.report(module, path.name(), format!("the storage version `{shown}` is not a kind"), help);
            }
            found
        });
        self.placed(module, path, kind, hub)
    }

    /// Returns the kind with its public path, whose last steps are the group and the version.
    fn placed(
        &mut self,
        module: &Module,
        path: &RustPath,
        resource: resource::ResourceModel,
        hub: Option<RustPath>,
    ) -> Option<Placed> {
        let Some(public) = self.sources.public_path(path) else {
            let help = format!(
                "make its modules `pub`, or add `pub use ...::{};` to the module `{}`",
                path.name(),
                resource.version
            );
            self.report(
                module,
                path.name(),
                "other crates cannot reach the kind".to_owned(),
                &help,
            );
            return None;
        };
        let steps: Vec<&str> = public.0.iter().map(String::as_str).collect();
        let (version, group) = match steps.as_slice() {
            [_, group, version, _] => (*version, *group),
            [_, version, _] => (*version, resource.group.split('.').next().unwrap_or_default()),
            _ => ("", ""),
        };
        if version != resource.version || group.is_empty() {
            let what = format!("the kind is `{public}`, but its version is `{}`", resource.version);
            let help = format!(
                "make it `<group>::{}::{}`: a module per group and version",
                resource.version,
                path.name()
            );
            self.report(module, path.name(), what, &help);
            return None;
        }
        let group_module = group.replace('-', "_");
        Some(Placed {
            kind: Kind {
                path: path.clone(),
                public,
                resource,
                hub,
            },
            group_module,
        })
    }

    fn resolved(&mut self, module: &Module, at: &RustPath, path: &RustPath, structure: StructModel) -> Definition {
        let StructModel {
            name,
            doc,
            type_meta,
            atomic,
            union,
            fields,
            ..
        } = structure;
        let fields = fields.into_iter().filter_map(|mut facts| {
            if let Some(constant) = &facts.known_at {
                let known = self.texts(module, at, path, &facts.ident, constant)?;
                facts.rules.insert(0, RuleModel::KnownValues(known));
            }
            let ty = self.field_type(at, &facts);
            if ty.is_none() {
                let item = format!("{}.{}", path.name(), facts.ident);
                let help = "use a type of machinery, or a struct with `#[derive(Struct)]` that is imported by name";
                self.report(module, &item, "the type of the field cannot be found".to_owned(), help);
            }
            Some(Field { ty: ty?, facts })
        });
        let fields = fields.collect();
        Definition {
            path: path.clone(),
            file: module.file.clone(),
            name,
            doc,
            type_meta,
            atomic,
            union,
            fields,
        }
    }

    /// Returns the texts of the constant that the key `known` of a field names.
    fn texts(
        &mut self,
        module: &Module,
        at: &RustPath,
        path: &RustPath,
        field: &syn::Ident,
        constant: &syn::Path,
    ) -> Option<Vec<String>> {
        let segments = segments(constant);
        let found = self.sources.resolve(at, &segments);
        match found.and_then(|found| self.sources.item(&found)) {
            Some(Item::Texts(texts)) => Some(texts.clone()),
            _ => {
                let item = format!("{}.{field}", path.name());
                let what = format!("`known` names `{}`, which is not a list of texts", segments.join("::"));
                let help = "name a constant such as `const POLICIES: [&str; 2] = [\"Always\", \"Never\"];`";
                self.report(module, &item, what, help);
                None
            }
        }
    }

    fn field_type(&self, at: &RustPath, facts: &FieldModel) -> Option<Type> {
        self.resolve_type(at, &facts.shape)
    }

    fn resolve_type(&self, at: &RustPath, shape: &TypeRef) -> Option<Type> {
        let inner = |shape: &TypeRef| self.resolve_type(at, shape).map(Box::new);
        Some(match shape {
            TypeRef::Bool => Type::Bool,
            TypeRef::Int32 => Type::Int32,
            TypeRef::Int64 => Type::Int64,
            TypeRef::Double => Type::Double,
            TypeRef::String => Type::String,
            TypeRef::List(element) => Type::List(inner(element)?),
            TypeRef::Map(value) => Type::Map(inner(value)?),
            TypeRef::Optional(value) => Type::Optional(inner(value)?),
            TypeRef::Other => return None,
            TypeRef::Named(path) => {
                let found = self.sources.resolve(at, &segments(path))?;
                match self.sources.item(&found) {
                    Some(Item::Definition(_)) => Type::Struct(found),
                    Some(Item::Alias(ty)) => self.resolve_type(&found.parent()?, &TypeRef::from_type(ty))?,
                    _ => Type::Leaf(leaf::find(found.name())?),
                }
            }
        })
    }

    fn report(&mut self, module: &Module, item: &str, what: String, help: &str) {
        let problem = Problem {
            file: module.file.clone(),
            item: item.to_owned(),
            what,
            help: help.to_owned(),
        };
        self.problems.push(problem);
    }

    /// Adds the problems that the derive would report.
    fn report_derive(&mut self, module: &Module, path: &RustPath, error: &syn::Error) {
        let message = error.to_string();
        let (what, help) = message
            .split_once("\nhelp: ")
            .unwrap_or((&message, "`cargo check` shows the line"));
        self.report(module, path.name(), what.to_owned(), help);
    }
}

/// Returns the names of a path; a leading `::` is an empty name.
fn segments(path: &syn::Path) -> Vec<String> {
    let leading = path.leading_colon.map(|_| String::new());
    leading
        .into_iter()
        .chain(path.segments.iter().map(|segment| segment.ident.to_string()))
        .collect()
}

/// Returns the path of the constant with the priorities of a kind's group version, in the module of the version.
fn priority(kind: &Kind, sources: &Sources) -> Option<RustPath> {
    let path = kind.public.parent()?.join(PRIORITY);
    matches!(sources.item(&path), Some(Item::Priority)).then_some(path)
}

/// Groups kinds by group and version, sorted.
fn groups(kinds: Vec<Placed>, sources: &Sources) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for Placed { kind, group_module } in kinds {
        let name = &kind.resource.group;
        let group = match groups.iter().position(|group| group.name == *name) {
            Some(index) => &mut groups[index],
            None => {
                groups.push(Group {
                    name: name.clone(),
                    module: group_module,
                    versions: Vec::new(),
                });
                groups.last_mut().expect("a group was just pushed")
            }
        };
        let name = &kind.resource.version;
        match group.versions.iter_mut().find(|version| version.name == *name) {
            Some(version) => version.kinds.push(kind),
            None => group.versions.push(Version {
                name: name.clone(),
                priority: priority(&kind, sources),
                kinds: vec![kind],
            }),
        }
    }
    groups.sort_by(|left, right| left.name.cmp(&right.name));
    for group in &mut groups {
        group
            .versions
            .sort_by_key(|version| std::cmp::Reverse(version_parts(&version.name)));
        for version in &mut group.versions {
            version
                .kinds
                .sort_by(|left, right| left.resource.kind.cmp(&right.resource.kind));
        }
    }
    groups
}
