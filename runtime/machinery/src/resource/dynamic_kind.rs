//! The interface of kinds that are defined at run time.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Tree;

use super::ResourceFacts;
use super::object::Object;
use crate::status::ApiResult;

/// A kind that is known at run time: the part of its definition that replaces a type. Its objects are those that
/// [`DynamicKind::zero`] returns; each method expects one of them and returns others unchanged.
pub trait DynamicKind: Any + fmt::Debug + Send + Sync {
    /// Returns a zero object of the version `facts`.
    fn zero(&self, facts: &ResourceFacts) -> Box<dyn Object>;

    /// Returns `object` in the version `target`, with the members that both versions have under the same names.
    fn rename(&self, object: &dyn Object, target: &ResourceFacts) -> Box<dyn Object>;

    /// Like [`DynamicKind::rename`], but uses the converter that the definition names, if any.
    ///
    /// # Errors
    ///
    /// 500 when the converter fails.
    fn convert(&self, object: &dyn Object, target: &ResourceFacts) -> ApiResult<Box<dyn Object>>;

    /// Returns the top-level field `name` of the document of `object`, `None` if it is absent; without a name the whole
    /// document.
    fn part<'o>(&self, object: &'o dyn Object, name: Option<&str>) -> Option<Cow<'o, Tree>>;
}
