//! Attributes of an action that is decided later.

use super::{Attributes, Selectors, Target};
use crate::user::UserInfo;

/// The attributes of an action that is decided later: a copy without borrows.
#[derive(Clone, Debug)]
pub struct OwnedAttributes {
    user: UserInfo,
    verb: String,
    target: OwnedTarget,
    field_selector: String,
    label_selector: String,
}

#[derive(Clone, Debug)]
enum OwnedTarget {
    Resource([String; 6]),
    Path(String),
}

impl From<&Attributes<'_>> for OwnedAttributes {
    fn from(attributes: &Attributes<'_>) -> Self {
        let target = match attributes.target {
            Target::Path(path) => OwnedTarget::Path(path.to_owned()),
            Target::Resource {
                group,
                version,
                resource,
                subresource,
                namespace,
                name,
            } => OwnedTarget::Resource([group, version, resource, subresource, namespace, name].map(str::to_owned)),
        };
        Self {
            user: attributes.user.clone(),
            verb: attributes.verb.to_owned(),
            target,
            field_selector: attributes.selectors.field.to_owned(),
            label_selector: attributes.selectors.label.to_owned(),
        }
    }
}

impl OwnedAttributes {
    /// Returns the attributes.
    #[must_use]
    pub fn attributes(&self) -> Attributes<'_> {
        let target = match &self.target {
            OwnedTarget::Path(path) => Target::Path(path),
            OwnedTarget::Resource([group, version, resource, subresource, namespace, name]) => Target::Resource {
                group,
                version,
                resource,
                subresource,
                namespace,
                name,
            },
        };
        Attributes {
            user: &self.user,
            verb: &self.verb,
            target,
            selectors: Selectors {
                field: &self.field_selector,
                label: &self.label_selector,
            },
        }
    }
}
