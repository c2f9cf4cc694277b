//! Removes fields that their last applier no longer applies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ApplyError;
use super::managers::Conversions;
use crate::documents::{KindSchema, owned, remove, with_declared};
use crate::fields::Set;
use crate::managers::Entries;

/// Removes from a merged document the fields that a manager applied before and does not apply any more, unless another
/// manager owns them.
pub(super) struct Pruning<'p, 'e> {
    pub(super) api_version: &'p str,
    pub(super) schema: &'p KindSchema,
    pub(super) conversions: &'p dyn Conversions,
    /// The version of the last apply of the manager, and the fields of that apply.
    pub(super) last_version: &'p str,
    pub(super) last: &'p Set<'e>,
    /// The fields that the manager applies now.
    pub(super) own: &'p Set<'static>,
    pub(super) others: &'p Entries<'e>,
}

/// A document in some version.
struct Version {
    api_version: String,
    document: Value,
    schema: KindSchema,
}

impl Pruning<'_, '_> {
    /// Returns the document without the fields that its manager gave up.
    pub(super) fn prune(&self, merged: Value) -> Result<Value, ApplyError> {
        let mut dropped = self.last.clone();
        if self.last_version == self.api_version {
            dropped.remove(self.own);
        }
        if dropped.is_empty() {
            return Ok(merged);
        }
        let current = Version {
            api_version: self.api_version.to_owned(),
            document: merged,
            schema: self.schema.clone(),
        };
        let merged = self.convert(&current, self.last_version);
        let merged =
            merged.map_err(|error| error.while_doing("failed to convert merged object to last applied version"))?;
        let Some(merged) = merged else {
            return Ok(current.document);
        };
        let schema = merged.schema.get();
        let last = with_declared(self.last, schema);
        let pruned = Version {
            api_version: merged.api_version.clone(),
            document: remove(&merged.document, &last, schema),
            schema: merged.schema.clone(),
        };
        let pruned = self.with_managed_again(&merged, pruned);
        let pruned = pruned.map_err(|error| error.while_doing("failed add back owned items"))?;
        let Some(pruned) = pruned else {
            return Ok(current.document);
        };
        // Only fields of the manager are removed; fields without an owner remain.
        let mut gone = with_declared(&owned(&merged.document, schema), schema);
        gone.remove(&with_declared(&owned(&pruned.document, schema), schema));
        let gone = gone.intersection(&last);
        let pruned = Version {
            document: remove(&merged.document, &gone, schema),
            ..merged
        };
        Ok(self
            .convert(&pruned, self.api_version)?
            .map_or(current.document, |pruned| pruned.document))
    }

    /// Restores the fields that any manager owns, including the applier, in the version of `merged`.
    fn with_managed_again(&self, merged: &Version, mut pruned: Version) -> Result<Option<Version>, ApplyError> {
        let mut managed: BTreeMap<&str, Vec<Set<'_>>> = BTreeMap::new();
        managed.insert(self.api_version, vec![self.own.clone()]);
        for entry in self.others.as_slice() {
            managed.entry(&entry.api_version).or_default().push(entry.set.clone());
        }
        // The version of the pruned document first: a document that lacks what others need might not convert.
        let first = managed.remove_entry(self.last_version);
        for (version, managed) in first.into_iter().chain(managed) {
            let convert = |document: &Version, what: &str| {
                let converted = self.convert(document, version);
                converted.map_err(|error| {
                    error.while_doing(&format!("failed to convert {what} object at version {version}"))
                })
            };
            let (Some(all), Some(left)) = (convert(merged, "merged")?, convert(&pruned, "pruned")?) else {
                continue;
            };
            let schema = all.schema.get();
            let mut gone = with_declared(&owned(&all.document, schema), schema);
            gone.remove(&with_declared(&owned(&left.document, schema), schema));
            gone.remove(&with_declared(&Set::union_of(managed), schema));
            pruned = Version {
                document: remove(&all.document, &gone, schema),
                ..all
            };
        }
        self.convert(&pruned, &merged.api_version)
    }

    fn convert(&self, version: &Version, to: &str) -> Result<Option<Version>, ApplyError> {
        if version.api_version == to {
            return Ok(Some(Version {
                api_version: to.to_owned(),
                document: version.document.clone(),
                schema: version.schema.clone(),
            }));
        }
        let converted = self.conversions.convert(&version.document, &version.api_version, to)?;
        Ok(converted.map(|(document, schema)| Version {
            api_version: to.to_owned(),
            document,
            schema,
        }))
    }
}
