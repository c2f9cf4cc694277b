//! Custom objects in another version than the one they came in.

use serde_json::Value as Tree;

use super::{CustomObject, decode_stored, read_document};
use crate::json;
use crate::object::Object;
use crate::resource::ResourceFacts;
use crate::status::{ApiError, ApiResult};

/// Turns objects of one version into another one. Without it only their `apiVersion` changes.
pub trait Converter: Send + Sync {
    /// The object `document` of the version `from` in the version `to`.
    ///
    /// # Errors
    ///
    /// Why there is none, for the client.
    fn convert(&self, document: Tree, from: &ResourceFacts, to: &ResourceFacts) -> Result<Tree, String>;
}

/// `object` in the version `target` of its kind.
///
/// # Errors
///
/// 500 when the definition names a converter, and that fails.
pub(crate) fn convert(object: &CustomObject, target: &'static ResourceFacts) -> ApiResult<CustomObject> {
    let source = object.resource();
    let mut converted = CustomObject::new(target);
    let converter = target.custom.and_then(|custom| custom.converter());
    match converter.filter(|_| source.api_version != target.api_version) {
        None => {
            converted.take_over(object);
            converted.prune();
        }
        Some(converter) => {
            let document = converter
                .convert(object.to_document(), source, target)
                .map_err(|why| ApiError::unnamed(500, why))?;
            read_document(document, &mut converted).map_err(|error| ApiError::unnamed(500, error.to_string()))?;
        }
    }
    Ok(converted)
}

/// Reads a stored custom object as one of the version `target`: in the version in which it was stored, with the defaults
/// that this version has now, and from there to the wanted one.
///
/// # Errors
///
/// 500 when the kind has no such version any more, the object cannot be read, or not be converted.
pub fn read(bytes: &[u8], target: &'static ResourceFacts) -> ApiResult<Box<dyn Object>> {
    let unreadable = || ApiError::internal("unable to read the stored object");
    let source = if is_of(bytes, target) {
        target
    } else {
        let api_version = json::type_meta(bytes).map_err(|_| unreadable())?.api_version;
        let version = target.custom.and_then(|custom| custom.version(&api_version));
        match version {
            Some(_) if api_version == target.api_version => target,
            Some(version) => version,
            None => {
                let why = format!("request to convert CR from an invalid group/version: {api_version}");
                return Err(ApiError::unnamed(500, why));
            }
        }
    };
    let mut object = CustomObject::new(source);
    decode_stored(bytes, &mut object).map_err(|_| unreadable())?;
    if std::ptr::eq(source, target) {
        return Ok(Box::new(object));
    }
    Ok(Box::new(convert(&object, target)?))
}

/// Whether stored bytes start as those of every object of the version `target` do. Then nobody has to look for what
/// they say about themselves.
fn is_of(bytes: &[u8], target: &ResourceFacts) -> bool {
    let start = [
        r#"{"kind":""#,
        target.kind,
        r#"","apiVersion":""#,
        target.api_version,
        r#"","#,
    ];
    let rest = start
        .iter()
        .try_fold(bytes, |rest, part| rest.strip_prefix(part.as_bytes()));
    rest.is_some_and(|rest| target.custom.is_some() && !rest.is_empty())
}
