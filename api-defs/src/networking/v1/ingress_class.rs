//! Ingress classes.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::table::Cell;
use planesmith_machinery::validation::check_domain_path;
use planesmith_machinery::{Resource, Struct, names};

use super::reference::check_group_kind_name;

/// Maximum length of a controller's name in characters.
const MAX_CONTROLLER: usize = 250;

const SCOPES: [&str; 2] = ["Cluster", "Namespace"];

/// A class of ingresses that share a controller. The annotation ingressclass.kubernetes.io/is-default-class makes it
/// the default class.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "networking.k8s.io", version = "v1", cluster, generation, strategy)]
#[resource(
    column(name = "Name", type = "string", format = "name", doc = "Name of the class; the default class is marked.", with = name_cell),
    column(name = "Controller", type = "string", doc = "The controller.", path = "spec.controller"),
    column(name = "Parameters", type = "string", doc = "The object with its settings.", with = parameters_cell),
    column(age)
)]
pub struct IngressClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The controller that implements ingresses of the class, and its parameters.
    #[field(proto = 2)]
    pub spec: IngressClassSpec,
}

/// The controller that implements a class of ingresses, and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressClassSpec {
    /// Name of the controller, a path with a domain prefix such as example.com/ingress. Immutable.
    #[field(proto = 1)]
    pub controller: String,
    /// Reference to an object with parameters for the controller.
    #[field(proto = 2)]
    pub parameters: Option<IngressClassParametersReference>,
}

/// Reference to an object with parameters.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressClassParametersReference {
    /// API group of the object. The core group when absent.
    #[field(proto = 1, name = "apiGroup")]
    pub api_group: Option<String>,
    /// Kind of the object.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// Name of the object.
    #[field(proto = 3, keep)]
    pub name: String,
    /// Scope of the parameters object: Namespace or Cluster (the default).
    #[field(proto = 4, keep, optional)]
    pub scope: Option<String>,
    /// Namespace of the object. Only for the scope Namespace.
    #[field(proto = 5)]
    pub namespace: Option<String>,
}

/// Annotation that marks the default class.
const DEFAULT_MARK: &str = "ingressclass.kubernetes.io/is-default-class";

fn name_cell(class: &IngressClass) -> Cell {
    let mark = class.metadata.annotations.get(DEFAULT_MARK);
    let ending = if mark.is_some_and(|value| value == "true") {
        " (default)"
    } else {
        ""
    };
    Cell::Text(format!("{}{ending}", class.metadata.name))
}

fn parameters_cell(class: &IngressClass) -> Cell {
    Cell::Text(match &class.spec.parameters {
        None => "<none>".to_owned(),
        Some(reference) => match &reference.api_group {
            Some(group) => format!("{}.{group}/{}", reference.kind, reference.name),
            None => format!("{}/{}", reference.kind, reference.name),
        },
    })
}

impl IngressClassSpec {
    /// Sets the default scope of the parameters.
    pub(crate) fn set_defaults(&mut self) {
        if let Some(parameters) = &mut self.parameters {
            parameters.scope.get_or_insert_with(|| "Cluster".to_owned());
        }
    }
}

impl Strategy for IngressClass {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        check_controller(&self.spec.controller, errors);
        if let Some(parameters) = &self.spec.parameters {
            parameters.check(&mut errors.at("parameters"));
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec.controller != old.spec.controller {
            errors.invalid("spec.controller", &self.spec.controller, "field is immutable");
        }
    }
}

fn check_controller(controller: &str, errors: &mut FieldErrors) {
    if controller.is_empty() {
        return errors.required("controller", "");
    }
    if controller.len() > MAX_CONTROLLER {
        errors.too_long("controller", MAX_CONTROLLER as u64);
    }
    check_domain_path("controller", controller, errors);
}

impl IngressClassParametersReference {
    fn check(&self, errors: &mut FieldErrors) {
        check_group_kind_name(self.api_group.as_deref(), &self.kind, &self.name, errors);
        match (self.scope.as_deref(), &self.namespace) {
            (None, _) => errors.required("scope", ""),
            (Some("Namespace"), None) => errors.required("namespace", "`parameters.scope` is set to 'Namespace'"),
            (Some("Namespace"), Some(namespace)) => {
                for complaint in names::dns_label(namespace) {
                    errors.invalid("namespace", namespace, complaint);
                }
            }
            (Some("Cluster"), Some(_)) => errors.forbidden("namespace", "`parameters.scope` is set to 'Cluster'"),
            (Some("Cluster"), None) => {}
            (Some(other), _) => errors.not_supported("scope", other, &SCOPES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_class_says_so() {
        let mut class = IngressClass::default();
        class.metadata.name = "a".to_owned();
        assert_eq!(name_cell(&class), Cell::Text("a".to_owned()));
        class
            .metadata
            .annotations
            .insert(DEFAULT_MARK.to_owned(), "true".to_owned());
        assert_eq!(name_cell(&class), Cell::Text("a (default)".to_owned()));
    }
}
