//! Rules for metadata, in the order and wording of kube-apiserver.

use std::collections::HashSet;

use planesmith_wire::go_format::is_printable;
use planesmith_wire::names;

use super::labels::{check_annotations, check_labels};
use crate::field_error::FieldErrors;
use crate::group_version::GroupVersion;
use crate::meta::{ManagedFieldsEntry, ObjectMeta, OwnerReference};
use crate::resource::strategy::MetadataRules;
use crate::resource::{NameRule, Scope};
use crate::value::Value;

const IMMUTABLE: &str = "field is immutable";
const NEGATIVE: &str = "must be greater than or equal to 0";

const MAX_MANAGER: usize = 128;
const MAX_SUBRESOURCE: usize = 256;

/// The finalizers without a domain.
pub const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Checks metadata by itself.
pub fn check_on_create(meta: &ObjectMeta, scope: Scope, rule: NameRule, errors: &mut FieldErrors) {
    let errors = &mut *errors.at("metadata");
    if !meta.generate_name.is_empty() {
        for complaint in names::check_prefix(rule, &meta.generate_name) {
            errors.invalid("generateName", &meta.generate_name, complaint);
        }
    }
    if meta.name.is_empty() {
        errors.required("name", "name or generateName is required");
    } else {
        for complaint in names::check(rule, &meta.name) {
            errors.invalid("name", &meta.name, complaint);
        }
    }
    match (scope, meta.namespace.as_str()) {
        (Scope::Namespaced, "") => errors.required("namespace", ""),
        (Scope::Namespaced, namespace) => {
            for complaint in names::dns_label(namespace) {
                errors.invalid("namespace", namespace, complaint);
            }
        }
        (Scope::Cluster, "") => {}
        (Scope::Cluster, _) => errors.forbidden("namespace", "not allowed on this type"),
    }
    if meta.generation < 0 {
        errors.invalid("generation", meta.generation, NEGATIVE);
    }
    check_texts(meta, errors);
    check_finalizers(&meta.finalizers, errors);
    check_managers(&meta.managed_fields, errors);
}

/// Checks the immutable fields of metadata, and the new metadata again.
pub fn check_on_update(new: &ObjectMeta, old: &ObjectMeta, errors: &mut FieldErrors) {
    let errors = &mut *errors.at("metadata");
    if old.deletion_timestamp.is_some() {
        check_no_new_finalizers(&new.finalizers, &old.finalizers, errors);
    }
    if new.resource_version.is_empty() {
        errors.invalid("resourceVersion", "", "must be specified for an update");
    }
    if new.generation < 0 {
        errors.invalid("generation", new.generation, NEGATIVE);
    }
    if new.generation < old.generation {
        errors.invalid("generation", new.generation, "must not be decremented");
    }
    for (field, new, old) in [
        ("name", &new.name, &old.name),
        ("namespace", &new.namespace, &old.namespace),
        ("uid", &new.uid, &old.uid),
    ] {
        if new != old {
            errors.invalid(field, new, IMMUTABLE);
        }
    }
    if new.creation_timestamp != old.creation_timestamp {
        errors.invalid("creationTimestamp", &new.creation_timestamp as &dyn Value, IMMUTABLE);
    }
    if new.deletion_timestamp != old.deletion_timestamp {
        errors.invalid("deletionTimestamp", &new.deletion_timestamp as &dyn Value, IMMUTABLE);
    }
    if new.deletion_grace_period_seconds != old.deletion_grace_period_seconds {
        errors.invalid(
            "deletionGracePeriodSeconds",
            &new.deletion_grace_period_seconds as &dyn Value,
            IMMUTABLE,
        );
    }
    check_texts(new, errors);
    check_managers(&new.managed_fields, errors);
}

/// Checks metadata by itself according to the rules of the kind.
pub fn check_metadata(meta: &ObjectMeta, scope: Scope, name: NameRule, rules: MetadataRules, errors: &mut FieldErrors) {
    if rules != MetadataRules::None {
        check_on_create(meta, scope, name, errors);
    }
    if rules == MetadataRules::Strict {
        check_standard_finalizers(meta, errors);
    }
}

/// Checks the immutable fields of metadata according to the rules of the kind.
pub fn check_metadata_change(new: &ObjectMeta, old: &ObjectMeta, rules: MetadataRules, errors: &mut FieldErrors) {
    if rules != MetadataRules::None {
        check_on_update(new, old, errors);
    }
    if rules == MetadataRules::Strict {
        check_standard_finalizers(new, errors);
    }
}

