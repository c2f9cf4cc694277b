//! Kinds that are known at run time, as the code that serves every kind sees them.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Tree;

use super::ResourceFacts;
use super::object::Object;
use crate::facts::StructFacts;
use crate::status::ApiResult;

/// A kind that is known at run time: the part of its definition that replaces a type. Its objects are those that
/// [`DynamicKind::zero`] returns; each method expects one of them and returns others unchanged.
pub trait DynamicKind: Any + fmt::Debug + Send + Sync {
    /// The facts of the version that is stored; `None` until the versions of the kind are known.
    fn hub(&self) -> Option<&'static ResourceFacts>;

    /// The facts of the version `api_version`.
    fn version(&self, api_version: &str) -> Option<&'static ResourceFacts>;

    /// The fields at the top of objects.
    fn fields(&self) -> &StructFacts;

    /// A zero object of the version `facts`.
    fn zero(&self, facts: &'static ResourceFacts) -> Box<dyn Object>;

    /// `object` in the version `target`: the members that both versions have under the same names.
    fn rename(&self, object: &dyn Object, target: &'static ResourceFacts) -> Box<dyn Object>;

    /// As [`DynamicKind::rename`], by the converter that the definition names, if it does.
    ///
    /// # Errors
    ///
    /// 500 when the converter fails.
    fn convert(&self, object: &dyn Object, target: &'static ResourceFacts) -> ApiResult<Box<dyn Object>>;

    /// The value of the field `name` at the top of the document of `object`, `null` if it has none; without a name all of the
    /// document.
    fn part<'o>(&self, object: &'o dyn Object, name: Option<&str>) -> Cow<'o, Tree>;
}
