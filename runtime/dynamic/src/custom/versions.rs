//! Custom objects in another version than the one they came in.

use std::pin::Pin;

use bytes::Bytes;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use serde_json::Value as Tree;

use super::{CustomKind, CustomObject, decode_stored, read_document};

/// A pending conversion; the error is the reason for the client.
pub type Converting<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Converts objects between versions. Without a converter only their `apiVersion` changes.
pub trait Converter: Send + Sync {
    /// Converts `documents`, which are of other versions, to the version `to` in the same order. All of them are
    /// converted at once: the caller limits their number.
    fn convert<'a>(&'a self, documents: Vec<Tree>, to: &'a ResourceFacts) -> Converting<'a, Vec<Tree>>;

    /// Converts one object in a synchronous context: the thread blocks.
    ///
    /// # Errors
    ///
    /// The reason for the client.
    fn convert_now(&self, document: Tree, to: &ResourceFacts) -> Result<Tree, String>;
}

/// `object` in the version `target` of its kind.
///
/// # Errors
///
/// 500 when the definition names a converter, and that fails.
pub fn convert(object: &CustomObject, target: &ResourceFacts) -> ApiResult<CustomObject> {
    match converter(&object.resource().api_version, target) {
        None => Ok(object.renamed(target)),
        Some(converter) => {
            let converted = converter.convert_now(object.to_document(), target);
            of_document(converted.map_err(failed)?, target)
        }
    }
}

/// The document of `object` in the version `target`, with all that a converter returned, and without managed fields.
///
/// # Errors
///
/// As [`convert`].
pub fn document_in(object: &CustomObject, target: &ResourceFacts) -> ApiResult<Tree> {
    let mut document = object.to_unmanaged_document();
    match converter(&object.resource().api_version, target) {
        None => document["apiVersion"] = (*target.api_version).into(),
        Some(converter) => document = converter.convert_now(document, target).map_err(failed)?,
    }
    Ok(document)
}

/// Like [`convert`], without blocking the thread.
///
/// # Errors
///
/// 500 when the definition names a converter, and that fails.
pub async fn convert_later(object: &CustomObject, target: &ResourceFacts) -> ApiResult<CustomObject> {
    match converter(&object.resource().api_version, target) {
        None => Ok(object.renamed(target)),
        Some(converter) => {
            let converted = converter.convert(vec![object.to_document()], target).await;
            of_document(converted.map_err(failed)?.pop().unwrap_or_default(), target)
        }
    }
}

/// True if the stored object `bytes` needs a converter to be read in the version `target`.
#[must_use]
pub fn needs_converter(bytes: &[u8], target: &ResourceFacts) -> bool {
    CustomKind::of(target).is_some_and(|custom| custom.converter().is_some())
        && !is_of(bytes, target)
        && json::type_meta(bytes).is_ok_and(|stored| stored.api_version != target.api_version)
}

/// Reads stored custom objects as [`read`] does, with one converter call for all objects that need it.
///
/// # Errors
///
/// As [`read`], of the first object that fails.
pub async fn read_all(stored: &[Bytes], target: &ResourceFacts) -> ApiResult<Vec<CustomObject>> {
    let mut objects = Vec::with_capacity(stored.len());
    let (mut indexes, mut documents) = (Vec::new(), Vec::new());
    for (index, bytes) in stored.iter().enumerate() {
        let object = read_as_stored(bytes, target)?;
        objects.push(match converter(&object.resource().api_version, target) {
            Some(_) => {
                indexes.push(index);
                documents.push(object.to_document());
                object
            }
            None if object.resource().api_version == target.api_version => object,
            None => object.renamed(target),
        });
    }
    if let Some(converter) = CustomKind::of(target).and_then(CustomKind::converter)
        && !documents.is_empty()
    {
        let converted = converter.convert(documents, target).await.map_err(failed)?;
        for (index, document) in indexes.into_iter().zip(converted) {
            objects[index] = of_document(document, target)?;
        }
    }
    Ok(objects)
}

/// Reads a stored custom object as one of the version `target`: in the version in which it was stored, with the defaults
/// that this version has now, and from there to the wanted one.
///
/// # Errors
///
/// 500 when the kind has no such version any more, the object cannot be read, or not be converted.
pub fn read(bytes: &[u8], target: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
    let object = read_as_stored(bytes, target)?;
    if object.resource() == target {
        return Ok(Box::new(object));
    }
    Ok(Box::new(convert(&object, target)?))
}

/// The object in the version in which it was stored.
fn read_as_stored(bytes: &[u8], target: &ResourceFacts) -> ApiResult<CustomObject> {
    let unreadable = || ApiError::internal("unable to read the stored object");
    let source = if is_of(bytes, target) {
        target.clone()
    } else {
        let api_version = json::type_meta(bytes).map_err(|_| unreadable())?.api_version;
        match target.defined_version(&api_version) {
            Some(_) if api_version == target.api_version => target.clone(),
            Some(version) => version,
            None => {
                let why = format!("request to convert CR from an invalid group/version: {api_version}");
                return Err(ApiError::unnamed(500, why));
            }
        }
    };
    let mut object = CustomObject::new(&source);
    decode_stored(bytes, &mut object).map_err(|_| unreadable())?;
    Ok(object)
}

/// The converter of objects of the version `from` to `target`; `None` if none is needed or declared.
fn converter<'f>(from: &str, target: &'f ResourceFacts) -> Option<&'f dyn Converter> {
    let converter = CustomKind::of(target).and_then(CustomKind::converter);
    converter.filter(|_| from != target.api_version)
}

fn of_document(document: Tree, target: &ResourceFacts) -> ApiResult<CustomObject> {
    let mut converted = CustomObject::new(target);
    read_document(document, &mut converted).map_err(|error| failed(error.to_string()))?;
    Ok(converted)
}

fn failed(why: String) -> ApiError {
    ApiError::unnamed(500, why)
}

/// True if stored bytes start as those of most objects of the version `target` do; then their type need not be parsed.
fn is_of(bytes: &[u8], target: &ResourceFacts) -> bool {
    let start = [r#"{"apiVersion":""#, &target.api_version, r#"","#];
    let rest = start
        .iter()
        .try_fold(bytes, |rest, part| rest.strip_prefix(part.as_bytes()));
    rest.is_some_and(|rest| target.custom.is_some() && !rest.is_empty())
}
