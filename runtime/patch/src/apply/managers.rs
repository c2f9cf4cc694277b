//! Updates the managers of a document after an apply.

use std::collections::HashMap;

use serde_json::Value;

use super::ApplyError;
use super::conflict::Conflict;
use super::prune::Pruning;
use super::sent::subject;
use crate::documents::{Difference, KindSchema, Schema, check, check_live, merge, owned, same};
use crate::fields::Set;
use crate::managers::{Entries, Operation, Tracking, reconcile};

/// Documents in other versions.
pub(super) trait Conversions {
    /// `document`, which is in the version `from`, in the version `to`, and its type there; `None` when the kind has no
    /// such version.
    ///
    /// # Errors
    ///
    /// When the document is not of its kind.
    fn convert(&self, document: &Value, from: &str, to: &str) -> Result<Option<(Value, KindSchema)>, ApplyError>;

    /// Fields that the write cannot change, including everything below them, in the version `api_version`.
    fn ignored(&self, api_version: &str) -> Set<'static>;
}

/// The target of an apply: its type and the applying manager.
pub(super) struct Target<'a> {
    pub(super) api_version: &'a str,
    pub(super) schema: &'a KindSchema,
    pub(super) conversions: &'a dyn Conversions,
    /// Fields that this apply cannot change, including everything below them, in the version of the request.
    pub(super) ignored: Set<'static>,
    /// Fields that no manager can own.
    pub(super) unmanaged: Set<'static>,
    pub(super) write: Tracking<'a>,
    /// True if fields are taken from other managers.
    pub(super) force: bool,
}

impl Target<'_> {
    /// Applies a document and updates `entries`. Returns the new document.
    pub(super) fn apply(&self, live: &Value, applied: &Value, entries: &mut Entries<'_>) -> Result<Value, ApplyError> {
        if let Some(why) = check(applied, self.schema.get()) {
            return Err(ApplyError::TypeMismatch(why));
        }
        // That the live object does not match its type is noticed on the way, and is the first error.
        self.apply_fitting(live, applied, entries)
            .map_err(|error| self.type_mismatch(live).unwrap_or(error))
    }

    /// The error for a live object that does not match its type; `None` if it does.
    fn type_mismatch(&self, live: &Value) -> Option<ApplyError> {
        let why = check_live(live, self.schema.get())?;
        let why = format!("failed to create typed live object ({}): {why}", subject(live));
        Some(ApplyError::Unversioned(why))
    }

    fn apply_fitting(&self, live: &Value, applied: &Value, entries: &mut Entries<'_>) -> Result<Value, ApplyError> {
        let schema = self.schema.get();
        let converted = self.in_other_versions(live, entries)?;
        reconcile(entries, &|version| match version == self.api_version {
            true => Some(self.schema.clone()),
            false => converted.get(version).map(|(_, schema)| schema.clone()),
        });
        let mut own = owned(applied, schema).into_owned();
        own.remove_below(&self.ignored);
        self.write.limit(&mut own);
        let last = entries.take_applied(self.write.manager, self.write.subresource);
        let last_time = last.as_ref().and_then(|last| last.time);
        let mut new = merge(live, applied, schema);
        if let Some(last) = last {
            new = Pruning {
                api_version: self.api_version,
                schema: self.schema,
                conversions: self.conversions,
                last_version: &last.api_version,
                last: &last.set,
                own: &own,
                others: entries,
            }
            .prune(new)
            .map_err(|error| error.while_doing("failed to prune fields"))?;
        }
        self.settle_with_others(live, &new, converted, entries)?;
        let time = if same(live, &new) {
            last_time
        } else {
            Some(self.write.now)
        };
        own.remove(&self.unmanaged);
        if !own.is_empty() {
            let Tracking {
                manager, subresource, ..
            } = self.write;
            entries.add(manager, Operation::Apply, self.api_version, subresource, own, time);
        }
        Ok(new)
    }

    /// The live document in the other versions that entries have, if the kind still has them.
    fn in_other_versions(&self, live: &Value, entries: &Entries<'_>) -> Result<Converted, ApplyError> {
        let mut converted = Converted::new();
        for version in entries.other_versions(self.api_version) {
            if let Some(in_version) = self.conversions.convert(live, self.api_version, version)? {
                converted.insert(version.to_owned(), in_version);
            }
        }
        Ok(converted)
    }

    /// Finds fields that other managers own with other values; takes these fields from them if `force` is set.
    /// `converted` is the live document in the versions of `entries`.
    fn settle_with_others(
        &self,
        live: &Value,
        new: &Value,
        mut converted: Converted,
        entries: &mut Entries<'_>,
    ) -> Result<(), ApplyError> {
        let own = self.changes(self.api_version, live, new, self.schema.get(), &self.ignored);
        if own.has_type_mismatch
            && let Some(error) = self.type_mismatch(live)
        {
            return Err(error);
        }
        let mut versions: Vec<Changes> = vec![own];
        for version in entries.other_versions(self.api_version) {
            let Some((live, schema)) = converted.remove(version) else {
                continue;
            };
            let new = self.conversions.convert(new, self.api_version, version);
            if let Some((new, _)) = new.map_err(|error| error.while_doing("failed to convert new object"))? {
                let ignored = self.conversions.ignored(version);
                versions.push(self.changes(version, &live, &new, schema.get(), &ignored));
            }
        }
        let changes = |version: &str| versions.iter().find(|changes| changes.api_version == version);
        if !self.force {
            let mut conflicts = Vec::new();
            for entry in entries.as_slice() {
                let Some(changes) = changes(&entry.api_version) else {
                    continue;
                };
                if !entry.set.intersects(&changes.taken) {
                    continue;
                }
                entry.set.clone().intersection(&changes.taken).each(&mut |path| {
                    let field = path.iter().map(ToString::to_string).collect();
                    conflicts.push(Conflict::new(
                        &entry.manager,
                        entry.operation,
                        &entry.api_version,
                        &entry.subresource,
                        field,
                    ));
                });
            }
            if !conflicts.is_empty() {
                // Stable: the fields of one manager keep their order.
                conflicts.sort_by_cached_key(Conflict::order);
                return Err(ApplyError::Conflicts(conflicts));
            }
        }
        entries.retain(|entry| {
            // Fields in a removed version cannot be compared.
            let Some(changes) = changes(&entry.api_version) else {
                return false;
            };
            entry.give_up(&changes.taken);
            entry.give_up(&changes.removed);
            !entry.set.is_empty()
        });
        Ok(())
    }

    fn changes(&self, api_version: &str, live: &Value, new: &Value, schema: Schema<'_>, ignored: &Set<'_>) -> Changes {
        let mut difference = Difference::new(live, new, schema);
        difference.ignore(ignored);
        difference.each_set(|set| self.write.limit(set));
        Changes {
            api_version: api_version.to_owned(),
            taken: difference.taken().into_owned(),
            has_type_mismatch: difference.has_type_mismatch,
            removed: difference.removed.into_owned(),
        }
    }
}

/// A document in other versions, with its types there.
type Converted = HashMap<String, (Value, KindSchema)>;

/// The effect of an apply, in one version.
struct Changes {
    api_version: String,
    /// Fields with other values, or new ones.
    taken: Set<'static>,
    removed: Set<'static>,
    /// True if a document does not match its type.
    has_type_mismatch: bool,
}
