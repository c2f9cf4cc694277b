//! Second step: the object is that of the path, and has its defaults.

use planesmith_machinery::defaulting;
use planesmith_machinery::meta::{ManagedFieldsEntry, ObjectMeta};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ScaleFacts, Scope};
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::status::{ApiError, ApiResult};

use super::decoded::wipe_system_fields;
use super::{Decoded, DocumentFacts, Write, owners};
use crate::endpoint::{Call, Endpoint};
use crate::representation;

/// An object in the version of the endpoint, with the defaults of that version.
pub(crate) struct Defaulted {
    object: Box<dyn Object>,
    document_facts: DocumentFacts,
    /// The Scale through which the write comes.
    scale: Option<Box<Scale>>,
}

impl Decoded {
    /// Sets the defaults of an object to be created in the namespace of the path.
    ///
    /// # Errors
    ///
    /// 400 when the object has another namespace.
    pub(crate) fn default_new(mut self, write: &Write<'_>) -> ApiResult<Defaulted> {
        let Write { endpoint, call, .. } = write;
        let document_facts = self.document_facts(write);
        endpoint.set_namespace(self.object.meta_mut(), call.namespace())?;
        defaulting::set_defaults(&mut *self.object, write.environment());
        write.drop_repeated_owners(&mut *self.object, false);
        Ok(Defaulted::new(self.object, document_facts))
    }

    /// Sets the defaults of an object that replaces the one in the path.
    ///
    /// # Errors
    ///
    /// 400 when the object has another name or namespace.
    pub(crate) fn default_replacement(mut self, write: &Write<'_>) -> ApiResult<Defaulted> {
        write.endpoint.check_path_names(self.object.meta_mut(), write.call)?;
        let (representation, document_facts) = (write.endpoint.representation(), self.document_facts(write));
        representation.reset_managers(self.object.meta_mut(), &self.json);
        defaulting::set_defaults(&mut *self.object, write.environment());
        write.drop_repeated_owners(&mut *self.object, false);
        Ok(Defaulted::new(self.object, document_facts))
    }

    fn document_facts(&self, write: &Write<'_>) -> DocumentFacts {
        DocumentFacts::by(write.endpoint.representation(), self.object.facts(), &self.json)
    }
}

impl Defaulted {
    /// Sets the defaults of an object that a patch or an apply made for the path of `call`. These decode their results
    /// themselves.
    ///
    /// # Errors
    ///
    /// 400 when the object has another name or namespace.
    pub(crate) fn patched(
        endpoint: &Endpoint,
        call: &Call,
        mut object: Box<dyn Object>,
        document_facts: DocumentFacts,
    ) -> ApiResult<Self> {
        endpoint.check_path_names(object.meta_mut(), call)?;
        defaulting::set_defaults(&mut *object, endpoint.stores().scheme().environment());
        Ok(Self::new(object, document_facts))
    }

    /// Returns a copy of `live`, which has its defaults, with the number of replicas of `scale` at the path in `facts`, for the state
    /// that the Scale means.
    ///
    /// # Errors
    ///
    /// 500 when an object of a custom kind has another type where the Scale has a number or a text.
    pub(crate) fn with_replicas(live: &dyn Object, scale: &Scale, facts: &ScaleFacts) -> ApiResult<Self> {
        let mut object = live.boxed();
        let resource_version = &scale.metadata.resource_version;
        resource_version.clone_into(&mut object.meta_mut().resource_version);
        representation::of(live.resource()).set_replicas(&mut *object, facts, scale.spec.replicas)?;
        Ok(Self {
            scale: Some(Box::new(scale.clone())),
            ..Self::new(object, DocumentFacts::default())
        })
    }

    /// The same object with its final managed fields.
    pub(crate) fn with_managed_fields(mut self, managed_fields: Vec<ManagedFieldsEntry>) -> Self {
        self.object.meta_mut().managed_fields = managed_fields;
        self
    }

    fn new(object: Box<dyn Object>, document_facts: DocumentFacts) -> Self {
        let scale = None;
        Self {
            object,
            document_facts,
            scale,
        }
    }

    /// The object.
    pub(crate) fn object(&self) -> &dyn Object {
        &*self.object
    }

    /// Returns a copy, for an attempt to replace a state that another writer may change.
    pub(crate) fn copy(&self) -> Self {
        Self {
            object: self.object.boxed(),
            document_facts: self.document_facts.clone(),
            scale: self.scale.clone(),
        }
    }

    /// The same object as a write of the status of `live` has it, which does not change all of the metadata.
    pub(super) fn for_status_of(mut self, live: &dyn Object) -> Self {
        representation::of(live.resource()).restore_metadata(self.object.meta_mut(), live.meta());
        self
    }

    /// The object, the facts of its document, and the Scale through which the write comes.
    pub(super) fn into_parts(self) -> (Box<dyn Object>, DocumentFacts, Option<Box<Scale>>) {
        (self.object, self.document_facts, self.scale)
    }

    /// The same object, to be created because the one in the path does not exist.
    pub(super) fn into_new(mut self) -> Self {
        wipe_system_fields(&mut *self.object);
        self.object.meta_mut().resource_version.clear();
        self
    }
}

impl Write<'_> {
    /// Removes repeated owners, with a warning.
    pub(super) fn drop_repeated_owners(&self, object: &mut dyn Object, after_admission: bool) {
        if let Some(warning) = owners::drop_repeated(object.meta_mut(), after_admission) {
            self.call.ctx.warnings.add(warning);
        }
    }
}

impl Endpoint {
    /// Sets an object's namespace to that of the path, or clears it for cluster-scoped objects.
    ///
    /// # Errors
    ///
    /// 400 when the object has another namespace.
    pub(super) fn set_namespace(&self, object: &mut ObjectMeta, namespace: &str) -> ApiResult<()> {
        let namespace = match self.kind().scope {
            Scope::Namespaced => namespace,
            Scope::Cluster => "",
        };
        let own = &mut object.namespace;
        if own.is_empty() || namespace.is_empty() {
            namespace.clone_into(own);
        }
        if own != namespace {
            return Err(ApiError::namespace_mismatch());
        }
        Ok(())
    }

    /// Checks that the metadata names the object in the path.
    ///
    /// # Errors
    ///
    /// 400 when it names another.
    pub(crate) fn check_path_names(&self, own: &mut ObjectMeta, call: &Call) -> ApiResult<()> {
        self.set_namespace(own, call.namespace())?;
        let (own, wanted) = (&own.name, call.name());
        if own.is_empty() {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
            )));
        }
        if own != wanted {
            return Err(ApiError::name_mismatch(own, wanted));
        }
        Ok(())
    }
}
