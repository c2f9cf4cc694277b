//! Selection of requests by the labels of objects and of their namespaces.

use std::collections::BTreeMap;

use planesmith_access::admission::{Lister, Objects, Operation};
use planesmith_api_defs::core::v1::Namespace;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::object::Object;
use planesmith_machinery::selector::LabelQuery;
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::request::Request;
use crate::target::Content;

/// The selectors of a webhook or a policy. An absent one selects everything.
#[derive(Clone, Debug)]
pub struct Selectors {
    /// The error of a selector that cannot be parsed: one that was stored before its values were checked.
    namespaces: Result<LabelQuery, String>,
    objects: Result<LabelQuery, String>,
}

/// The labels of a request's objects, before and after the change; `None` for an object that the request does not have.
#[derive(Clone, Copy, Debug)]
pub struct ObjectLabels<'a> {
    new: Option<&'a BTreeMap<String, String>>,
    old: Option<&'a BTreeMap<String, String>>,
}

impl<'a> ObjectLabels<'a> {
    /// Returns the labels of `objects`.
    #[must_use]
    pub fn from_request(request: &Request<'_>, objects: &'a Objects<'_>) -> Self {
        Self::of_both(request, objects.new.as_deref(), objects.old)
    }

    /// Returns the labels of the objects `new` and `old`.
    pub(crate) fn of_both(request: &Request<'_>, new: Option<&'a dyn Object>, old: Option<&'a dyn Object>) -> Self {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        let labels = |object: &'a dyn Object| match request.target.content {
            // A Scale shows no labels of its object.
            Content::Scale => &NONE,
            Content::Version(_) | Content::Posted(_) | Content::Options => &object.meta().labels,
        };
        Self {
            new: new.map(labels),
            old: old.map(labels),
        }
    }
}

impl Selectors {
    /// Parses the selectors for labels of namespaces and of objects.
    #[must_use]
    pub fn new(namespaces: Option<&LabelSelector>, objects: Option<&LabelSelector>) -> Self {
        let parse = |selector: Option<&LabelSelector>| match selector {
            None => Ok(LabelQuery::default()),
            Some(selector) => LabelQuery::of_selector(selector).map_err(|error| error.to_string()),
        };
        Self {
            namespaces: parse(namespaces),
            objects: parse(objects),
        }
    }

    /// True if the selectors include the request. To be called once a rule has selected it: only then are errors of the selectors
    /// those of the request.
    ///
    /// # Errors
    ///
    /// 404 if there is no namespace of that name, 500 for a selector that cannot be parsed.
    pub fn include(&self, request: &Request<'_>, labels: ObjectLabels<'_>, lister: &dyn Lister) -> ApiResult<bool> {
        // A selector that excludes the request prevails over an error of the other one.
        match (
            self.include_namespace(request, labels, lister),
            self.include_object(labels),
        ) {
            (Ok(false), _) | (_, Ok(false)) => Ok(false),
            (Err(error), _) | (_, Err(error)) => Err(error),
            (Ok(true), Ok(true)) => Ok(true),
        }
    }

    fn include_namespace(
        &self,
        request: &Request<'_>,
        labels: ObjectLabels<'_>,
        lister: &dyn Lister,
    ) -> ApiResult<bool> {
        let attributes = request.attributes;
        let is_namespace = attributes.resource.plural == "namespaces";
        if attributes.namespace.is_empty() && !is_namespace {
            return Ok(true);
        }
        let query = self.namespaces.as_ref().map_err(ApiError::internal)?;
        if query.is_empty() {
            return Ok(true);
        }
        let is_written = matches!(attributes.operation, Operation::Create | Operation::Update);
        if is_namespace && attributes.subresource.is_empty() && is_written {
            return Ok(labels.new.is_some_and(|labels| has(query, labels)));
        }
        let namespace = lister.fetch::<Namespace>("", attributes.namespace)?;
        let namespace = namespace
            .ok_or_else(|| ApiError::not_found(&GroupResource::new("", "namespaces"), attributes.namespace))?;
        Ok(has(query, &namespace.metadata.labels))
    }

    /// True if the labels of the object match, before or after the change.
    fn include_object(&self, labels: ObjectLabels<'_>) -> ApiResult<bool> {
        let query = self.objects.as_ref().map_err(ApiError::internal)?;
        let matches = |labels: Option<&BTreeMap<String, String>>| labels.is_some_and(|labels| has(query, labels));
        Ok(query.is_empty() || matches(labels.new) || matches(labels.old))
    }
}

fn has(query: &LabelQuery, labels: &BTreeMap<String, String>) -> bool {
    query.matches(|name| labels.get(name).map(String::as_str))
}
