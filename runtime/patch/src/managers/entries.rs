//! Entries of `managedFields` as sets, and back.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use planesmith_machinery::go_format::quote;
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_wire::raw::FieldsV1;
use planesmith_wire::sorting::sort_by;
use planesmith_wire::time::Time;

use crate::fields::Set;

/// The operation by which a manager set its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }
}

/// One entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) manager: Cow<'a, str>,
    pub(crate) operation: Operation,
    pub(crate) api_version: Cow<'a, str>,
    pub(crate) subresource: Cow<'a, str>,
    pub(crate) time: Option<Time>,
    pub(crate) set: Set<'a>,
    /// The JSON form of `set` as it was read, as long as the set has not changed.
    json: Option<&'a FieldsV1>,
}

impl<'a> Entry<'a> {
    /// Returns the entry of a manager: its name, operation, version and subresource.
    pub(crate) fn new(
        (manager, operation, api_version, subresource): (&str, Operation, &str, &str),
        time: Option<Time>,
        set: Set<'a>,
    ) -> Self {
        Self {
            manager: Cow::Owned(manager.to_owned()),
            operation,
            api_version: Cow::Owned(api_version.to_owned()),
            subresource: Cow::Owned(subresource.to_owned()),
            time,
            set,
            json: None,
        }
    }

    /// Removes fields from the set.
    pub(crate) fn give_up(&mut self, fields: &Set<'_>) {
        if self.set.intersects(fields) {
            self.set.remove(fields);
            self.json = None;
        }
    }

    /// Makes fields leaves of the set: the fields are members, and nothing below them is.
    pub(crate) fn close(&mut self, fields: Set<'static>) {
        if !fields.is_empty() {
            self.set.remove_below(&fields);
            self.take(fields);
        }
    }

    /// Adds fields to the set.
    pub(crate) fn take(&mut self, fields: Set<'a>) {
        self.set = std::mem::take(&mut self.set).union(fields);
        self.json = None;
    }

    /// True if two entries belong to one manager. The identity of an applier is its name; that of other managers
    /// includes the version.
    fn is(&self, manager: &str, operation: Operation, api_version: &str, subresource: &str) -> bool {
        self.operation == operation
            && self.manager == manager
            && self.subresource == subresource
            && (operation == Operation::Apply || self.api_version == api_version)
    }

    /// Returns the parts that [`Self::is`] compares as a map key: a client can send thousands of entries.
    pub(crate) fn identity(&self) -> Identity<String> {
        let (operation, manager, subresource, version) =
            identity(self.operation, &self.manager, &self.api_version, &self.subresource);
        (
            operation,
            manager.to_owned(),
            subresource.to_owned(),
            version.to_owned(),
        )
    }

    fn write(self) -> ManagedFieldsEntry {
        let fields = self.json.cloned().unwrap_or_else(|| {
            let mut json = Vec::with_capacity(128);
            self.set.write_json(&mut json);
            FieldsV1::from_compact(json)
        });
        ManagedFieldsEntry {
            manager: self.manager.into_owned(),
            operation: self.operation.as_str().to_owned(),
            api_version: self.api_version.into_owned(),
            time: self.time,
            fields_type: "FieldsV1".to_owned(),
            fields_v1: Some(fields),
            subresource: self.subresource.into_owned(),
        }
    }
}

/// The identity of a manager: the operation, the name, the subresource and the version.
pub(crate) type Identity<T> = (Operation, T, T, T);

fn identity<'e>(
    operation: Operation,
    manager: &'e str,
    api_version: &'e str,
    subresource: &'e str,
) -> Identity<&'e str> {
    let version = match operation {
        Operation::Apply => "",
        Operation::Update => api_version,
    };
    (operation, manager, subresource, version)
}

/// Checks that managed fields can be read.
///
/// # Errors
///
/// The first mistake, in the words of kube-apiserver.
pub fn check_managers(entries: &[ManagedFieldsEntry]) -> Result<(), String> {
    Entries::check_and_read(entries).map(drop)
}

/// Returns an entry as Go prints it.
fn rendered(entry: &ManagedFieldsEntry) -> String {
    let ManagedFieldsEntry {
        manager,
        operation,
        api_version,
        time,
        fields_type,
        fields_v1,
        subresource,
    } = entry;
    let time = time.map_or_else(
        || "<nil>".to_owned(),
        |time| time.to_string().replace('T', " ").replace('Z', " +0000 UTC"),
    );
    let fields = fields_v1.as_ref().map_or("<nil>", FieldsV1::as_str);
    format!("{{{manager} {operation} {api_version} {time} {fields_type} {fields} {subresource}}}")
}

/// The entries of one object; each manager has one entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries<'a>(Vec<Entry<'a>>);

impl<'a> Entries<'a> {
    /// Reads entries; `None` if one of them is malformed.
    pub(crate) fn read(entries: &'a [ManagedFieldsEntry]) -> Option<Self> {
        Self::check_and_read(entries).ok()
    }

