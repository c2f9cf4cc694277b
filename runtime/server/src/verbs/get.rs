//! Reads of one object.

use axum::response::Response;
use http::StatusCode;
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::encodings::Subject;
use crate::endpoint::{Call, Endpoint};
use crate::negotiation::{Acceptable, Target};
use crate::options::parse_version_field;
use crate::request::Stage;

impl Endpoint {
    /// Answers with the object in the cache.
    pub(crate) async fn get(&self, call: &Call) -> ApiResult<Response> {
        let output = self.negotiate(
            &call.parts,
            Acceptable::of_object(&self.kind().extensions, call.ctx.info.subresource()),
        )?;
        call.refuse_export()?;
        let query = call.query();
        let key = self.store().key(call.namespace(), call.name())?;
        let version = query.first("resourceVersion").filter(|version| !version.is_empty());
        // As in kube-apiserver, a resourceVersion allows the state of a cache; without one the newest state is read.
        let may_be_cached = version.is_some();
        if let Some(version) = version {
            let version = parse_version_field(&version).map_err(|why| ApiError::unnamed(500, why))?;
            self.wait_for(call, version).await?;
        } else {
            self.fresh(call).await?;
        }
        let entry = self
            .store()
            .collection()
            .get(&key)
            .ok_or_else(|| self.not_found(call.name()))?;
        let entry = match output.target {
            // Metadata is the same in every version.
            Target::PartialObject | Target::PartialObjectList => entry,
            Target::Object | Target::Table if may_be_cached => self.converted_one(entry).await?,
            Target::Object | Target::Table => self.converted_now(entry).await?,
        };
        let encode = || self.render(StatusCode::OK, output, query, Subject::Entry(&entry));
        let encode = || call.ctx.timeline.time(Stage::Encode, encode);
        let cost = self.encodings().cost(&entry, output);
        self.run(call, entry.size(), cost, encode).await?
    }
}
