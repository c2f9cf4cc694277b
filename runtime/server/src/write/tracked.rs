//! Third step: managed fields are updated.

use planesmith_machinery::object::Object;
use planesmith_patch::fields::Set;
use planesmith_patch::managers::{self, ScaleManagers, ScaleWrite, Tracking};

use super::candidate::{Candidate, Existing, New};
use super::request::Managing;
use super::{Defaulted, Write};
use crate::representation::replicas_at;

/// An object with its managed fields, in the version of the endpoint.
pub(crate) struct Tracked<P>(Candidate<P>);

impl Defaulted {
    /// Sets the managed fields of a new object of about the size of the request's body.
    ///
    /// A write does not fail if its fields cannot be tracked: no fields are managed then, as in kube-apiserver.
    pub(crate) async fn track_new(self, write: &Write<'_>) -> Tracked<New> {
        self.track(write, None, write.size, New).await
    }

    /// Updates the managed fields of a changed object, like [`Self::track_new`]. `live` is the old object, in the same
    /// version.
    pub(super) async fn track_change<'s>(
        self,
        write: &Write<'_>,
        purpose: Existing<'s>,
        live: &dyn Object,
    ) -> Tracked<Existing<'s>> {
        self.track(write, Some(live), purpose.size, purpose).await
    }

    async fn track<P>(self, write: &Write<'_>, live: Option<&dyn Object>, size: usize, purpose: P) -> Tracked<P> {
        let (mut object, document_facts, scale) = self.into_parts();
        let work = || write.track(live, &mut *object, &document_facts.managed);
        write.in_turn_or_converting(size, work).await;
        Tracked(Candidate {
            object,
            size,
            scale,
            sent_empty: document_facts.sent_empty,
            has_pruned_fields: document_facts.has_pruned_fields,
            purpose,
        })
    }
}

impl<P> Tracked<P> {
    pub(super) fn into_candidate(self) -> Candidate<P> {
        self.0
    }
}

impl Write<'_> {
    fn track(&self, live: Option<&dyn Object>, new: &mut dyn Object, sent_empty: &Set<'static>) {
        match self.managing {
            Managing::Changes => {
                let track = |new: &mut dyn Object| {
                    let tracking = Tracking {
                        sent_empty: Some(sent_empty),
                        ..self.tracking()
                    };
                    managers::track_write(live, new, &tracking, &**self.endpoint.stores().scheme())
                };
                let as_managed = match live {
                    None => self.endpoint.kind().extensions.hooks.as_managed(new),
                    Some(_) => None,
                };
                let tracked = match as_managed {
                    None => track(new),
                    Some(mut managed) => {
                        let tracked = track(&mut *managed);
                        new.meta_mut().managed_fields = std::mem::take(&mut managed.meta_mut().managed_fields);
                        tracked
                    }
                };
                if let Err(error) = tracked {
                    let meta = new.meta();
                    tracing::warn!(
                        resource = %self.endpoint.kind().group_resource(),
                        namespace = meta.namespace,
                        name = meta.name,
                        error = error.message(),
                        "the managed fields of an object are dropped"
                    );
                }
            }
            Managing::Replicas(path) => {
                let stored = live.map_or(&[][..], |live| &live.meta().managed_fields);
                let scaled = ScaleWrite {
                    manager: &self.manager,
                    now: self.now,
                    old: live.map_or(0, |live| replicas_at(live, path)),
                    new: replicas_at(new, path),
                };
                if let Some(managers) = ScaleManagers::read(stored, self.endpoint.kind(), path) {
                    new.meta_mut().managed_fields = managers.track(&scaled);
                }
            }
            Managing::Done => {}
        }
    }
}
