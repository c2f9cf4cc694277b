//! Third step: managed fields are updated.

use planesmith_machinery::conversion::try_convert;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_patch::fields::Set;
use planesmith_patch::managers::{self, ScaleManagers, ScaleWrite};

use super::replicas::replicas_at;
use super::request::Managing;
use super::{Defaulted, Write};

/// An object with its managed fields.
pub(crate) struct Tracked {
    pub(super) object: Box<dyn Object>,
}

impl Defaulted {
    /// Sets the managed fields of a new object of about `size` bytes.
    ///
    /// A write does not fail if its fields cannot be tracked: no fields are managed then, as in kube-apiserver.
    pub(crate) async fn track_new(mut self, write: &Write<'_>) -> Tracked {
        let work = || write.track(None, &mut *self.object, &self.emptied);
        write.in_turn_or_converting(write.size, work).await;
        Tracked { object: self.object }
    }

    /// Updates the managed fields of a changed object, like [`Self::track_new`]. `live` is the old object, in the same
    /// version; both have about `size` bytes.
    pub(super) async fn track_change(mut self, write: &Write<'_>, size: usize, live: &dyn Object) -> Tracked {
        let work = || write.track(Some(live), &mut *self.object, &self.emptied);
        write.in_turn_or_converting(size, work).await;
        Tracked { object: self.object }
    }
}

impl Tracked {
    /// The same object in the version that the write works on.
    ///
    /// # Errors
    ///
    /// 500 when it cannot be converted.
    pub(crate) fn into_working_version(self, write: &Write<'_>) -> ApiResult<Self> {
        match write.works_as_sent() {
            true => Ok(self),
            false => {
                let object = try_convert(&*self.object, write.endpoint.kind().hub())?;
                Ok(Self { object })
            }
        }
    }
}

impl Write<'_> {
    /// True if the write works on objects in the version of the endpoint: if that is the version of the store, and for
    /// custom kinds, because each of their versions has rules of its own.
    pub(super) fn works_as_sent(&self) -> bool {
        self.endpoint.encodings().is_stored() || self.endpoint.representation().versions_have_own_rules()
    }

    fn track(&self, live: Option<&dyn Object>, new: &mut dyn Object, emptied: &Set<'static>) {
        match self.managing {
            Managing::Changes => {
                let track = |new: &mut dyn Object| {
                    let mut tracking = self.tracking();
                    if !emptied.is_empty() {
                        tracking.emptied = Some(emptied);
                    }
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
