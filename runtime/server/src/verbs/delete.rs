//! Deletion of objects: removes them, or marks them as terminating until their finalizers are removed.

mod grace;
mod unreadable;

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::meta::{self, ObjectMeta, StatusDetails};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::not_registered;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::strategy::Dependents;
use planesmith_machinery::{json, protobuf};
use planesmith_store::Entry;

use self::grace::End;
use crate::endpoint::{Call, Endpoint};
use crate::metrics::BodyUse;
use crate::negotiation::{Acceptable, Document, Format, Output, Target};
use crate::options::{DeleteOptions, Propagation};
use crate::representation::{canonical, is_of_machinery};
use crate::reservations::ReservationGuard;
use crate::response;
use crate::table;
use crate::write::{AdmittedDeletion, Attempt, Attempts, Committed, Write};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// The result of a deletion.
pub(super) enum Deleted {
    /// The object is deleted; this was its last state.
    Removed(Committed, StatusDetails),
    /// The object is terminating, and stays until its finalizers are removed.
    Marked(Committed),
}

impl Endpoint {
    /// Deletes an object.
    pub(crate) async fn delete(&self, call: &Call, body: Body) -> ApiResult<Response> {
        let output = self.negotiate(&call.parts, Acceptable::Object)?;
        let options = self.delete_options(call, body, BodyUse::Delete).await?;
        self.warn_about_dependents(call, &options);
        let write = Write::removal(self, call, &options);
        if options.only_unreadable {
            return write.delete_unreadable(output).await;
        }
        let deleted = write.delete(call.name(), &options).await?;
        let is_terminating = matches!(deleted, Deleted::Marked(_));
        let code = match options.orphan_dependents {
            Some(false) if is_terminating => StatusCode::ACCEPTED,
            _ => StatusCode::OK,
        };
        match deleted {
            Deleted::Marked(outcome) => write.respond(code, output, outcome).await,
            Deleted::Removed(outcome, _) if self.kind().behavior.returns_deleted => {
                write.respond(code, output, outcome).await
            }
            Deleted::Removed(_, details) => {
                if output.target == Target::Table {
                    table::row_object(call.query())?;
                }
                Ok(success(output, details))
            }
        }
    }

    /// Warns a client that did not choose a propagation policy that dependents stay, for kinds where that is
    /// surprising.
    pub(super) fn warn_about_dependents(&self, call: &Call, options: &DeleteOptions) {
        if let Dependents::Orphaned { warning } = self.kind().hub().extensions.dependents
            && !warning.is_empty()
            && options.orphan_dependents.is_none()
            && options.propagation.is_none()
        {
            call.ctx.warnings.add(warning);
        }
    }

    /// Deletes the object in the path on behalf of one of its subresources, whose request the admission plugins have accepted.
    ///
    /// # Errors
    ///
    /// As for a DELETE of the object.
    pub async fn remove(&self, call: &Call, options: meta::DeleteOptions) -> ApiResult<()> {
        let options = DeleteOptions::new(options, &call.ctx.features)?;
        let write = Write::removal(self, call, &options).admitted();
        write.delete(call.name(), &options).await.map(drop)
    }

    /// The options in the body, or in the query when there is no body.
    pub(super) async fn delete_options(&self, call: &Call, body: Body, used: BodyUse) -> ApiResult<DeleteOptions> {
        let body = self.read_bytes(call, body, used).await?;
        if body.is_empty() {
            return DeleteOptions::from_query(call.query(), &call.ctx.features);
        }
        let format = crate::body::format(&call.parts)?;
        let options = decode_options(format, &body)?;
        call.record_delete_options(&options);
        DeleteOptions::new(options, &call.ctx.features)
    }
}

/// kube-apiserver's name for the scheme of options.
const OPTIONS_SCHEME: &str = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27";

