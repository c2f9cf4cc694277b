//! Deletion of objects that cannot be read.

use std::sync::Arc;

use axum::response::Response;
use planesmith_access::authorization::{Attributes, Decision, Target};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::meta::StatusDetails;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::Entry;

use super::success;
use crate::endpoint::{Call, Endpoint};
use crate::negotiation::Output;
use crate::reservations::ReservationGuard;
use crate::write::{Attempt, Attempts, Encoded, Write};

/// The verb that a user needs for the object, in addition to deleting it.
const VERB: &str = "unsafe-delete-ignore-read-errors";

impl Write<'_> {
    /// Deletes the object in the path if it cannot be read. Finalizers and plugins, which would have to read it, are
    /// skipped.
    pub(super) async fn delete_unreadable(&self, output: Output) -> ApiResult<Response> {
        let (endpoint, call) = (self.endpoint, self.call);
        endpoint.authorize_unsafe_delete(call).await?;
        let key = endpoint.store().key(call.namespace(), call.name())?;
        let mut attempts = Attempts::new(self, &key);
        loop {
            let met = attempts.state();
            let attempt = match &met {
                Some(entry) => self.delete_unreadable_once(&key, entry).await,
                None => Err(endpoint.not_found(call.name())),
            };
            if let Some(()) = attempts.settle(met.as_ref(), attempt).await? {
                let details = StatusDetails {
                    name: call.name().to_owned(),
                    kind: endpoint.kind().kind.to_string(),
                    ..StatusDetails::default()
                };
                return Ok(success(output, details));
            }
        }
    }

    async fn delete_unreadable_once(&self, key: &str, entry: &Arc<Entry>) -> ApiResult<Attempt<()>> {
        let endpoint = self.endpoint;
        let resource = endpoint.kind().group_resource();
        let read = || endpoint.store().decode_to_delete(entry).is_ok();
        if self.run(entry.size(), read).await? {
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: unsafe \
                 deletion is not allowed because the object is decodable from storage"
            );
            return Err(ApiError::conflict(&resource, self.call.name(), why));
        }
        if self.dry_run {
            return Ok(Attempt::Unwritten(()));
        }
        let encoded = Encoded::removal_of_unreadable(self, key, entry);
        let removed = encoded.commit_change(self, &mut ReservationGuard::nothing()).await;
        if matches!(removed, Attempt::Written(Ok(_))) {
            tracing::warn!(%resource, key, "an object that cannot be read was removed");
        }
        Ok(removed.map(drop))
    }
}

impl Endpoint {
    async fn authorize_unsafe_delete(&self, call: &Call) -> ApiResult<()> {
        let authorizer = &self.stores().options().authorizer;
        let kind = self.kind();
        let target = Target::Resource {
            group: &kind.group,
            version: &kind.version,
            resource: &kind.plural,
            subresource: "",
            namespace: call.namespace(),
            name: call.name(),
        };
        let why = match authorizer
            .authorize(&Attributes::new(&call.ctx.user, VERB, target))
            .wait()
            .await
        {
            Decision::Allow(_) => return Ok(()),
            Decision::Deny(reason) | Decision::NoOpinion(reason) => {
                format!("not permitted to do {}, reason: {reason}", quote(VERB))
            }
            Decision::Failed(error) | Decision::FailedClosed(error) => {
                format!("error while checking permission for {}, {error}", quote(VERB))
            }
        };
        Err(ApiError::forbidden(&kind.group_resource(), call.name(), why))
    }
}
