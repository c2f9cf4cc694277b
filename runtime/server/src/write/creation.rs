//! Creation of an object.

use std::sync::Arc;

use planesmith_access::authorization::{Attributes, Decision, Target};
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::{Entry, WriteError};

use super::attempt::depends_on_others;
use super::candidate::New;
use super::mutated::Mutated;
use super::reserved::Reserved;
use super::{Committed, Defaulted, Write};
use crate::filters::refusal;
use crate::options::parse_version;
use crate::representation::place_of_metadata;
use crate::reservations::ReservationGuard;
use crate::stores::store_failure;

/// Maximum number of attempts to generate a name that is not taken.
const NAME_ATTEMPTS: usize = 8;

/// The outcome of a creation that nothing refused.
pub(super) enum Creation {
    /// The object is created, or would be.
    Done(Committed),
    /// Another object has the name.
    NameTaken {
        name: String,
        /// The error for the client.
        error: ApiError,
    },
    /// The store could not write.
    Failed(ApiError),
}

impl Defaulted {
    /// Creates the object. A generated name that is taken is generated anew, a few times.
    ///
    /// # Errors
    ///
    /// The object is not valid or its name is taken, a plugin refuses it, or the store cannot write.
    pub(crate) async fn create(self, write: &Write<'_>) -> ApiResult<Committed> {
        match self.create_if_absent(write).await? {
            Creation::Done(committed) => Ok(committed),
            Creation::NameTaken { error, .. } | Creation::Failed(error) => Err(error),
        }
    }

    /// Like [`Self::create`], for callers that have another use for an object with the same name.
    ///
    /// # Errors
    ///
    /// As for [`Self::create`], except for a name that is taken.
    pub(super) async fn create_if_absent(self, write: &Write<'_>) -> ApiResult<Creation> {
        write.endpoint.check_not_terminating(&self.object().meta().name)?;
        let storage = write.endpoint.store().storage();
        if !storage.is_shared() {
            return self.create_once(write).await;
        }
        let (again, before) = (write.in_turn(write.size, || self.copy()).await, storage.revision());
        match self.create_once(write).await {
            // A plugin may have looked at objects that others have changed meanwhile.
            Err(error) if depends_on_others(&error) => {
                write.endpoint.fresh(write.call).await?;
                match storage.revision() == before {
                    true => Err(error),
                    false => again.create_once(write).await,
                }
            }
            created => created,
        }
    }

    async fn create_once(self, write: &Write<'_>) -> ApiResult<Creation> {
        let tracked = self.track_new(write).await;
        let mutated = tracked.into_working_version(write).await?.mutate(write).await?;
        let attempts = if mutated.needs_name() { NAME_ATTEMPTS } else { 1 };
        for _ in 1..attempts {
            let attempt = mutated.copy(write).await;
            match Box::pin(attempt.create(write)).await? {
                Creation::NameTaken { .. } => {}
                end @ (Creation::Done(_) | Creation::Failed(_)) => return Ok(end),
            }
        }
        Box::pin(mutated.create(write)).await
    }
}

impl Mutated<New> {
    async fn create(self, write: &Write<'_>) -> ApiResult<Creation> {
        let (reserved, mut reservation) = self.identify(write)?.reserve(write).await?;
        let created = reserved.create(write, &mut reservation).await;
        reservation.roll_back().await;
        created
    }
}

impl Reserved<New> {
    async fn create(self, write: &Write<'_>, reservation: &mut ReservationGuard) -> ApiResult<Creation> {
        let validated = self.validate(write).await?;
        write.authorize_creation().await?;
        let admitted = validated.admit(write).await?;
        let meta = admitted.object().meta();
        let store = write.endpoint.store();
        let key = store.key(write.call.namespace(), &meta.name)?;
        if write.dry_run {
            write.endpoint.fresh(write.call).await?;
            if let current @ Some(_) = store.collection().get(&key) {
                return Ok(write.name_taken(admitted.object(), current));
            }
            let storable = admitted.into_storage_version(write).await?;
            return Ok(Creation::Done(storable.into_dry_run()));
        }
        // Text that is not a number counts as absent.
        if parse_version(&meta.resource_version).is_ok_and(|version| version != 0) {
            return Err(ApiError::version_on_create());
        }
        let storable = admitted.into_storage_version(write).await?;
        let encoded = storable.encode(write, &key).await;
        match encoded.commit(write, reservation).await {
            Ok(written) => Ok(Creation::Done(Committed::Stored(written.entry))),
            Err(WriteError::Conflict { current }) => Ok(write.name_taken(storable.object(), current)),
            Err(error) => Ok(Creation::Failed(store_failure(&error))),
        }
    }
}

impl Write<'_> {
    /// Checks that the user of an update, a patch or an apply may create the object that is missing.
    ///
    /// # Errors
    ///
    /// 403 when the user may not, and 500 when that cannot be decided.
    async fn authorize_creation(&self) -> ApiResult<()> {
        const VERB: &str = "create";
        let info = &self.call.ctx.info;
        let authorizer = &self.endpoint.stores().options().authorizer;
        if info.verb_text() == VERB {
            return Ok(());
        }
        let target = Target::Resource {
            group: info.group(),
            version: info.version(),
            resource: info.resource(),
            subresource: info.subresource(),
            namespace: info.namespace(),
            name: info.name(),
        };
        let user = &self.call.ctx.user;
        match authorizer.authorize(&Attributes::new(user, VERB, target)).wait().await {
            Decision::Allow(_) => Ok(()),
            Decision::Deny(reason) | Decision::NoOpinion(reason) => Err(refusal(&user.name, VERB, &target, &reason)),
            Decision::Failed(why) | Decision::FailedClosed(why) => Err(ApiError::internal(why)),
        }
    }

    /// 409 for a name that is taken, possibly by a terminating object.
    fn name_taken(&self, object: &dyn Object, current: Option<Arc<Entry>>) -> Creation {
        let resource = self.endpoint.kind().group_resource();
        let meta = object.meta();
        let error = match meta.generate_name.is_empty() {
            false => ApiError::generated_name_taken(&resource, &meta.name),
            true => ApiError::already_exists(&resource, &meta.name),
        };
        let error = match current.is_some_and(|current| is_terminating(&current)) {
            true => error.being_deleted(),
            false => error,
        };
        let name = meta.name.clone();
        Creation::NameTaken { name, error }
    }
}

/// True if the object of `entry` is terminating. It is not decoded: it may be large, or of another version.
fn is_terminating(entry: &Entry) -> bool {
    let bytes = entry.bytes();
    place_of_metadata(&bytes).is_ok_and(|range| {
        let metadata = &bytes[range];
        json::place_of(metadata, "deletionTimestamp").is_some_and(|place| &metadata[place] != b"null")
    })
}
