use serde_json::{Value, json};

use super::*;
use crate::admission::testing::{Few, Request, object};

fn plugin(limits: Value) -> LimitRanger {
    let range = json!({"metadata": {"name": "lr", "namespace": "ns"}, "spec": {"limits": limits}});
    LimitRanger {
        objects: Few::default().with::<LimitRange>(range).lister(),
    }
}

fn pod(containers: Value) -> Pod {
    object(json!({"metadata": {"name": "p"}, "spec": {"containers": containers}}))
}

fn requesting(requests: Value, limits: Value) -> Value {
    json!([{"name": "c", "resources": {"requests": requests, "limits": limits}}])
}

fn created(limits: Value, containers: Value) -> Result<Pod, String> {
    Request::create::<Pod>().created(&plugin(limits), pod(containers))
}

#[test]
fn defaults_are_filled_in_and_noted() {
    let limits =
        json!([{"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m", "memory": "1Mi"}}]);
    let made = created(limits, requesting(json!({"cpu": "200m"}), json!({}))).unwrap();
    let resources = &made.spec.containers[0].resources;
    assert_eq!(resources.requests["cpu"].as_str(), "200m");
    assert_eq!(resources.requests["memory"].as_str(), "1Mi");
    assert_eq!(resources.limits["cpu"].as_str(), "1");
    assert_eq!(
        made.metadata.annotations[ANNOTATION],
        "LimitRanger plugin set: memory request for container c; cpu limit for container c"
    );
}

#[test]
fn bounds_of_containers() {
    let limits = || {
        json!([{
            "type": "Container",
            "max": {"cpu": "2"},
            "min": {"cpu": "50m"},
            "maxLimitRequestRatio": {"cpu": "8"},
        }])
    };
    let refused = |requests, limits_asked| created(limits(), requesting(requests, limits_asked)).unwrap_err();
    assert_eq!(
        refused(json!({"cpu": "1"}), json!({"cpu": "2500m"})),
        "pods \"p\" is forbidden: maximum cpu usage per Container is 2, but limit is 2500m"
    );
    assert_eq!(
        refused(json!({"cpu": "10m"}), json!({"cpu": "500m"})),
        "pods \"p\" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, cpu max limit to request \
         ratio per Container is 8, but provided ratio is 50.000000]"
    );
    assert_eq!(
        refused(json!({}), json!({})),
        "pods \"p\" is forbidden: [minimum cpu usage per Container is 50m.  No request is specified, maximum cpu usage per \
         Container is 2.  No limit is specified, cpu max limit to request ratio per Container is 8, but no request is \
         specified or request is 0]"
    );
    assert!(created(limits(), requesting(json!({"cpu": "1"}), json!({"cpu": "2"}))).is_ok());
}

#[test]
fn bounds_of_whole_pods() {
    let limits = json!([{"type": "Pod", "max": {"memory": "1Gi"}}]);
    let container = |name: &str, memory: &str| json!({"name": name, "resources": {"limits": {"memory": memory}}});
    assert_eq!(
        created(limits, json!([container("a", "100Mi"), container("b", "950Mi")])).unwrap_err(),
        "pods \"p\" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 1050Mi"
    );
}

#[test]
fn updates_count_when_a_pod_is_resized() {
    let plugin = plugin(json!([{"type": "Container", "max": {"cpu": "1"}}]));
    let old = pod(requesting(json!({}), json!({"cpu": "1"})));
    let new = || pod(requesting(json!({}), json!({"cpu": "2"})));
    assert!(Request::update::<Pod>().updated(&plugin, &old, new()).is_ok());
    assert!(
        Request::update::<Pod>()
            .below("resize")
            .updated(&plugin, &old, new())
            .is_err()
    );
}

#[test]
fn bounds_of_claims() {
    let limits = json!([{"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "5Gi"}}]);
    let plugin = plugin(limits);
    let create = |storage: &str| {
        let spec = json!({"resources": {"requests": {"storage": storage}}});
        let claim: PersistentVolumeClaim = object(json!({"metadata": {"name": "c"}, "spec": spec}));
        Request::create::<PersistentVolumeClaim>()
            .created(&plugin, claim)
            .map(drop)
    };
    assert_eq!(create("2Gi"), Ok(()));
    assert_eq!(
        create("1Mi").unwrap_err(),
        "persistentvolumeclaims \"c\" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is \
         1Mi"
    );
    assert_eq!(
        create("6Gi").unwrap_err(),
        "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is \
         6Gi"
    );
}
