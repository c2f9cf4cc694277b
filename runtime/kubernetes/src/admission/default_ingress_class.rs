//! Sets the default class on ingresses that name none.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::networking::v1::{Ingress, IngressClass};
use planesmith_machinery::status::ApiResult;

use super::newest_class::newest_default;

/// Marks the default class.
const IS_DEFAULT: &str = "ingressclass.kubernetes.io/is-default-class";
/// The annotation that named the class before there was a field for it.
const CLASS: &str = "kubernetes.io/ingress.class";

/// Gives new ingresses the default class.
pub(super) struct DefaultIngressClass {
    pub(super) objects: Arc<dyn Lister>,
}

impl DefaultIngressClass {
    fn fill(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        if !attributes.is_for("networking.k8s.io", "ingresses") || !attributes.subresource.is_empty() {
            return Ok(());
        }
        let Some(ingress) = objects.new_as_mut::<Ingress>() else {
            return Ok(());
        };
        if ingress.spec.ingress_class_name.is_some() || ingress.metadata.annotations.contains_key(CLASS) {
            return Ok(());
        }
        let is_default = |class: &IngressClass| {
            let mark = class.metadata.annotations.get(IS_DEFAULT);
            mark.is_some_and(|mark| mark == "true")
        };
        ingress.spec.ingress_class_name = newest_default(&*self.objects, is_default)?;
        Ok(())
    }
}

impl Plugin for DefaultIngressClass {
    fn name(&self) -> &'static str {
        "DefaultIngressClass"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.fill(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    fn class(name: &str, made: &str, default: bool) -> Value {
        let annotations = json!({IS_DEFAULT: default.to_string()});
        json!({"metadata": {"name": name, "creationTimestamp": made, "annotations": annotations}})
    }

    #[test]
    fn the_newest_default_counts() {
        let few = Few::default()
            .with::<IngressClass>(class("old", "2020-01-01T00:00:00Z", true))
            .with::<IngressClass>(class("new", "2021-01-01T00:00:00Z", true))
            .with::<IngressClass>(class("newer", "2022-01-01T00:00:00Z", false));
        let plugin = DefaultIngressClass { objects: few.lister() };
        let create = |ingress: Value| {
            let ingress: Ingress = object(ingress);
            Request::create::<Ingress>()
                .created(&plugin, ingress)
                .unwrap()
                .spec
                .ingress_class_name
        };
        assert_eq!(create(json!({})).as_deref(), Some("new"));
        assert_eq!(
            create(json!({"spec": {"ingressClassName": "old"}})).as_deref(),
            Some("old")
        );
        assert_eq!(create(json!({"metadata": {"annotations": {CLASS: "x"}}})), None);
    }
}
