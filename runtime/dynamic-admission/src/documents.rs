//! Objects as documents, in the version in which a webhook or a policy sees them.

use planesmith_access::admission::Objects;
use planesmith_dynamic::custom::{self, AsCustom as _};
use planesmith_machinery::conversion::try_convert;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, ScaleFacts, SubresourceKind};
use planesmith_machinery::status::ApiResult;
use planesmith_server::verbs::scale_of;
use serde_json::Value;

use crate::request::Request;
use crate::target::{Content, Target};

/// The documents of a request's objects; `null` for an object that the request does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents {
    /// The new object, or the options of a connection.
    pub new: Value,
    /// The stored object.
    pub old: Value,
}

impl Documents {
    /// Returns the documents of `objects` in the version of `target`.
    ///
    /// # Errors
    ///
    /// 500 if an object cannot be converted.
    pub async fn convert(request: &Request<'_>, objects: &Objects<'_>, target: &Target) -> ApiResult<Self> {
        if let Some(options) = request.attributes.connection {
            return Ok(Self {
                new: options.read(json::to_value),
                old: Value::Null,
            });
        }
        Ok(Self {
            new: optional_document(objects.new.as_deref(), target).await?,
            old: optional_document(objects.old, target).await?,
        })
    }
}

async fn optional_document(object: Option<&dyn Object>, target: &Target) -> ApiResult<Value> {
    match object {
        Some(object) => document(object, target).await,
        None => Ok(Value::Null),
    }
}

/// Returns the document of `object` in the version of `target`.
///
/// # Errors
///
/// 500 if the object cannot be converted.
pub async fn document(object: &dyn Object, target: &Target) -> ApiResult<Value> {
    match &target.content {
        Content::Posted(_) | Content::Options => Ok(of_object(object)),
        Content::Version(version) if object.resource() == version => Ok(of_object(object)),
        Content::Version(version) => Ok(of_object(&*convert(object, version).await?)),
        Content::Scale => match scale_facts(object.resource()) {
            Some(facts) => Ok(json::to_value(&scale_of(object, facts)?)),
            None => Ok(Value::Null),
        },
    }
}

/// Converts an object to the version `to` of its kind without blocking the thread.
///
/// # Errors
///
/// 500 if the converter of the kind fails.
pub(crate) async fn convert(object: &dyn Object, to: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
    match object.as_custom() {
        Some(object) => Ok(Box::new(custom::convert_later(object, to).await?)),
        None => try_convert(object, to),
    }
}

/// Returns the paths of the Scale of objects of a kind; `None` for a kind without one.
pub(crate) fn scale_facts(kind: &ResourceFacts) -> Option<&ScaleFacts> {
    match &kind.subresource("scale")?.kind {
        SubresourceKind::Scale(facts) => Some(facts),
        SubresourceKind::Status | SubresourceKind::Other => None,
    }
}

fn of_object(object: &dyn Object) -> Value {
    match object.as_custom() {
        Some(object) => object.to_document(),
        None => json::to_value(object),
    }
}
