//! Maintenance of `metadata.managedFields`: the ownership of fields by manager, version and time.

mod cap;
mod entries;
mod manager;
mod reconcile;
mod reset;
mod scale;
mod times;
mod versions;

use planesmith_wire::time::Time;

use planesmith_dynamic::custom::AsCustom;
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::{self, View};

use crate::documents::{self, KindSchema};
use crate::fields::{Ignored, PathElement, Set, compare, has_unidentified};
pub(crate) use entries::{Entries, Operation};

pub use entries::check_managers;
pub(crate) use manager::identifier;
pub use manager::manager_name;
pub(crate) use reconcile::reconcile;
pub use reset::resets_managers;
pub(crate) use scale::SCALE;
pub use scale::{ScaleManagers, ScaleWrite};
pub use times::keep_times;

/// Fields of metadata that no manager can own.
pub(crate) const SYSTEM_FIELDS: [&str; 8] = [
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
];

const SYSTEM: Ignored<'static> = Ignored {
    fields: &SYSTEM_FIELDS,
    below: &[],
};

/// Returns the fields that no manager can own.
pub(crate) fn unmanaged() -> Set<'static> {
    let mut fields = Set::of([["apiVersion"], ["kind"], ["metadata"]].map(|path| path.map(PathElement::field)));
    for field in SYSTEM_FIELDS {
        fields.insert(["metadata", field].map(PathElement::field));
    }
    fields
}

/// A write whose field ownership is tracked.
#[derive(Clone, Copy, Debug)]
pub struct Tracking<'a> {
    /// The manager that writes; see [`manager_name`].
    pub manager: &'a str,
    /// The written subresource; empty for the object itself.
    pub subresource: &'a str,
    /// Time of the write.
    pub now: Time,
    /// Dotted paths of fields that the write cannot change, including everything below them, in addition to those of
    /// the kind.
    pub resets: &'a [&'a str],
    /// Fields that the request sends empty; see [`crate::fields::sent_empty`].
    pub sent_empty: Option<&'a Set<'static>>,
}

impl Tracking<'_> {
    /// Removes the fields from a set that the write cannot change.
    pub(crate) fn limit(&self, set: &mut Set<'_>) {
        if !self.resets.is_empty() {
            set.remove_below(&paths(self.resets));
        }
    }
}

/// Converts objects to the versions that entries of managers use.
pub trait Versions {
    /// Returns `object` in the version `api_version`; `None` if the kind does not have this version any more. Managers
    /// of that version are dropped.
    ///
    /// # Errors
    ///
    /// If the conversion to an existing version fails. Also if a custom kind has no such version, because
    /// kube-apiserver does not distinguish the two cases.
    fn convert(&self, object: &dyn Object, api_version: &str) -> ApiResult<Option<Box<dyn Object>>>;

    /// Returns a zero object of the kind of `object` in the version `api_version`; `None` if there is no such version.
    fn zero(&self, object: &dyn Object, api_version: &str) -> Option<Box<dyn Object>>;
}

/// Updates the managed fields of `new` after a create, update or patch that changed `live` to `new`.
///
/// Both are in the version of the request and defaulted; `live` is absent on create. Whatever `new` says about
/// managers is taken into account as kube-apiserver does: `[{}]` forgets them all, valid entries replace those of
/// `live`, anything else is ignored; through a subresource it is ignored always. An existing object without managers
/// stays without. A client that creates an object may send managers, too: they keep what the write does not give to its own.
///
/// The time of an entry changes only if the write gave its manager new fields or values.
///
/// # Errors
///
/// If an object does not match its type, or cannot be converted to the version of an entry: the fields that managers lost
/// are unknown in that case. `new` has no managers then.
pub fn track_write(
    live: Option<&dyn Object>,
    new: &mut dyn Object,
    write: &Tracking<'_>,
    versions: &dyn Versions,
) -> ApiResult<()> {
    let sent = std::mem::take(&mut new.meta_mut().managed_fields);
    let stored = live.map_or(&[][..], |live| &live.meta().managed_fields);
    let entries = known_entries(&sent, stored, write);
    if entries.is_empty() && live.is_some_and(|live| !live.meta().uid.is_empty()) {
        return Ok(());
    }
    let zero;
    let live = match live {
        Some(live) => live,
        None => {
            zero = new.resource().zero();
            &*zero
        }
    };
    let managed = Update {
        live,
        new: &*new,
        write,
        versions,
    }
    .entries(entries)?;
    new.meta_mut().managed_fields = managed;
    Ok(())
}

