//! The new object of a request while webhooks and policies change it.

use planesmith_access::admission::{Attributes, Objects};
use planesmith_dynamic::custom::{AsCustom as _, read_document};
use planesmith_machinery::environment::Environment;
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, ScaleFacts};
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;
use planesmith_machinery::{copy, defaulting, json};
use planesmith_patch::managers::ScaleManagers;
use planesmith_server::verbs::{scale_of, set_replicas};
use serde_json::Value;

use crate::documents::{convert, document, scale_facts};
use crate::request::Request;
use crate::selectors::ObjectLabels;
use crate::target::{Content, Target};

/// The objects of a request while several webhooks or policies change the new one, each in its own version.
///
/// The new object stays in the version of the last change until another version is needed: converting it there and back each time
/// would be slow. [`WorkingObject::finish`] returns it to the request.
#[derive(Debug)]
pub struct WorkingObject<'o, 'a> {
    objects: &'o mut Objects<'a>,
    attributes: &'o Attributes<'o>,
    environment: &'o Environment,
    /// The new object in the version of a target; `None` until it is needed.
    new: Option<InVersion>,
    /// The document of the old object in the version of a target.
    old: Option<(Target, Value)>,
}

/// The new object in the version of a target.
#[derive(Debug)]
struct InVersion {
    target: Target,
    document: Value,
    /// The object of the document; `None` if nothing has changed it since the request's own object was converted.
    changed: Option<Changed>,
}

#[derive(Debug)]
enum Changed {
    Object(Box<dyn Object>),
    Replicas(i32),
    /// The options of a connection, which are changed at once.
    Options,
}

impl<'o, 'a> WorkingObject<'o, 'a> {
    /// Returns the objects of the request with `attributes`, for a server with `environment`.
    pub fn new(objects: &'o mut Objects<'a>, attributes: &'o Attributes<'o>, environment: &'o Environment) -> Self {
        Self {
            objects,
            attributes,
            environment,
            new: None,
            old: None,
        }
    }

