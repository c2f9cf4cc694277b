//! The way of a new object from its managed fields to the store.

use std::sync::Arc;

use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};
use planesmith_store::{Entry, WriteError};

use super::tracked::Tracked;
use super::{Committed, Defaulted, Mutated, Write};
use crate::options::parse_version;
use crate::reservations::ReservationGuard;
use crate::stores::store_failure;

/// Maximum number of attempts to generate a name that is not taken.
const NAME_ATTEMPTS: usize = 8;

impl Defaulted {
    /// Creates the object. A generated name that is taken is generated anew, a few times.
    ///
    /// # Errors
    ///
    /// The object is not valid or its name is taken, a plugin refuses it, or the store cannot write.
    pub(crate) async fn create(self, write: &Write<'_>) -> ApiResult<Committed> {
        let tracked = self.track_new(write).await;
        let meta = tracked.object.meta();
        let generates = meta.name.is_empty() && !meta.generate_name.is_empty();
        let attempts = if generates { NAME_ATTEMPTS } else { 1 };
        for _ in 1..attempts {
            match Box::pin(tracked.clone().create(write)).await {
                Err(error) if error.reason() == Some(Reason::AlreadyExists) => {}
                outcome => return outcome,
            }
        }
        Box::pin(tracked.create(write)).await
    }
}

impl Tracked {
    async fn create(self, write: &Write<'_>) -> ApiResult<Committed> {
        let tracked = self.into_working_version(write)?;
        write.endpoint.check_that_it_stays(&tracked.object.meta().name)?;
        let mut mutated = tracked.mutate(write, None).await?.identify(write)?;
        let mut reservation = match write.endpoint.reservations() {
            Some(pool) => ReservationGuard::new(pool.begin_create(&mut *mutated.object, write.dry_run).await?),
            None => ReservationGuard::nothing(),
        };
        let committed = mutated.create(write, &mut reservation).await;
        reservation.roll_back().await;
        committed
    }
}

impl Mutated {
    /// Creates an object whose reservations are made.
    async fn create(self, write: &Write<'_>, reservation: &mut ReservationGuard) -> ApiResult<Committed> {
        let validated = self.validate_new(write).await?;
        let admitted = validated.admit(write, None).await?;
        let meta = admitted.object.meta();
        let key = write.endpoint.store().key(write.call.namespace(), &meta.name)?;
        if write.dry_run {
            if let current @ Some(_) = write.endpoint.store().collection().get(&key) {
                return Err(write.name_taken(&*admitted.object, current));
            }
            return admitted.into_dry_run(write).await;
        }
        // Text that is not a number counts as absent.
        if parse_version(&meta.resource_version).is_ok_and(|version| version != 0) {
            return Err(ApiError::version_on_create());
        }
        let admitted = admitted.into_storage_version(write).await?;
        let encoded = admitted.encode_new(write, &key).await;
        match encoded.commit(write, reservation).await {
            Ok(written) => Ok(Committed::Stored(written.entry)),
            Err(WriteError::Conflict { current }) => Err(write.name_taken(&*admitted.object, current)),
            Err(error) => Err(store_failure(&error)),
        }
    }
}

impl Write<'_> {
    /// 409 for a name that is taken, possibly by a terminating object.
    fn name_taken(&self, object: &dyn Object, current: Option<Arc<Entry>>) -> ApiError {
        let resource = self.endpoint.kind().group_resource();
        let meta = object.meta();
        let error = match meta.generate_name.is_empty() {
            false => ApiError::generated_name_taken(&resource, &meta.name),
            true => ApiError::already_exists(&resource, &meta.name),
        };
        let current = current.and_then(|entry| self.endpoint.store().decode(&entry).ok());
        match current.is_some_and(|current| current.meta().deletion_timestamp.is_some()) {
            true => error.being_deleted(),
            false => error,
        }
    }
}
