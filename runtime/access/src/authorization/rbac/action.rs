//! The action that a policy decides about.

use std::borrow::Cow;

use super::verb_set::VerbSet;
use crate::authorization::{Attributes, Target};

/// An action, as rules see it.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// The verb.
    pub(super) verb: &'a str,
    /// The set of this verb.
    pub(super) verb_set: VerbSet,
    pub(super) object: ActionObject<'a>,
    /// The namespace; empty for an action in the whole cluster.
    pub(super) namespace: &'a str,
}

/// The object of an action.
#[derive(Clone, Debug)]
pub(super) enum ActionObject<'a> {
    Resource {
        group: &'a str,
        /// The resource with its subresource: `pods/log`.
        resource: Cow<'a, str>,
        /// The subresource of any resource: `*/log`.
        any_parent: Option<String>,
        /// The object name; empty for a collection.
        name: &'a str,
    },
    Path(&'a str),
}

impl<'a> Action<'a> {
    /// The action of `verb` on `target`.
    #[must_use]
    pub fn new(verb: &'a str, target: &Target<'a>) -> Self {
        let verb_set = VerbSet::one(verb);
        match *target {
            Target::Path(path) => Self {
                verb,
                verb_set,
                object: ActionObject::Path(path),
                namespace: "",
            },
            Target::Resource {
                group,
                resource,
                subresource,
                namespace,
                name,
                ..
            } => {
                let (resource, any_parent) = match subresource {
                    "" => (Cow::Borrowed(resource), None),
                    part => (Cow::Owned(format!("{resource}/{part}")), Some(format!("*/{part}"))),
                };
                Self {
                    verb,
                    verb_set,
                    object: ActionObject::Resource {
                        group,
                        resource,
                        any_parent,
                        name,
                    },
                    namespace,
                }
            }
        }
    }

    /// The namespace of the action; empty for the whole cluster.
    #[must_use]
    pub fn namespace(&self) -> &'a str {
        self.namespace
    }

    /// The action of a request.
    #[must_use]
    pub fn from_attributes(attributes: &Attributes<'a>) -> Self {
        Self::new(attributes.verb, &attributes.target)
    }
}
