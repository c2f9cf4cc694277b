//! Objects of a declared kind, in the version in which each was stored.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use planesmith_dynamic::custom;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::{Scheme, not_registered};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::{conversion, defaulting, json, protobuf, yaml};
use planesmith_store::{Draft, Loaded};

use super::stored_objects::StoredObjects;
use crate::build_id::build_id;

/// The stored objects of a declared kind, and the versions in which they may be stored.
#[derive(Debug)]
pub(super) struct DeclaredObjects {
    hub: ResourceFacts,
    /// The versions that are converted to `hub`, including those that are not served.
    others: Vec<ResourceFacts>,
    /// The first bytes of every object that was stored in the version `hub`.
    prefix: Vec<u8>,
    /// The features and the clock that decide about defaults.
    environment: Environment,
}

/// The reason that stored bytes are not an object of their kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    /// The program has no such version of the kind.
    #[error("{}", not_registered(.kind, .api_version, .scheme))]
    UnknownVersion {
        kind: String,
        api_version: String,
        scheme: &'static str,
    },
    /// The bytes do not match the type of their version.
    #[error("{0}")]
    Malformed(String),
}

impl From<Unreadable> for ApiError {
    fn from(why: Unreadable) -> Self {
        match why {
            Unreadable::UnknownVersion { .. } => ApiError::unnamed(500, why.to_string()),
            Unreadable::Malformed(_) => ApiError::internal("unable to read the stored object"),
        }
    }
}

impl DeclaredObjects {
    /// The versions of the kind with the storage version `hub` in `scheme`.
    pub(super) fn new(hub: &ResourceFacts, scheme: &Scheme) -> Self {
        let is_older = |facts: &&ResourceFacts| !facts.is_hub() && facts.is_version_of(hub);
        let mut prefix = b"{\"kind\":".to_vec();
        json::encode_text(&hub.kind, &mut prefix);
        prefix.extend_from_slice(b",\"apiVersion\":");
        json::encode_text(&hub.api_version, &mut prefix);
        prefix.push(b',');
        Self {
            hub: hub.clone(),
            others: scheme.iter().filter(is_older).cloned().collect(),
            prefix,
            environment: scheme.environment().clone(),
        }
    }

    /// The object of bytes that are in the storage version, defaults included. Bytes of another version are read as by
    /// [`DeclaredObjects::read_stored`].
    ///
    /// # Errors
    ///
    /// See [`Unreadable`].
    fn read_current(&self, bytes: &[u8]) -> Result<Box<dyn Object>, Unreadable> {
        match bytes.starts_with(&self.prefix) {
            true => decode(bytes, &self.hub),
            false => self.read_stored(bytes).map(|(object, _)| object),
        }
    }

    /// The object that `bytes` encode, in the storage version, and the version in which it was stored. Defaults are set as in
    /// kube-apiserver: those of the version in which the object was stored before it is converted, and those of the storage
    /// version afterwards.
    ///
    /// # Errors
    ///
    /// See [`Unreadable`].
    pub(super) fn read_stored(&self, bytes: &[u8]) -> Result<(Box<dyn Object>, &ResourceFacts), Unreadable> {
        let version = self.version_of(bytes)?;
        self.to_hub(decode(bytes, version)?, version)
    }

    /// Like [`DeclaredObjects::read_stored`], for bytes in any encoding in which kube-apiserver stores objects: protobuf in
    /// its envelope, JSON and YAML.
    ///
    /// # Errors
    ///
    /// See [`Unreadable`].
    pub(super) fn read_encoded(&self, bytes: &[u8]) -> Result<(Box<dyn Object>, &ResourceFacts), Unreadable> {
        if bytes.starts_with(protobuf::MAGIC) {
            let envelope = protobuf::open(bytes).map_err(|error| Unreadable::Malformed(error.to_string()))?;
            let version = self.version_named(envelope.type_meta.api_version, envelope.type_meta.kind)?;
            let mut object = version.zero();
            protobuf::decode(envelope.raw, &mut *object).map_err(|error| Unreadable::Malformed(error.to_string()))?;
            return self.to_hub(object, version);
        }
        if bytes.trim_ascii_start().starts_with(b"{") {
            return self.read_stored(bytes);
        }
        let document = yaml::to_json(bytes).map_err(|error| Unreadable::Malformed(error.to_string()))?;
        self.read_stored(&document.json)
    }

