//! Objects that are answered instead of stored: reviews, and the bodies of subresources such as `binding`.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use planesmith_machinery::field_error::{FieldErrors, SentEmpty};
use planesmith_machinery::meta::PartialObjectMetadata;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::time::Time;
use planesmith_machinery::value::Struct;
use planesmith_machinery::{conversion, heap_size, meta, validation};

use crate::encodings::Subject;
use crate::endpoint::{Call, Endpoint};
use crate::large_bodies::Counted;
use crate::metrics::BodyUse;
use crate::negotiation::{Acceptable, Document, Format, Output, Target, negotiate};
use crate::options::WriteOptions;
use crate::representation::not_a_list;
use crate::request::Query;
use crate::response;
use crate::write::{Decoded, Write};

/// An object that a client posted for an answer, decoded, defaulted and passed through the mutating plugins.
///
/// A handler makes its own checks, calls [`admit`](Self::admit) and answers.
pub struct Submission<'a> {
    /// The posted object, in the storage version of its kind.
    pub object: Box<dyn Object>,
    write: Write<'a>,
    output: Output,
    _counted: Counted<'a>,
}

/// The kinds that a subresource accepts.
#[derive(Clone, Copy, Debug)]
pub struct AcceptedKinds {
    /// Versions in which the object is accepted; the handler gets it in the first one.
    pub kinds: &'static [&'static ResourceFacts],
    /// True if the UID and the resourceVersion of the body are passed to the handler.
    pub keeps_system_fields: bool,
}

impl Endpoint {
    /// Reads an object of the endpoint's kind, which is not stored.
    pub(super) async fn submit_own<'a>(&'a self, call: &'a Call, body: Body) -> ApiResult<Submission<'a>> {
        self.submit(call, body, Acceptable::Part, self.kind(), false).await
    }

    /// Reads an object that a client posted to a subresource.
    ///
    /// # Errors
    ///
    /// The object is not of an accepted kind, its names are not those of the path, or a plugin refuses it.
    pub fn posted<'a>(
        &'a self,
        call: &'a Call,
        body: Body,
        posted: AcceptedKinds,
    ) -> BoxFuture<'a, ApiResult<Submission<'a>>> {
        Box::pin(self.submit_posted(call, body, posted))
    }

    async fn submit_posted<'a>(
        &'a self,
        call: &'a Call,
        body: Body,
        posted: AcceptedKinds,
    ) -> ApiResult<Submission<'a>> {
        let format = crate::body::format(&call.parts)?;
        let body = self.read_bytes(call, body, BodyUse::Create).await?;
        let [first, others @ ..] = posted.kinds else {
            return Err(ApiError::method_not_allowed());
        };
        let sent = api_version(format, &body);
        let other = others.iter().find(|kind| sent.as_deref() == Some(&kind.api_version));
        let kind = other.unwrap_or(first);
        let mut submission = self
            .submit(
                call,
                Body::from(body),
                Acceptable::Part,
                kind,
                posted.keeps_system_fields,
            )
            .await?;
        if kind != first {
            submission.object = conversion::convert(&*submission.object, first);
        }
        Ok(submission)
    }

    /// Runs the admission plugins for a connection that `call` opens with `parameters`, and returns these as the plugins left them.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub async fn admit_connection<O: Struct>(&self, call: &Call, parameters: O) -> ApiResult<O> {
        let options = WriteOptions::for_create(Query::new(""))?;
        Write::new(self, call, &options, 0).admit_connection(parameters).await
    }

    async fn submit<'a>(
        &'a self,
        call: &'a Call,
        body: Body,
        acceptable: Acceptable,
        kind: &ResourceFacts,
        keeps_system_fields: bool,
    ) -> ApiResult<Submission<'a>> {
        let output = negotiate(&call.parts, acceptable)?;
        let body = self.read_body(call, body, BodyUse::Create).await?;
        let options = WriteOptions::for_create(call.query())?;
        let begin = || -> ApiResult<_> {
            let decoded = Decoded::read(self, call, kind, &options, &body)?;
            let write = Write::new(self, call, &options, body.len());
            let decoded = match keeps_system_fields {
                true => decoded,
                false => decoded.without_system_fields(),
            };
            let defaulted = decoded.default_new(&write)?;
            Ok((write, defaulted))
        };
        let (write, defaulted) = self.run(call, body.len(), body.cost(), begin).await??;
        drop(body);
        let bodies = self.stores().large_bodies();
        let counted = bodies.count(write.size, || heap_size::of_object(defaulted.object()))?;
        let tracked = defaulted.track_new(&write).await;
        let working = match kind == self.kind() {
            true => tracked.into_working_version(&write).await?,
            false => tracked.into_posted_version(),
        };
        let mutated = working.mutate(&write).await?;
        Ok(Submission {
            object: mutated.into_object(),
            write,
            output,
            _counted: counted,
        })
    }
}