    /// Returns the labels of the objects, as they are at the moment.
    #[must_use]
    pub fn labels(&self, request: &Request<'_>) -> ObjectLabels<'_> {
        let changed = self.new.as_ref().and_then(|new| match &new.changed {
            Some(Changed::Object(object)) => Some(&**object),
            Some(Changed::Replicas(_) | Changed::Options) | None => None,
        });
        let new = changed.or(self.objects.new.as_deref());
        ObjectLabels::of_both(request, new, self.objects.old)
    }

    /// Returns the object of the request itself, without changes that are not [finished](Self::finish).
    pub(crate) fn original(&self) -> Option<&dyn Object> {
        self.objects.new.as_deref()
    }

    /// Returns a zero object of the kind and version of `target`; `None` for documents that are no objects of a kind.
    pub(crate) fn blank(&self, target: &Target) -> Option<Box<dyn Object>> {
        match &target.content {
            Content::Version(kind) | Content::Posted(kind) => Some(kind.zero()),
            Content::Scale | Content::Options => None,
        }
    }

    /// Returns the documents of the new and of the old object in the version of `target`; `null` for an object that the request does
    /// not have.
    ///
    /// # Errors
    ///
    /// 500 if an object cannot be converted.
    pub async fn documents(&mut self, request: &Request<'_>, target: &Target) -> ApiResult<(&Value, &Value)> {
        if self.new.as_ref().is_none_or(|new| new.target != *target) {
            self.finish().await?;
            let document = match (request.attributes.connection, self.objects.new.as_deref()) {
                (Some(options), _) => options.read(json::to_value),
                (None, Some(new)) => match (&target.content, request.attributes.scale) {
                    (Content::Scale, Some(sent)) => sent_scale(sent, new)?,
                    _ => document(new, target).await?,
                },
                (None, None) => Value::Null,
            };
            self.new = Some(InVersion {
                target: target.clone(),
                document,
                changed: None,
            });
        }
        if self.old.as_ref().is_none_or(|(of, _)| of != target) {
            let document = match self.objects.old {
                Some(old) => match (&target.content, request.attributes.scale) {
                    (Content::Scale, Some(_)) => managed_scale(old)?,
                    _ => document(old, target).await?,
                },
                None => Value::Null,
            };
            self.old = Some((target.clone(), document));
        }
        let new = self.new.as_ref().map_or(&Value::Null, |new| &new.document);
        let old = self.old.as_ref().map_or(&Value::Null, |(_, old)| old);
        Ok((new, old))
    }

    /// Replaces the new object with `document`, an object in the version of `target`, and sets its defaults. True if that changed
    /// the object.
    ///
    /// # Errors
    ///
    /// 500 if the document is no such object.
    pub fn replace(&mut self, target: &Target, document: Value) -> ApiResult<bool> {
        let (document, changed) = match &target.content {
            Content::Version(kind) | Content::Posted(kind) => self.read(kind.zero(), document)?,
            Content::Options => match self.attributes.connection {
                Some(options) => (options.change(|options| replace(options, &document))?, Changed::Options),
                None => return Ok(false),
            },
            Content::Scale => {
                let mut scale = Scale::default();
                json::from_value(&document, &mut scale, json::Strictness::Lenient).map_err(ApiError::internal)?;
                (json::to_value(&scale), Changed::Replicas(scale.spec.replicas))
            }
        };
        Ok(self.change(target, document, changed))
    }

    /// Like [`replace`](Self::replace) with a document in `version`, another version of the kind than that of `target`. As in
    /// kube-apiserver, those that see the object in the version of `target` see this document until another version is needed.
    ///
    /// # Errors
    ///
    /// 500 if the document is no such object.
    pub(crate) fn replace_with_other(
        &mut self,
        target: &Target,
        version: &ResourceFacts,
        document: Value,
    ) -> ApiResult<bool> {
        let (document, changed) = self.read(version.zero(), document)?;
        Ok(self.change(target, document, changed))
    }

    /// True if `document` is another one than before.
    fn change(&mut self, target: &Target, document: Value, changed: Changed) -> bool {
        let before = self.new.as_ref().map(|new| &new.document);
        if before == Some(&document) {
            return false;
        }
        self.new = Some(InVersion {
            target: target.clone(),
            document,
            changed: Some(changed),
        });
        true
    }

    fn read(&self, mut object: Box<dyn Object>, document: Value) -> ApiResult<(Value, Changed)> {
        read_document(document, &mut *object).map_err(ApiError::internal)?;
        defaulting::set_defaults(&mut *object, self.environment);
        let document = match object.as_custom() {
            Some(object) => object.to_document(),
            None => json::to_value(&*object),
        };
        Ok((document, Changed::Object(object)))
    }

    /// Returns the changed object to the request.
    ///
    /// # Errors
    ///
    /// 500 if it cannot be converted.
    pub async fn finish(&mut self) -> ApiResult<()> {
        let Some(InVersion {
            changed: Some(changed), ..
        }) = self.new.take()
        else {
            return Ok(());
        };
        let Some(new) = self.objects.new.as_deref_mut() else {
            return Ok(());
        };
        match changed {
            Changed::Object(object) => {
                self.attributes.keep_managers(new);
                let object = match object.resource() == new.resource() {
                    true => object,
                    false => convert(&*object, new.resource()).await?,
                };
                assign(new, &*object);
                Ok(())
            }
            Changed::Replicas(replicas) => match scale_facts(new.resource()).cloned() {
                Some(facts) => set_replicas(new, &facts, replicas),
                None => Ok(()),
            },
            Changed::Options => Ok(()),
        }
    }
}

/// Replaces `options` with those in `document`, and returns their own document: fields that the kind does not have are dropped.
fn replace(options: &mut dyn Struct, document: &Value) -> ApiResult<Value> {
    for field in options.facts().fields {
        copy::reset_field(field.name, options);
    }
    json::from_value(document, options, json::Strictness::Lenient).map_err(ApiError::internal)?;
    Ok(json::to_value(options))
}

/// Sets `target` to `object`, which is of the same version.
fn assign(target: &mut dyn Object, object: &dyn Object) {
    if let (Some(target), Some(object)) = (target.as_custom_mut(), object.as_custom()) {
        target.clone_from(object);
        return;
    }
    copy::copy_except(&[], object, target);
}

/// Returns the document of a Scale that was `sent` for the object `new`, with the managers and the number of this object: mutating
/// webhooks see what else the client sent, as in kube-apiserver.
///
/// # Errors
///
/// 500 if the object has another type where the Scale has a number or a text.
fn sent_scale(sent: &Scale, new: &dyn Object) -> ApiResult<Value> {
    let mut scale = sent.clone();
    if let Some(facts) = scale_facts(new.resource()) {
        scale.spec = scale_of(new, facts)?.spec;
        scale.metadata.managed_fields = managers(new, facts);
    }
    Ok(json::to_value(&scale))
}

/// Returns the document of the Scale of an object, with its managers; `null` for an object without one.
///
/// # Errors
///
/// 500 if the object has another type where the Scale has a number or a text.
fn managed_scale(object: &dyn Object) -> ApiResult<Value> {
    let Some(facts) = scale_facts(object.resource()) else {
        return Ok(Value::Null);
    };
    let mut scale = scale_of(object, facts)?;
    scale.metadata.managed_fields = managers(object, facts);
    Ok(json::to_value(&scale))
}

/// Returns the managers of the Scale of an object.
fn managers(object: &dyn Object, facts: &ScaleFacts) -> Vec<ManagedFieldsEntry> {
    let stored = &object.meta().managed_fields;
    let managers = ScaleManagers::read(stored, object.resource(), &facts.spec_replicas);
    managers.map(|managers| managers.of_scale()).unwrap_or_default()
}