/// Returns the entries to start from.
fn known_entries<'a>(
    sent: &'a [ManagedFieldsEntry],
    stored: &'a [ManagedFieldsEntry],
    write: &Tracking<'_>,
) -> Entries<'a> {
    let known = || Entries::read(stored).unwrap_or_default();
    if !write.subresource.is_empty() {
        return known();
    }
    if is_reset(sent) {
        return Entries::default();
    }
    match Entries::read(sent) {
        Some(entries) if !entries.is_empty() => entries.rewritten_unless(stored),
        _ => known(),
    }
}

/// True for a single empty entry, which requests the removal of all managers.
fn is_reset(sent: &[ManagedFieldsEntry]) -> bool {
    matches!(sent, [only] if *only == ManagedFieldsEntry::default())
}

struct Update<'a> {
    live: &'a dyn Object,
    new: &'a dyn Object,
    write: &'a Tracking<'a>,
    versions: &'a dyn Versions,
}

impl<'a> Update<'a> {
    fn entries(&self, entries: Entries<'a>) -> ApiResult<Vec<ManagedFieldsEntry>> {
        let api_version = &*self.new.resource().api_version;
        let system = names_system_fields(&entries);
        let changes = self.changes(self.live, self.new, system);
        if changes.has_type_mismatch
            && let Some(error) = self.type_mismatch()
        {
            return Err(error);
        }
        let mut others = Vec::new();
        for version in entries.other_versions(api_version) {
            let live = self.versions.convert(self.live, version)?;
            let new = self.versions.convert(self.new, version)?;
            others.push((version.to_owned(), live.zip(new)));
        }
        let others: Vec<(&str, Option<Changes<'_>>)> = others
            .iter()
            .map(|(version, pair)| {
                let changes = pair.as_ref().map(|(live, new)| self.changes(&**live, &**new, system));
                (version.as_str(), changes)
            })
            .collect();
        let mut changes = changes;
        if let Some(sent_empty) = self.write.sent_empty {
            let mut sent_empty = self.newly_sent_empty(sent_empty);
            let kind = self.new.resource();
            sent_empty.remove_below(&reset_fields(kind, self.write.subresource, kind));
            self.write.limit(&mut sent_empty);
            changes.taken = changes.taken.union(sent_empty);
        }
        let mut taken = changes.taken.clone();
        if system {
            taken.remove(&unmanaged());
        }
        let mut entries = entries;
        reconcile(&mut entries, &|version| match version == api_version {
            true => Some(KindSchema::from_object(self.new)),
            false => self
                .versions
                .zero(self.new, version)
                .map(|zero| KindSchema::from_object(&*zero)),
        });
        entries.retain(|entry| {
            let changes = if entry.api_version == api_version {
                Some(&changes)
            } else {
                others
                    .iter()
                    .find(|(version, _)| *version == entry.api_version)
                    .and_then(|(_, changes)| changes.as_ref())
            };
            // Fields in a removed version cannot be compared.
            let Some(changes) = changes else { return false };
            entry.give_up(&changes.taken);
            entry.give_up(&changes.removed);
            !entry.set.is_empty()
        });
        if !taken.is_empty() {
            let Tracking {
                manager,
                subresource,
                now,
                ..
            } = *self.write;
            entries.add(manager, Operation::Update, api_version, subresource, taken, Some(now));
        }
        cap::limit_updates(&mut entries);
        Ok(entries.write())
    }

    /// The error for objects that do not match their type.
    fn type_mismatch(&self) -> Option<ApiError> {
        [("new", self.new), ("live", self.live)]
            .into_iter()
            .find_map(|(what, object)| {
                let why = documents::type_mismatch(object)?;
                let subject = subject(object);
                let why = format!("failed to convert {what} object ({subject}) to smd typed: {why}");
                Some(ApiError::unnamed(500, why))
            })
    }

    /// Returns the fields that are sent empty and were empty before. Other fields keep their managers, except for the
    /// managers of their former content.
    fn newly_sent_empty(&self, sent_empty: &Set<'static>) -> Set<'static> {
        let mut anew = Set::new();
        sent_empty.each(&mut |path| {
            let name = |step: &&'_ PathElement<'static>| match step {
                PathElement::Field(name) => Some(name.to_string()),
                PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_) => None,
            };
            let dotted: Vec<String> = path.iter().filter_map(name).collect();
            let held = value::get_at(self.live, &dotted.join(".")).is_some_and(|held| match held.view() {
                View::List(list) => !list.is_empty(),
                View::Map(map) => !map.is_empty(),
                _ => false,
            });
            if !held {
                anew.insert(path.iter().copied().cloned());
            }
        });
        anew
    }

    fn changes<'o>(&self, live: &'o dyn Object, new: &'o dyn Object, system: bool) -> Changes<'o> {
        let mut changes = self.all_changes(live, new, system);
        self.write.limit(&mut changes.removed);
        self.write.limit(&mut changes.taken);
        changes
    }

    /// With `system` the fields of the system, too: managed fields are removed by any write, until they are brought up to date.
    fn all_changes<'o>(&self, live: &'o dyn Object, new: &'o dyn Object, system: bool) -> Changes<'o> {
        let mut ignored = reset_fields(new.resource(), self.write.subresource, self.new.resource());
        let (mut removed, mut taken, has_type_mismatch) =
            if let (Some(live), Some(new)) = (live.as_custom(), new.as_custom()) {
                for field in ["apiVersion", "kind"] {
                    ignored.insert([PathElement::field(field)]);
                }
                for field in SYSTEM_FIELDS.into_iter().filter(|_| !system) {
                    ignored.insert(["metadata", field].map(PathElement::field));
                }
                let documents::Changed {
                    removed,
                    mut taken,
                    has_type_mismatch,
                } = documents::changed(live, new, &ignored);
                if system && live.meta().uid.is_empty() {
                    // Documents that are not there have no metadata either, other than declared objects.
                    taken.insert([PathElement::field("metadata")]);
                }
                (removed, taken, has_type_mismatch)
            } else {
                let below = [("metadata", if system { Ignored::NOTHING } else { SYSTEM })];
                let fields = &[];
                let found = compare(live, new, &Ignored { fields, below: &below });
                let has_type_mismatch = has_unidentified(new) || has_unidentified(live);
                (found.removed, found.modified.union(found.added), has_type_mismatch)
            };
        if system && !live.meta().managed_fields.is_empty() {
            removed.insert(["metadata", "managedFields"].map(PathElement::field));
        }
        removed.remove_below(&ignored);
        taken.remove_below(&ignored);
        Changes {
            removed,
            taken,
            has_type_mismatch,
        }
    }
}

/// An object as messages name it, e.g. `default/x; /v1, Kind=ConfigMap`.
fn subject(object: &dyn Object) -> String {
    let (meta, kind) = (object.meta(), object.resource());
    format!(
        "{}/{}; {}/{}, Kind={}",
        meta.namespace, meta.name, kind.group, kind.version, kind.kind
    )
}

/// True if entries of a client contain fields that no manager can own; such fields are compared as well.
fn names_system_fields(entries: &Entries<'_>) -> bool {
    entries.as_slice().iter().any(|entry| {
        let metadata = PathElement::field("metadata");
        let mut found = entry.set.contains(std::slice::from_ref(&metadata));
        if let Some(metadata) = entry.set.below(&metadata) {
            metadata.each_step(&mut |step, _, _| {
                found |= matches!(step, PathElement::Field(name) if SYSTEM_FIELDS.contains(&name.as_ref()));
            });
        }
        found
    })
}

/// The effect of a write, in one version.
struct Changes<'a> {
    removed: Set<'a>,
    /// Modified or added fields: owned by the writer alone from now on.
    taken: Set<'a>,
    /// True if an object does not match its type.
    has_type_mismatch: bool,
}