/// Decodes DeleteOptions of any group: each group has one of its own.
fn decode_options(format: Format, body: &[u8]) -> ApiResult<meta::DeleteOptions> {
    let refused = |why: &dyn std::fmt::Display| ApiError::bad_request(why.to_string());
    let mut options = meta::DeleteOptions::default();
    let json = match Document::read(format, body).map_err(|error| refused(&error))? {
        Document::Json { json, .. } => json,
        Document::Message(envelope) => {
            protobuf::decode(envelope.raw, &mut options).map_err(|error| refused(&error))?;
            return Ok(options);
        }
    };
    let sent = json::type_meta(&json)
        .map_err(|error| refused(&format!("couldn't get version/kind; json parse error: {error}")))?;
    GroupVersion::parse(&sent.api_version).map_err(|error| refused(&error))?;
    let sent = canonical(sent);
    if is_of_machinery(&sent, "meta.k8s.io/v1") {
        let why = format!(
            "converting (v1.{}) to (v1.DeleteOptions): unknown conversion",
            sent.kind
        );
        return Err(refused(&why));
    }
    if !sent.kind.is_empty() && sent.kind != "DeleteOptions" {
        let version = match sent.api_version.as_str() {
            "" => "meta.k8s.io/v1",
            version => version,
        };
        return Err(refused(&not_registered(&sent.kind, version, OPTIONS_SCHEME)));
    }
    json::decode(&json, &mut options, json::Strictness::Lenient).map_err(|error| refused(&error))?;
    Ok(options)
}

/// The answer when an object is deleted and its kind does not return it.
fn success(output: Output, details: StatusDetails) -> Response {
    let status = meta::Status {
        status: "Success".to_owned(),
        details: Some(details),
        ..meta::Status::default()
    };
    response::structure(StatusCode::OK, output, &status)
}

