use serde_json::{Value, json};

use super::*;
use crate::admission::testing::{Few, Request, object};

fn plugin() -> ServiceAccounts {
    let default = json!({"metadata": {"name": "default", "namespace": "ns"}, "imagePullSecrets": [{"name": "reg"}]});
    let quiet = json!({"metadata": {"name": "quiet", "namespace": "ns"}, "automountServiceAccountToken": false});
    let annotations = json!({"kubernetes.io/enforce-mountable-secrets": "true"});
    let metadata = json!({"name": "strict", "namespace": "ns", "annotations": annotations});
    let strict = json!({"metadata": metadata, "secrets": [{"name": "ok"}]});
    let few = Few::default()
        .with::<ServiceAccount>(default)
        .with::<ServiceAccount>(quiet)
        .with::<ServiceAccount>(strict);
    ServiceAccounts { objects: few.lister() }
}

fn pod(spec: &Value) -> Pod {
    object(json!({"metadata": {"name": "p"}, "spec": spec}))
}

fn created(spec: &Value) -> Result<Pod, String> {
    Request::create::<Pod>().created(&plugin(), pod(spec))
}

#[test]
fn a_pod_gets_the_default_account_with_token_and_credentials() {
    let made = created(&json!({"containers": [{"name": "c"}], "initContainers": [{"name": "i"}]})).unwrap();
    assert_eq!(made.spec.service_account_name, "default");
    assert_eq!(made.spec.service_account, "default");
    assert_eq!(made.spec.image_pull_secrets[0].name, "reg");
    let volume = &made.spec.volumes[0];
    assert!(volume.name.starts_with(VOLUME) && volume.name.len() == VOLUME.len() + 5);
    let sources = &volume.volume_source.projected.as_ref().unwrap().sources;
    assert_eq!(
        sources[0].service_account_token.as_ref().unwrap().expiration_seconds,
        Some(3607)
    );
    for container in made.spec.containers.iter().chain(&made.spec.init_containers) {
        assert_eq!(container.volume_mounts[0].name, volume.name);
        assert_eq!(container.volume_mounts[0].mount_path, MOUNT_PATH);
    }
}

#[test]
fn pods_and_accounts_may_do_without_a_token() {
    let quiet = |spec: &Value| created(spec).unwrap().spec.volumes.is_empty();
    assert!(quiet(
        &json!({"containers": [{"name": "c"}], "automountServiceAccountToken": false})
    ));
    assert!(quiet(
        &json!({"containers": [{"name": "c"}], "serviceAccountName": "quiet"})
    ));
    let wanted = json!({"serviceAccountName": "quiet", "automountServiceAccountToken": true});
    let mut changed = wanted.clone();
    changed["containers"] = json!([{"name": "c"}]);
    assert!(!quiet(&changed));
    let mounts = json!([{"name": "v", "mountPath": MOUNT_PATH}]);
    let own = created(&json!({"containers": [{"name": "c", "volumeMounts": mounts}], "volumes": [{"name": "v"}]}));
    assert_eq!(own.unwrap().spec.volumes.len(), 1);
}

#[test]
fn missing_accounts_are_refused() {
    assert_eq!(
        created(&json!({"serviceAccountName": "none"})).unwrap_err(),
        "pods \"p\" is forbidden: error looking up service account ns/none: serviceaccount \"none\" not found"
    );
    assert_eq!(
        created(&json!({"serviceAccountName": "a/b"})).unwrap_err(),
        "pods \"p\" is forbidden: error looking up service account ns/a/b: invalid resource name \"a/b\": [may not \
         contain '/']"
    );
}

#[test]
fn strict_accounts_limit_secrets() {
    let mut spec = json!({"serviceAccountName": "strict", "automountServiceAccountToken": false});
    spec["volumes"] = json!([{"name": "s", "secret": {"secretName": "ok"}}]);
    assert!(created(&spec).is_ok());
    spec["volumes"][0]["secret"]["secretName"] = json!("other");
    assert_eq!(
        created(&spec).unwrap_err(),
        "pods \"p\" is forbidden: volume with secret.secretName=\"other\" is not allowed because service account strict \
         does not reference that secret"
    );
    let env = json!([{"name": "E", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}]);
    let spec = json!({"serviceAccountName": "strict", "initContainers": [{"name": "i", "env": env}]});
    let refused = created(&spec).unwrap_err();
    assert!(
        refused.contains("init container i with envVar E referencing"),
        "{refused}"
    );
    let spec = json!({"serviceAccountName": "strict", "imagePullSecrets": [{"name": "x"}]});
    assert!(
        created(&spec)
            .unwrap_err()
            .contains("imagePullSecrets[0].name=\"x\" is not allowed")
    );
}

#[test]
fn ephemeral_containers_are_limited_too() {
    let old = pod(&json!({"serviceAccountName": "strict"}));
    let container = json!({"name": "e", "envFrom": [{"secretRef": {"name": "other"}}]});
    let new = pod(&json!({"serviceAccountName": "strict", "ephemeralContainers": [container]}));
    let request = Request::update::<Pod>().below("ephemeralcontainers");
    let refused = request.updated(&plugin(), &old, new.clone()).unwrap_err();
    assert!(
        refused.contains("ephemeral container e with envFrom referencing"),
        "{refused}"
    );
    assert!(Request::update::<Pod>().updated(&plugin(), &old, new).is_ok());
}

#[test]
fn mirror_pods_have_neither_account_nor_secrets() {
    let mirror = |spec: Value| {
        let metadata = json!({"name": "m", "annotations": {MIRROR: "x"}});
        let pod: Pod = object(json!({"metadata": metadata, "spec": spec}));
        Request::create::<Pod>().created(&plugin(), pod)
    };
    assert!(mirror(json!({})).unwrap().spec.service_account_name.is_empty());
    let refused = mirror(json!({"serviceAccountName": "default"})).unwrap_err();
    assert!(
        refused.ends_with("a mirror pod may not reference service accounts"),
        "{refused}"
    );
    let refused = mirror(json!({"volumes": [{"name": "s", "secret": {"secretName": "s"}}]})).unwrap_err();
    assert!(refused.ends_with("a mirror pod may not reference secrets"), "{refused}");
}