/// Returns the fields that a write cannot change, so that the writer does not own them: only a write to `/status`
/// changes the status, and it changes nothing else except metadata. Kinds add further fields.
///
/// The fields are those of managers of `kind`, which can be in another version than `written`, the kind of the request.
/// Custom kinds have such fields in the version of the write alone: it takes them from managers of other versions.
pub(crate) fn reset_fields(kind: &ResourceFacts, subresource: &str, written: &ResourceFacts) -> Set<'static> {
    let is_other_custom_version = kind.custom.is_some() && kind.api_version != written.api_version;
    if is_other_custom_version && matches!(subresource, "" | "status") {
        return Set::new();
    }
    let has_status = kind
        .subresources
        .iter()
        .any(|subresource| matches!(subresource.kind, SubresourceKind::Status));
    let paths: Vec<&str> = match subresource {
        "status" if has_status => {
            let fields = kind.fields().fields.iter().filter(|field| !field.inline);
            let fields = fields.map(|field| field.name);
            let fields = fields.filter(|name| !matches!(*name, "status" | "metadata"));
            fields.chain(kind.behavior.status_resets.iter().copied()).collect()
        }
        "" | "finalize" => {
            let status = has_status.then_some("status");
            let resets = kind.behavior.resets.iter().copied();
            status
                .into_iter()
                .chain(resets.filter(|_| subresource.is_empty()))
                .collect()
        }
        // Writes to other subresources declare their fields themselves.
        _ => Vec::new(),
    };
    self::paths(&paths)
}

/// Returns the fields at dotted paths.
fn paths(dotted: &[&str]) -> Set<'static> {
    let steps = |path: &&str| {
        path.split('.')
            .map(|step| PathElement::field(step.to_owned()))
            .collect::<Vec<_>>()
    };
    Set::of(dotted.iter().map(steps))
}

#[cfg(test)]
mod tests;