impl Write<'_> {
    /// Deletes the object `name`; retries while others change it.
    pub(super) async fn delete(&self, name: &str, options: &DeleteOptions) -> ApiResult<Deleted> {
        self.delete_in(self.call.namespace(), name, options).await
    }

    pub(super) async fn delete_in(&self, namespace: &str, name: &str, options: &DeleteOptions) -> ApiResult<Deleted> {
        let key = self.endpoint.store().key(namespace, name)?;
        let mut attempts = Attempts::new(self, &key);
        loop {
            let met = attempts.state();
            let attempt = match &met {
                Some(entry) => Box::pin(self.delete_once(&key, entry, options)).await,
                None => Err(self.endpoint.not_found(name)),
            };
            if let Some(deleted) = attempts.settle(met.as_ref(), attempt).await? {
                return Ok(deleted);
            }
        }
    }

    /// One attempt on the state `entry`.
    async fn delete_once(&self, key: &str, entry: &Arc<Entry>, options: &DeleteOptions) -> ApiResult<Attempt<Deleted>> {
        let deletion = self.begin_deletion(key, entry).await?;
        let object = deletion.object();
        if let Some(problem) = object.resource().extensions.hooks.deletion_problem(object) {
            let resource = self.endpoint.kind().group_resource();
            return Err(ApiError::forbidden(&resource, &object.meta().name, problem));
        }
        check_preconditions(self.endpoint.kind(), object, entry, options)?;
        let grace_period = grace::admitted(object, options.sent.grace_period_seconds);
        let mut deletion = match self.is_under_way(object, options) {
            true => deletion.without_admission(),
            false => deletion.admit(self, options, grace_period).await?,
        };
        let object = deletion.object_mut();
        let end = grace::begin(object, options.sent.grace_period_seconds, self.now);
        if end == End::UnderWay {
            return Ok(Attempt::Unwritten(Deleted::Marked(match self.dry_run {
                true => deletion.into_dry_run(),
                false => Committed::Stored(Arc::clone(entry)),
            })));
        }
        let kind = object.resource().clone();
        let extensions = &kind.extensions;
        let begins = extensions.phased_deletion && object.meta().deletion_timestamp.is_none();
        let holds = begins || extensions.hooks.blocks_deletion(object);
        let collects_garbage = self.endpoint.stores().options().collects_garbage;
        if collects_garbage && (!holds || extensions.dependents != Dependents::IgnoredAtFirst) {
            apply_propagation(&mut object.meta_mut().finalizers, options, extensions.dependents);
        }
        if let End::Begun(seconds) = end {
            return Ok(match seconds > 0 || !object.meta().finalizers.is_empty() {
                true => self.store_mark(deletion).await,
                false => self.end(deletion, options).await,
            });
        }
        if holds || !object.meta().finalizers.is_empty() {
            if !holds {
                self.mark(object);
            } else if object.meta().deletion_timestamp.is_none() {
                object.meta_mut().deletion_timestamp = Some(self.now);
                extensions.hooks.prepare_for_delete(object);
            }
            return Ok(self.store_mark(deletion).await);
        }
        Ok(self.remove(deletion).await)
    }

    /// True if the object is terminating and the request cannot change that, so that admission does not run, as in kube-apiserver.
    fn is_under_way(&self, object: &dyn Object, options: &DeleteOptions) -> bool {
        if object.meta().deletion_timestamp.is_none() {
            return false;
        }
        let extensions = &object.resource().extensions;
        if extensions.phased_deletion && extensions.hooks.blocks_deletion(object) {
            return true;
        }
        let grace_period = options.sent.grace_period_seconds;
        grace::begin(&mut *object.boxed(), grace_period, self.now) == End::UnderWay
    }

    /// Removes the object.
    async fn remove(&self, deletion: AdmittedDeletion<'_>) -> Attempt<Deleted> {
        let details = self.details(deletion.object());
        if self.dry_run {
            return Attempt::Unwritten(Deleted::Removed(deletion.into_dry_run(), details));
        }
        let encoded = deletion.encode_removal(self);
        let removed = encoded.commit_change(self, &mut ReservationGuard::nothing()).await;
        removed.map(|entry| Deleted::Removed(Committed::Stored(entry), details))
    }

    /// Stores an object without a remaining grace period as terminating, so that watches see it, and removes it.
    async fn end(&self, deletion: AdmittedDeletion<'_>, options: &DeleteOptions) -> Attempt<Deleted> {
        if self.dry_run {
            return self.remove(deletion).await;
        }
        match self.commit_mark(&deletion).await {
            Attempt::Written(Ok(marked)) | Attempt::Unwritten(marked) => {
                Attempt::Written(Box::pin(self.remove_marked(&deletion, &marked, options)).await)
            }
            Attempt::Written(Err(error)) => Attempt::Written(Err(error)),
            Attempt::Overtaken => Attempt::Overtaken,
        }
    }

    /// Removes the object of `deletion`, which this request has `marked`. As in kube-apiserver, admission runs again for each state that
    /// is to be removed, and an object that another client removes meanwhile is deleted as requested. So is one that is replaced
    /// meanwhile, which kube-apiserver would remove.
    async fn remove_marked(
        &self,
        deletion: &AdmittedDeletion<'_>,
        marked: &Arc<Entry>,
        options: &DeleteOptions,
    ) -> ApiResult<Deleted> {
        let mut options = options.clone();
        if let Some(revision) = &mut options.resource_version {
            *revision = marked.revision().to_string();
        }
        let (key, uid) = (deletion.key(), &deletion.object().meta().uid);
        let already_deleted =
            || Deleted::Removed(Committed::Stored(Arc::clone(marked)), self.details(deletion.object()));
        // This request has written the newest state, which others may not see yet.
        match self.remove_once(key, marked, uid, &options).await? {
            Attempt::Written(removed) => return Ok(removed?.unwrap_or_else(already_deleted)),
            Attempt::Unwritten(removed) => return Ok(removed.unwrap_or_else(already_deleted)),
            Attempt::Overtaken => {}
        }
        let mut attempts = Attempts::new(self, key);
        loop {
            let met = attempts.state();
            let attempt = match &met {
                Some(entry) => self.remove_once(key, entry, uid, &options).await,
                None => Ok(Attempt::Unwritten(None)),
            };
            if let Some(removed) = attempts.settle(met.as_ref(), attempt).await? {
                return Ok(removed.unwrap_or_else(already_deleted));
            }
        }
    }

    /// One attempt to remove the state `entry` of a marked object; `None` if it belongs to a later object of the same name.
    async fn remove_once(
        &self,
        key: &str,
        entry: &Arc<Entry>,
        uid: &str,
        options: &DeleteOptions,
    ) -> ApiResult<Attempt<Option<Deleted>>> {
        let deletion = self.begin_deletion(key, entry).await?;
        if deletion.object().meta().uid != uid {
            return Ok(Attempt::Unwritten(None));
        }
        check_preconditions(self.endpoint.kind(), deletion.object(), entry, options)?;
        let deletion = deletion.admit(self, options, Some(0)).await?;
        Ok(self.remove(deletion).await.map(Some))
    }

    /// Marks an object with finalizers as terminating: it has no grace period, and is removed together with its last
    /// finalizer.
    fn mark(&self, object: &mut dyn Object) {
        let meta = object.meta_mut();
        if meta.deletion_grace_period_seconds.is_none() && meta.generation > 0 {
            meta.generation += 1;
        }
        if meta.deletion_timestamp.is_none_or(|deleted| deleted > self.now) {
            meta.deletion_timestamp = Some(self.now);
        }
        meta.deletion_grace_period_seconds = Some(0);
    }

    /// Stores an object as terminating.
    async fn store_mark(&self, deletion: AdmittedDeletion<'_>) -> Attempt<Deleted> {
        let marked = match self.dry_run {
            true => Attempt::Unwritten(deletion.into_dry_run()),
            false => self.commit_mark(&deletion).await.map(Committed::Stored),
        };
        marked.map(Deleted::Marked)
    }

    async fn commit_mark(&self, deletion: &AdmittedDeletion<'_>) -> Attempt<Arc<Entry>> {
        match deletion.encode_termination(self).await {
            Some(encoded) => encoded.commit_change(self, &mut ReservationGuard::nothing()).await,
            None => Attempt::Unwritten(Arc::clone(deletion.entry())),
        }
    }

    fn details(&self, object: &dyn Object) -> StatusDetails {
        let facts = self.endpoint.kind();
        StatusDetails {
            name: object.meta().name.clone(),
            group: facts.group.to_string(),
            kind: facts.plural.to_string(),
            uid: object.meta().uid.clone(),
            ..StatusDetails::default()
        }
    }
}

