use planesmith_machinery::strategy::Context;
use planesmith_machinery::validation::{check_create, check_update};

use super::{CrossVersionObjectReference, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec};

const PROBLEM: &str = "apiVersion must specify API group";

fn autoscaler(api_version: &str, kind: &str, max_replicas: i32) -> HorizontalPodAutoscaler {
    let mut autoscaler = HorizontalPodAutoscaler {
        spec: HorizontalPodAutoscalerSpec {
            max_replicas,
            scale_target_ref: CrossVersionObjectReference {
                kind: kind.to_owned(),
                name: "web".to_owned(),
                api_version: api_version.to_owned(),
            },
            ..Default::default()
        },
        ..Default::default()
    };
    autoscaler.metadata.name = "web".to_owned();
    autoscaler.metadata.namespace = "default".to_owned();
    autoscaler.metadata.resource_version = "1".to_owned();
    autoscaler
}

#[test]
fn a_target_of_the_core_group_is_a_replication_controller() {
    for (api_version, kind, accepted) in [
        ("v1", "ReplicationController", true),
        ("", "ReplicationController", true),
        ("apps/v1/x", "ReplicationController", false),
        ("apps/v1", "Deployment", true),
        ("v1", "Deployment", false),
        ("", "Deployment", false),
    ] {
        let errors = check_create(&autoscaler(api_version, kind, 3), &Context::default());
        assert_eq!(errors.is_empty(), accepted, "{api_version} {kind}: {errors:?}");
    }
}

#[test]
fn a_target_that_an_update_leaves_alone_may_be_of_any_version() {
    for (api_version, kind) in [("v1", "Deployment"), ("", "Deployment"), ("a/b/c", "Deployment")] {
        let old = autoscaler(api_version, kind, 3);
        let errors = check_update(&autoscaler(api_version, kind, 4), &old, &Context::default());
        assert!(errors.is_empty(), "{api_version} {kind}: {errors:?}");
    }
    let old = autoscaler("", "Deployment", 3);
    for changed in [autoscaler("v1", "Deployment", 3), autoscaler("", "StatefulSet", 3)] {
        let errors = format!("{:?}", check_update(&changed, &old, &Context::default()));
        assert!(errors.contains(PROBLEM), "{errors}");
    }
}