/// Checks that finalizers are qualified by a domain or are standard ones.
fn check_standard_finalizers(meta: &ObjectMeta, errors: &mut FieldErrors) {
    for (index, finalizer) in meta.finalizers.iter().enumerate() {
        if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer.as_str()) {
            let complaint = "name is neither a standard finalizer name nor is it fully qualified";
            errors
                .at_index("metadata.finalizers", index)
                .invalid("", finalizer, complaint);
        }
    }
}

/// Checks labels, annotations and owners.
fn check_texts(meta: &ObjectMeta, errors: &mut FieldErrors) {
    check_labels("labels", &meta.labels, errors);
    check_annotations("annotations", &meta.annotations, errors);
    check_owners(meta, errors);
}

fn check_owners(meta: &ObjectMeta, errors: &mut FieldErrors) {
    let mut controller: Option<String> = None;
    for owner in &meta.owner_references {
        check_owner(owner, errors);
        if owner.controller != Some(true) {
            continue;
        }
        let this = format!("{}/{}", owner.kind, owner.name);
        match &controller {
            None => controller = Some(this),
            Some(first) => {
                let complaint = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                errors.invalid("ownerReferences", &meta.owner_references as &dyn Value, complaint);
            }
        }
    }
}

/// Group, version and kind of objects that own no others, in every server of Kubernetes' conventions. Events expire on their own: as
/// an owner, an event would delete its dependents at random, or prevent their deletion.
const BANNED_OWNERS: [(&str, &str, &str); 1] = [("", "v1", "Event")];

fn check_owner(owner: &OwnerReference, errors: &mut FieldErrors) {
    let version = GroupVersion::parse(&owner.api_version).unwrap_or_default();
    if version.version.is_empty() {
        errors.invalid(
            "ownerReferences.apiVersion",
            &owner.api_version,
            "version must not be empty",
        );
    }
    for (field, text) in [("kind", &owner.kind), ("name", &owner.name), ("uid", &owner.uid)] {
        if text.is_empty() {
            errors.at("ownerReferences").invalid(field, text, "must not be empty");
        }
    }
    let is_banned = |(group, banned, kind): &(&str, &str, &str)| {
        *group == version.group && *banned == version.version && *kind == owner.kind
    };
    if BANNED_OWNERS.iter().any(is_banned) {
        let complaint = format!(
            "{} is disallowed from being an owner",
            version.with_kind(owner.kind.clone())
        );
        errors.invalid("ownerReferences", owner as &dyn Value, complaint);
    }
}

fn check_finalizers(finalizers: &[String], errors: &mut FieldErrors) {
    for finalizer in finalizers {
        for complaint in names::qualified_name(finalizer) {
            errors.invalid("finalizers", finalizer, complaint);
        }
    }
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let complaint = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.invalid("finalizers", finalizers, complaint);
    }
}

fn check_no_new_finalizers(new: &[String], old: &[String], errors: &mut FieldErrors) {
    let old: HashSet<&String> = old.iter().collect();
    let extra = new.iter().filter(|name| !old.contains(name));
    let mut extra: Vec<&str> = extra.map(String::as_str).collect();
    if extra.is_empty() {
        return;
    }
    extra.sort_unstable();
    extra.dedup();
    let quoted: Vec<String> = extra
        .iter()
        .map(|name| planesmith_wire::go_format::quote(name))
        .collect();
    let complaint = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        quoted.join(", ")
    );
    errors.forbidden("finalizers", complaint);
}

fn check_managers(entries: &[ManagedFieldsEntry], errors: &mut FieldErrors) {
    for (index, entry) in entries.iter().enumerate() {
        let errors = &mut *errors.at_index("managedFields", index);
        match entry.operation.as_str() {
            "" => errors.required("operation", "must not be empty"),
            "Apply" | "Update" => {}
            other => errors.not_supported("operation", other, &["Apply", "Update"]),
        }
        if !matches!(entry.fields_type.as_str(), "" | "FieldsV1") {
            errors.invalid("fieldsType", &entry.fields_type, "must be `FieldsV1`");
        }
        check_manager(&entry.manager, "manager", errors);
        if entry.subresource.len() > MAX_SUBRESOURCE {
            errors.too_long("subresource", MAX_SUBRESOURCE as u64);
        }
    }
}

/// Checks the name of a manager, which must be short and printable.
pub(super) fn check_manager(manager: &str, field: &str, errors: &mut FieldErrors) {
    if manager.len() > MAX_MANAGER {
        errors.too_long(field, MAX_MANAGER as u64);
    }
    for (position, c) in manager.char_indices() {
        if !is_printable(c) {
            let complaint = format!("invalid character U+{:04X} (at position {position})", u32::from(c));
            errors.invalid(field, manager, complaint);
        }
    }
}