fn check_preconditions(
    facts: &ResourceFacts,
    object: &dyn Object,
    entry: &Entry,
    options: &DeleteOptions,
) -> ApiResult<()> {
    let meta = object.meta();
    if facts.hub().extensions.phased_deletion {
        return check_phased(facts, meta, entry, options);
    }
    if let Some(wanted) = options.uid.as_ref().filter(|wanted| **wanted != meta.uid) {
        return Err(ApiError::uid_precondition(
            &facts.hub().group_kind(),
            &meta.name,
            wanted,
            &meta.uid,
        ));
    }
    let actual = entry.revision().to_string();
    if let Some(wanted) = options.resource_version.as_ref().filter(|wanted| **wanted != actual) {
        return Err(ApiError::version_precondition(
            &facts.hub().group_kind(),
            &meta.name,
            wanted,
            &actual,
        ));
    }
    Ok(())
}

/// Checks preconditions for kinds whose deletion is a phase, which have other messages.
fn check_phased(facts: &ResourceFacts, meta: &ObjectMeta, entry: &Entry, options: &DeleteOptions) -> ApiResult<()> {
    let revision = entry.revision().to_string();
    for (what, wanted, actual) in [
        ("UID", &options.uid, &meta.uid),
        ("ResourceVersion", &options.resource_version, &revision),
    ] {
        if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != actual) {
            let why = format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {actual}");
            return Err(ApiError::conflict(&facts.group_resource(), &meta.name, why));
        }
    }
    Ok(())
}

/// Sets the finalizers of the propagation policy. The client's choice takes precedence over the object's finalizers,
/// and these over the kind's default.
fn apply_propagation(finalizers: &mut Vec<String>, options: &DeleteOptions, usual: Dependents) {
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    let (orphan, foreground) = match (options.orphan_dependents, options.propagation) {
        _ if usual == Dependents::Impossible => (false, false),
        (Some(orphan), _) => (orphan, false),
        (None, Some(propagation)) => (
            propagation == Propagation::Orphan,
            propagation == Propagation::Foreground,
        ),
        (None, None) => {
            // If the object has both, the first one counts.
            let first = finalizers
                .iter()
                .find(|finalizer| matches!(finalizer.as_str(), ORPHAN | FOREGROUND));
            match first.map(String::as_str) {
                Some(first) => (first == ORPHAN, first == FOREGROUND),
                None => (matches!(usual, Dependents::Orphaned { .. }), false),
            }
        }
    };
    if has(ORPHAN) == orphan && has(FOREGROUND) == foreground {
        return;
    }
    finalizers.retain(|finalizer| !matches!(finalizer.as_str(), ORPHAN | FOREGROUND));
    for (wanted, name) in [(orphan, ORPHAN), (foreground, FOREGROUND)] {
        if wanted {
            finalizers.push(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_own_nothing_wait_for_no_dependents() {
        let after = |propagation: Propagation, usual: Dependents| {
            let mut finalizers = vec!["a.b/c".to_owned()];
            let options = DeleteOptions {
                propagation: Some(propagation),
                ..DeleteOptions::default()
            };
            apply_propagation(&mut finalizers, &options, usual);
            finalizers
        };
        let waiting = after(Propagation::Foreground, Dependents::Collected);
        assert_eq!(waiting, ["a.b/c", FOREGROUND]);
        for propagation in [Propagation::Foreground, Propagation::Orphan] {
            assert_eq!(after(propagation, Dependents::Impossible), ["a.b/c"]);
        }
    }
}