    /// Reads entries.
    ///
    /// # Errors
    ///
    /// The first mistake, in the words of kube-apiserver.
    pub(crate) fn check_and_read(entries: &'a [ManagedFieldsEntry]) -> Result<Self, String> {
        let mut read = Self(Vec::with_capacity(entries.len() + 1));
        let mut indexes = HashMap::with_capacity(entries.len());
        for (position, entry) in entries.iter().enumerate() {
            let operation = match entry.operation.as_str() {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err("operation must be `Apply` or `Update`".to_owned()),
            };
            if entry.api_version.is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match entry.fields_type.as_str() {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {position}")),
                other => {
                    let other = quote(other);
                    return Err(format!("invalid fieldsType {other} in managed fields entry {position}"));
                }
            }
            let json = entry.fields_v1.as_ref().filter(|fields| !fields.is_null());
            let set = match json {
                Some(json) => Set::from_json(json.as_str().as_bytes()).map_err(|why| {
                    let entry = rendered(entry);
                    format!("error decoding versioned set from {entry}: error decoding set: {why}")
                })?,
                None => Set::new(),
            };
            let identity = identity(operation, &entry.manager, &entry.api_version, &entry.subresource);
            let index = *indexes.entry(identity).or_insert(read.0.len());
            let entry = Entry {
                manager: Cow::Borrowed(&entry.manager),
                operation,
                api_version: Cow::Borrowed(&entry.api_version),
                subresource: Cow::Borrowed(&entry.subresource),
                time: entry.time,
                set,
                json,
            };
            match read.0.get_mut(index) {
                Some(earlier) => *earlier = entry,
                None => read.0.push(entry),
            }
        }
        Ok(read)
    }

    /// The same entries, of a client that sends them: sets in another form than in `stored` are written anew, because other
    /// JSON can stand for the same set.
    pub(crate) fn rewritten_unless(mut self, stored: &[ManagedFieldsEntry]) -> Self {
        let stored: HashSet<&str> = stored
            .iter()
            .filter_map(|entry| entry.fields_v1.as_ref().map(FieldsV1::as_str))
            .collect();
        for entry in &mut self.0 {
            entry.json = entry.json.filter(|json| stored.contains(json.as_str()));
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_mut(&mut self) -> &mut Vec<Entry<'a>> {
        &mut self.0
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&mut Entry<'a>) -> bool) {
        self.0.retain_mut(keep);
    }

    /// Returns the versions of the entries without duplicates and without `version`.
    pub(crate) fn other_versions(&self, version: &str) -> Vec<&str> {
        let mut versions: Vec<&str> = self
            .0
            .iter()
            .map(|entry| entry.api_version.as_ref())
            .filter(|other| *other != version)
            .collect();
        versions.sort_unstable();
        versions.dedup();
        versions
    }

    /// Removes and returns the entry of an applier.
    pub(crate) fn take_applied(&mut self, manager: &str, subresource: &str) -> Option<Entry<'a>> {
        let index = self.index(manager, Operation::Apply, "", subresource)?;
        Some(self.0.remove(index))
    }

    pub(crate) fn as_slice(&self) -> &[Entry<'a>] {
        &self.0
    }

    /// Adds fields to the entry of a manager, which is created if necessary.
    pub(crate) fn add(
        &mut self,
        manager: &str,
        operation: Operation,
        api_version: &str,
        subresource: &str,
        set: Set<'a>,
        time: Option<Time>,
    ) {
        match self.index(manager, operation, api_version, subresource) {
            Some(index) => {
                self.0[index].take(set);
                self.0[index].time = time;
            }
            None => self.push(Entry::new((manager, operation, api_version, subresource), time, set)),
        }
    }

    /// Adds an entry without a check for another entry of the same manager.
    pub(crate) fn push(&mut self, entry: Entry<'a>) {
        self.0.push(entry);
    }

    pub(crate) fn index(
        &self,
        manager: &str,
        operation: Operation,
        api_version: &str,
        subresource: &str,
    ) -> Option<usize> {
        self.0
            .iter()
            .position(|entry| entry.is(manager, operation, api_version, subresource))
    }

    /// Returns the entries in their stored form and order: appliers first, then by time, name, version and subresource.
    pub(crate) fn write(mut self) -> Vec<ManagedFieldsEntry> {
        sort_by(&mut self.0, order);
        self.0.into_iter().map(Entry::write).collect()
    }
}

/// Compares entries: appliers first, then by time, name, version and subresource.
pub(crate) fn order(left: &Entry<'_>, right: &Entry<'_>) -> Ordering {
    left.operation
        .cmp(&right.operation)
        .then_with(|| seconds(left.time).cmp(&seconds(right.time)))
        .then_with(|| left.manager.cmp(&right.manager))
        .then_with(|| left.api_version.cmp(&right.api_version))
        .then_with(|| left.subresource.cmp(&right.subresource))
}

/// Returns the seconds of a time; an entry without a time is the oldest.
pub(crate) fn seconds(time: Option<Time>) -> i64 {
    time.and_then(|time| time.timestamp())
        .map_or(0, |timestamp| timestamp.as_second())
}