impl Submission<'_> {
    /// Runs the validating plugins on the object.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub fn admit(&mut self) -> BoxFuture<'_, ApiResult<()>> {
        Box::pin(self.write.run_validating_plugins(&mut *self.object, None))
    }

    /// The violations of the kind's own rules; the handler checks the metadata itself.
    #[must_use]
    pub fn check(&self) -> FieldErrors {
        validation::check_create(&*self.object, &self.write.strategy_context(SentEmpty::nothing()))
    }

    /// The object as the type of the handler's kind.
    ///
    /// # Errors
    ///
    /// 500 when the handler is registered for another kind.
    pub fn as_kind<R: Resource>(&mut self) -> ApiResult<&mut R> {
        let kind = self.object.resource().kind.clone();
        self.object
            .downcast_mut()
            .ok_or_else(|| ApiError::internal(format!("the handler does not take objects of kind {kind}")))
    }

    /// True if the request is a dry run.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.write.dry_run
    }

    /// Time of the request.
    #[must_use]
    pub fn now(&self) -> Time {
        self.write.now
    }

    /// Answers with success, without an object.
    #[must_use]
    pub fn done(&self) -> Response {
        let status = meta::Status {
            status: "Success".to_owned(),
            code: i32::from(StatusCode::CREATED.as_u16()),
            ..meta::Status::default()
        };
        // A Status is sent as it is, whatever the client accepts.
        self.structure(&status)
    }

    /// Answers with an object that is not of the endpoint's kind.
    ///
    /// # Errors
    ///
    /// 406 when the client accepts a list of metadata.
    pub fn answer_with(&self, answer: &dyn Object) -> ApiResult<Response> {
        match self.output.target {
            Target::PartialObject => {
                let metadata = answer.meta().clone();
                Ok(self.structure(&PartialObjectMetadata { metadata }))
            }
            Target::PartialObjectList => {
                let kind = answer.resource();
                Err(not_a_list(&kind.group, &kind.kind))
            }
            Target::Object | Target::Table => Ok(self.structure(answer)),
        }
    }

    fn structure(&self, answer: &dyn Struct) -> Response {
        response::structure(StatusCode::CREATED, self.output, answer)
    }

    /// Answers with an object of the endpoint's kind, in its storage version.
    ///
    /// # Errors
    ///
    /// The object cannot be rendered in the negotiated encoding.
    pub fn respond(&self, answer: &dyn Object) -> ApiResult<Response> {
        let (endpoint, query) = (self.write.endpoint, self.write.call.query());
        let answer = endpoint.encodings().in_version(answer.boxed())?;
        endpoint.render(StatusCode::CREATED, self.output, query, Subject::Object(&*answer))
    }
}

/// The API version of a body; `None` when it cannot be read.
fn api_version(format: Format, body: &Bytes) -> Option<String> {
    let sent = Document::read(format, body).ok()?.type_meta().ok()?;
    Some(sent.api_version)
}

impl std::fmt::Debug for Submission<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Submission")
            .field("kind", &self.object.resource().kind)
            .finish_non_exhaustive()
    }
}
