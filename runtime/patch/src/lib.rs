//! Changes to objects: patches, the fields that they set, and the managers of these fields.
//!
//! Reading order: [`patches`] (JSON, merge and strategic merge patches of documents), [`fields`] (sets of fields),
//! [`documents`] (walks over documents with a schema), [`managers`] (`metadata.managedFields`), [`apply`] (server-side apply).

pub mod apply;
pub mod documents;
pub mod fields;
pub mod managers;
pub mod patches;
