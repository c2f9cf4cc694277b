//! The Scale of an object: its number of replicas as an object of its own, which is of a declared kind whatever is scaled.

use planesmith_dynamic::custom::AsCustom;
use planesmith_dynamic::unstructured::{nested_integer, nested_text, set_nested};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::{GroupKind, GroupResource};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{NameRule, ScaleFacts, Scope};
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::strategy::MetadataRules;
use planesmith_machinery::validation::check_metadata;
use planesmith_machinery::value::{self, Slot, Value};
use serde_json::Value as Tree;

use super::scale_columns::{self, ScaleColumns};
use super::{Custom, Declared};

/// Represents an absent number of replicas in a Scale, while it is changed.
pub(crate) const NOT_SET: i32 = i32::MIN;

/// kube-apiserver's message for any invalid Scale of a custom object.
const UNREADABLE_SCALE: &str = "no kind is registered for the type v1.Scale in scheme \
                                \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\"";

/// The Scale of an object.
pub(crate) trait Scales {
    /// Checks the types of the fields that a Scale takes from an object.
    ///
    /// # Errors
    ///
    /// 500 when another type is where the Scale has a number or a text.
    fn check_scale(&self, object: &dyn Object, scale: &ScaleFacts) -> ApiResult<()>;

    /// The number of replicas of an object; `None` if it is absent and that does not mean 0.
    fn replicas(&self, object: &dyn Object, scale: &ScaleFacts) -> Option<i32>;

    /// Checks a new Scale of the object `live`; the number of replicas may be [`NOT_SET`].
    ///
    /// # Errors
    ///
    /// 400 when it has no number of replicas, 409 when it is that of another object, 422 when it is not valid.
    fn check_new_scale(&self, new: &Scale, live: &dyn Object, scale: &ScaleFacts) -> ApiResult<()>;

    /// Sets the number of replicas of an object.
    ///
    /// # Errors
    ///
    /// As for [`Self::check_scale`].
    fn set_replicas(&self, object: &mut dyn Object, scale: &ScaleFacts, replicas: i32) -> ApiResult<()>;

    /// The columns of Scales in tables.
    fn scale_columns(&self) -> &'static ScaleColumns;

    /// The message for any Scale that cannot be read; `None` if it says what is wrong.
    fn unreadable_scale(&self) -> Option<&'static str>;

    /// The reason why an apply cannot change the Scale of any object; `None` if it can.
    fn unappliable_scale(&self) -> Option<&'static str>;
}

impl Scales for Declared {
    fn check_scale(&self, _: &dyn Object, _: &ScaleFacts) -> ApiResult<()> {
        Ok(())
    }

    fn replicas(&self, object: &dyn Object, scale: &ScaleFacts) -> Option<i32> {
        Some(replicas_at(object, &scale.spec_replicas))
    }

    /// Checks a Scale as an object of its own, and that it is that of `live`.
    fn check_new_scale(&self, new: &Scale, live: &dyn Object, _: &ScaleFacts) -> ApiResult<()> {
        let name = &live.meta().name;
        let mut errors = FieldErrors::default();
        let (name_rule, rules) = (NameRule::DnsSubdomain, MetadataRules::Strict);
        let metadata = ObjectMeta {
            managed_fields: Vec::new(),
            ..new.metadata.clone()
        };
        check_metadata(&metadata, Scope::Namespaced, name_rule, rules, &mut errors);
        if new.spec.replicas < 0 {
            errors.invalid("spec.replicas", new.spec.replicas, "must be greater than or equal to 0");
        }
        if !errors.is_empty() {
            let kind = GroupKind::new("autoscaling", "Scale");
            return Err(ApiError::invalid(&kind, name, &errors));
        }
        let (sent, actual) = (&new.metadata.uid, &live.meta().uid);
        if !sent.is_empty() && sent != actual {
            let resource = live.resource();
            let resource = GroupResource::new(resource.group.clone(), format!("{}/scale", resource.plural));
            let why = format!("Precondition failed: UID in precondition: {sent}, UID in object meta: {actual}");
            return Err(ApiError::conflict(&resource, name, why));
        }
        Ok(())
    }

    fn set_replicas(&self, object: &mut dyn Object, scale: &ScaleFacts, replicas: i32) -> ApiResult<()> {
        value::change_at(object, &scale.spec_replicas, &mut |value| set_number(value, replicas));
        Ok(())
    }

    fn scale_columns(&self) -> &'static ScaleColumns {
        &scale_columns::SCALE_COLUMNS
    }

    fn unreadable_scale(&self) -> Option<&'static str> {
        None
    }

    fn unappliable_scale(&self) -> Option<&'static str> {
        None
    }
}

impl Scales for Custom {
    fn check_scale(&self, object: &dyn Object, scale: &ScaleFacts) -> ApiResult<()> {
        match object.as_custom() {
            Some(object) => check_types(&object.to_document(), scale).map_err(|why| ApiError::unnamed(500, why)),
            None => Ok(()),
        }
    }

    fn replicas(&self, object: &dyn Object, scale: &ScaleFacts) -> Option<i32> {
        find_replicas(object, &scale.spec_replicas)
    }

    fn check_new_scale(&self, new: &Scale, _: &dyn Object, scale: &ScaleFacts) -> ApiResult<()> {
        if new.spec.replicas == NOT_SET {
            let why = format!("the spec replicas field \".{}\" cannot be empty", scale.spec_replicas);
            return Err(ApiError::bad_request(why));
        }
        Ok(())
    }

    fn set_replicas(&self, object: &mut dyn Object, scale: &ScaleFacts, replicas: i32) -> ApiResult<()> {
        self.check_scale(object, scale)?;
        let mut set = Ok(());
        if let Some(object) = object.as_custom_mut() {
            object.change(|document| set = set_nested(document, &scale.spec_replicas, replicas.into()));
        }
        set.map_err(|why| ApiError::unnamed(500, why))
    }

    fn scale_columns(&self) -> &'static ScaleColumns {
        &scale_columns::CUSTOM_SCALE_COLUMNS
    }

    fn unreadable_scale(&self) -> Option<&'static str> {
        Some(UNREADABLE_SCALE)
    }

    fn unappliable_scale(&self) -> Option<&'static str> {
        // A Scale is not a version of a custom kind.
        Some("request to convert CR to an invalid group/version: autoscaling/v1")
    }
}

/// The number at a dotted path; 0 when there is none.
pub(crate) fn replicas_at(object: &dyn Object, path: &str) -> i32 {
    find_replicas(object, path).unwrap_or_default()
}

/// The number at a dotted path, or the largest one if it is larger; `None` when there is none.
fn find_replicas(object: &dyn Object, path: &str) -> Option<i32> {
    let number = value::number_at(object, path)?;
    Some(i32::try_from(number).unwrap_or(i32::MAX))
}

fn set_number(value: &mut dyn Value, number: i32) {
    match value.slot() {
        Slot::Int32(value) => *value = number,
        Slot::Int64(value) => *value = i64::from(number),
        Slot::Optional(value) => set_number(value.insert(), number),
        _ => {}
    }
}

/// Checks the types of the fields that a Scale takes from a document: it may be stored from before its definition was
/// changed.
fn check_types(document: &Tree, scale: &ScaleFacts) -> Result<(), String> {
    for path in [&scale.spec_replicas, &scale.status_replicas] {
        nested_integer(document, path)?;
    }
    if !scale.selector.is_empty() {
        nested_text(document, &scale.selector)?;
    }
    Ok(())
}