    /// Sets the defaults of `version`, in which the object is, converts it, and sets those of the storage version.
    fn to_hub<'s>(
        &self,
        mut object: Box<dyn Object>,
        version: &'s ResourceFacts,
    ) -> Result<(Box<dyn Object>, &'s ResourceFacts), Unreadable> {
        defaulting::set_defaults(&mut *object, &self.environment);
        if *version != self.hub {
            object = conversion::convert(&*object, &self.hub);
            defaulting::set_defaults(&mut *object, &self.environment);
        }
        Ok((object, version))
    }

    fn version_of(&self, bytes: &[u8]) -> Result<&ResourceFacts, Unreadable> {
        if bytes.starts_with(&self.prefix) {
            return Ok(&self.hub);
        }
        let stored = json::type_meta(bytes).map_err(|error| Unreadable::Malformed(error.to_string()))?;
        self.version_named(stored.api_version, stored.kind)
    }

    fn version_named(&self, api_version: String, kind: String) -> Result<&ResourceFacts, Unreadable> {
        // Another program may have stored an object without its type.
        let is_of = |facts: &&ResourceFacts| {
            (kind.is_empty() || kind == facts.kind) && (api_version.is_empty() || api_version == facts.api_version)
        };
        let mut versions = std::iter::once(&self.hub).chain(&self.others);
        versions.find(is_of).ok_or(Unreadable::UnknownVersion {
            kind,
            api_version,
            scheme: self.hub.extensions.scheme_name,
        })
    }
}

impl DeclaredObjects {
    /// The version with the name `version`, which may be one that is not served; the storage version if there is none.
    pub(super) fn version(&self, version: &str) -> &ResourceFacts {
        let other = self.others.iter().find(|facts| facts.version == version);
        other.filter(|_| self.hub.version != version).unwrap_or(&self.hub)
    }
}

impl StoredObjects for DeclaredObjects {
    fn read(&self, bytes: &[u8]) -> ApiResult<Box<dyn Object>> {
        self.read_current(bytes).map_err(|why| {
            tracing::error!(kind = %self.hub.kind, error = %why, "an object in the store cannot be read");
            ApiError::from(why)
        })
    }

    fn read_as(&self, bytes: &[u8], version: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
        let object = self.read(bytes)?;
        match version.is_hub() {
            true => Ok(object),
            false => conversion::try_convert(&*object, version),
        }
    }

    fn read_in_any_version(&self, bytes: &[u8]) -> ApiResult<Box<dyn Object>> {
        self.read(bytes)
    }

    /// The program has the facts and conversions of all kinds, and the features decide about defaults.
    fn fingerprint(&self) -> Option<u64> {
        let mut fingerprint = DefaultHasher::new();
        (build_id()?, &self.hub.api_version, &self.hub.kind).hash(&mut fingerprint);
        format!("{:?}", self.environment.features).hash(&mut fingerprint);
        Some(fingerprint.finish())
    }

    /// Objects are decoded, so that the cache has them in the form in which this program stores them.
    fn loaded(&self, bytes: &[u8]) -> Loaded {
        let Ok((object, version)) = self.read_stored(bytes) else {
            return Loaded::Unreadable;
        };
        let encoded = json::encode_for_storage(&*object);
        let draft = Draft::new(encoded.bytes, encoded.gap);
        match *version == self.hub {
            true => Loaded::Encoded(draft),
            false => Loaded::Converted(draft),
        }
    }

    fn reindexed(&self, _: &[u8]) -> Option<Draft> {
        None
    }
}

fn decode(bytes: &[u8], version: &ResourceFacts) -> Result<Box<dyn Object>, Unreadable> {
    let mut object = version.zero();
    match custom::decode_stored(bytes, &mut *object) {
        Ok(_) => Ok(object),
        Err(error) => Err(Unreadable::Malformed(error.to_string())),
    }
}
