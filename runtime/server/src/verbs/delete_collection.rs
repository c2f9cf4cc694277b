//! Deletion of collections.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use planesmith_machinery::status::{ApiResult, Reason};
use planesmith_machinery::validation;

use super::selection::Selection;
use crate::endpoint::{Call, Endpoint};
use crate::metrics::BodyUse;
use crate::negotiation::Acceptable;
use crate::options::{DeleteOptions, ListOptions, VersionMatch};
use crate::write::Write;

impl Endpoint {
    /// Deletes the objects that a list would return, and answers with that list.
    ///
    /// # Errors
    ///
    /// 500 when one of the objects cannot be converted to the version of the request: then none is deleted.
    pub(crate) async fn delete_collection(&self, call: &Call, body: Body) -> ApiResult<Response> {
        let output = self.negotiate(&call.parts, Acceptable::Collection)?;
        let mut list = ListOptions::for_list(call.query())?;
        if list.version_match.is_none() && !matches!(&*list.resource_version, "" | "0") {
            // kube-apiserver lists in pages here, which are of exactly the requested revision.
            list.version_match = Some(VersionMatch::Exact);
        }
        let selection = Selection::new(&list, self.kind(), "")?;
        let options = self.delete_options(call, body, BodyUse::DeleteCollection).await?;
        validation::check_delete_collection_options(&options.sent)?;
        self.warn_about_dependents(call, &options);
        let mut page = self.page(call, &list, &selection).await?;
        if !call.is_internal() {
            // As in kube-apiserver, nothing is deleted if the list, which is the answer, cannot be converted.
            page.entries = self.converted(page.entries).await?;
        }
        let write = Write::removal(self, call, &options);
        let failed = AtomicBool::new(false);
        // Collected into a vector, so that the stream contains futures and no closure over borrowed names.
        let mut removals = Vec::with_capacity(page.entries.len());
        for entry in &page.entries {
            let (namespace, name) = self.store().names(entry.key());
            removals.push(write.remove_one_of_many(namespace, name, &options, &failed));
        }
        let concurrency = self.stores().options().deletions.max(1);
        // Deletions that have begun are finished, even if others fail.
        let outcomes: Vec<ApiResult<()>> = stream::iter(removals).buffered(concurrency).collect().await;
        outcomes.into_iter().collect::<ApiResult<()>>()?;
        page.entries = self.converted(page.entries).await?;
        self.render_list(call, output, page).await
    }
}

impl Write<'_> {
    /// Deletes an object, unless the deletion of another one `failed` before this one began.
    async fn remove_one_of_many(
        &self,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
        failed: &AtomicBool,
    ) -> ApiResult<()> {
        if failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.delete_in(namespace, name, options).await {
            Ok(_) => Ok(()),
            // The object was already deleted by another request.
            Err(error) if error.reason() == Some(Reason::NotFound) => Ok(()),
            Err(error) => {
                failed.store(true, Ordering::Relaxed);
                Err(error)
            }
        }
    }
}
