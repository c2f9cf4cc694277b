use serde_json::{Value, json};

use super::*;
use crate::admission::testing::object;
use planesmith_api_defs::core::v1::Pod;

/// Returns the violations of a level in a version by a pod, as text.
fn violation_details(level: &str, version: &str, pod: Value) -> String {
    let pod: Pod = object(pod);
    let wanted = LevelVersion {
        level: Level::parse(level).unwrap(),
        version: Version::parse(version).unwrap(),
    };
    let checked = Checked {
        metadata: &pod.metadata,
        spec: &pod.spec,
    };
    details(&violations(checked, wanted))
}

fn baseline(spec: Value) -> String {
    violation_details("baseline", "latest", json!({"spec": spec}))
}

fn container(context: Value) -> Value {
    json!({"containers": [{"name": "c", "securityContext": context}]})
}

/// A pod that meets every level.
fn hardened() -> Value {
    let container = json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
    let pod = json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
    json!({"securityContext": pod, "containers": [{"name": "c", "securityContext": container}]})
}

#[test]
fn a_hardened_pod_meets_every_level() {
    assert_eq!(
        violation_details("restricted", "latest", json!({"spec": hardened()})),
        ""
    );
    assert_eq!(
        violation_details("privileged", "latest", json!({"spec": {"hostNetwork": true}})),
        ""
    );
}

#[test]
fn everything_that_is_missing_is_told_in_order() {
    assert_eq!(
        violation_details(
            "restricted",
            "latest",
            json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}})
        ),
        "allowPrivilegeEscalation != false (containers \"a\", \"b\" must set \
         securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (containers \"a\", \"b\" must set \
         securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or containers \"a\", \"b\" must set \
         securityContext.runAsNonRoot=true), seccompProfile (pod or containers \"a\", \"b\" must set \
         securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
    );
}

#[test]
fn capabilities_beyond_the_usual_ones() {
    assert_eq!(
        baseline(container(
            json!({"capabilities": {"add": ["SYS_TIME", "CHOWN", "NET_ADMIN"]}})
        )),
        "non-default capabilities (container \"c\" must not include \"NET_ADMIN\", \"SYS_TIME\" in \
         securityContext.capabilities.add)"
    );
    let mut pod = json!({"spec": hardened()});
    pod["spec"]["containers"][0]["securityContext"]["capabilities"]["add"] = json!(["CHOWN", "NET_BIND_SERVICE"]);
    assert_eq!(
        violation_details("restricted", "latest", pod.clone()),
        "unrestricted capabilities (container \"c\" must not include \"CHOWN\" in securityContext.capabilities.add)"
    );
    // Before there was a restricted check of capabilities, the usual ones could be added.
    assert_eq!(violation_details("restricted", "v1.21", pod), "");
}

#[test]
fn ports_paths_and_namespaces_of_the_host() {
    let ports = json!([{"containerPort": 1, "hostPort": 80}, {"containerPort": 2, "hostPort": 443}]);
    assert_eq!(
        baseline(json!({"containers": [{"name": "c", "ports": ports}]})),
        "hostPort (container \"c\" uses hostPorts 443, 80)"
    );
    let volumes = json!([{"name": "h", "hostPath": {"path": "/"}}, {"name": "n", "nfs": {"server": "s", "path": "/"}}]);
    assert_eq!(
        baseline(json!({"volumes": volumes.clone()})),
        "hostPath volumes (volume \"h\")"
    );
    let mut spec = hardened();
    spec["volumes"] = volumes;
    assert_eq!(
        violation_details("restricted", "latest", json!({"spec": spec})),
        "restricted volume types (volumes \"h\", \"n\" use restricted volume types \"hostPath\", \"nfs\")"
    );
}

#[test]
fn hosts_of_probes_count_since_1_34() {
    let probe = json!({"httpGet": {"port": 1, "host": "example.com"}});
    let hook = json!({"preStop": {"tcpSocket": {"port": 1, "host": "10.0.0.1"}}});
    let spec = json!({"containers": [{"name": "c", "livenessProbe": probe, "lifecycle": hook}]});
    assert_eq!(
        baseline(spec.clone()),
        "probe or lifecycle host (container \"c\" uses probe or lifecycle hosts \"10.0.0.1\", \"example.com\")"
    );
    assert_eq!(violation_details("baseline", "v1.33", json!({"spec": spec})), "");
}

#[test]
fn privileged_containers_and_windows_host_processes() {
    assert_eq!(
        baseline(container(json!({"privileged": true}))),
        "privileged (container \"c\" must not set securityContext.privileged=true)"
    );
    let windows = json!({"windowsOptions": {"hostProcess": true}});
    let mut spec = container(windows.clone());
    spec["securityContext"] = windows;
    assert_eq!(
        baseline(spec),
        "hostProcess (pod and container \"c\" must not set securityContext.windowsOptions.hostProcess=true)"
    );
}

#[test]
fn proc_is_masked_unless_root_is_nobody_outside() {
    let mut spec = container(json!({"procMount": "Unmasked"}));
    let violation = "procMount (container \"c\" must not set securityContext.procMount to \"Unmasked\")";
    assert_eq!(baseline(spec.clone()), violation);
    spec["hostUsers"] = json!(false);
    assert_eq!(baseline(spec.clone()), "");
    assert_eq!(
        violation_details("baseline", "v1.34", json!({"spec": spec.clone()})),
        violation
    );
    assert!(violation_details("restricted", "latest", json!({"spec": spec})).contains(violation));
}

#[test]
fn containers_must_run_as_a_user_other_than_root() {
    let mut spec = hardened();
    spec["securityContext"]["runAsNonRoot"] = json!(false);
    spec["containers"][0]["securityContext"]["runAsUser"] = json!(0);
    assert_eq!(
        violation_details("restricted", "latest", json!({"spec": spec.clone()})),
        "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (container \"c\" must not \
         set runAsUser=0)"
    );
    spec["hostUsers"] = json!(false);
    assert_eq!(violation_details("restricted", "latest", json!({"spec": spec})), "");
}

#[test]
fn labels_of_se_linux() {
    let options = json!({"seLinuxOptions": {"type": "x", "user": "u", "role": "r"}});
    assert_eq!(
        baseline(container(options)),
        "seLinuxOptions (container \"c\" set forbidden securityContext.seLinuxOptions: type \"x\"; user may not be set; \
         role may not be set)"
    );
    let engine = json!({"spec": container(json!({"seLinuxOptions": {"type": "container_engine_t"}}))});
    assert_eq!(violation_details("baseline", "v1.31", engine.clone()), "");
    assert!(violation_details("baseline", "v1.30", engine).contains("type \"container_engine_t\""));
}

#[test]
fn profiles_of_seccomp_in_fields_and_annotations() {
    let mut spec = container(json!({"seccompProfile": {"type": "Unconfined"}}));
    let violation =
        "seccompProfile (container \"c\" must not set securityContext.seccompProfile.type to \"Unconfined\")";
    assert_eq!(baseline(spec.clone()), violation);
    assert_eq!(
        violation_details("baseline", "v1.18", json!({"spec": spec.clone()})),
        ""
    );
    spec["os"] = json!({"name": "windows"});
    assert_eq!(
        violation_details("restricted", "latest", json!({"spec": spec.clone()})),
        violation
            .replace(
                "seccompProfile (",
                "runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true), \
         seccompProfile ("
            )
            .replace(
                ", seccompProfile (container \"c\" must not set securityContext.seccompProfile.type to \"Unconfined\")",
                ""
            )
    );
    let annotations = json!({"container.seccomp.security.alpha.kubernetes.io/c": "unconfined"});
    assert_eq!(
        violation_details(
            "baseline",
            "v1.18",
            json!({"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "c"}]}})
        ),
        "seccompProfile (forbidden annotation container.seccomp.security.alpha.kubernetes.io/c=\"unconfined\")"
    );
}

#[test]
fn profiles_of_app_armor_in_fields_and_annotations() {
    let annotations = json!({"container.apparmor.security.beta.kubernetes.io/c": "unconfined"});
    let spec = container(json!({"appArmorProfile": {"type": "Unconfined"}}));
    assert_eq!(
        violation_details(
            "baseline",
            "latest",
            json!({"metadata": {"annotations": annotations}, "spec": spec})
        ),
        "forbidden AppArmor profiles (container \"c\" and annotation must not set AppArmor profile type to \"Unconfined\", \
         \"container.apparmor.security.beta.kubernetes.io/c=\"unconfined\"\")"
    );
}

#[test]
fn more_sysctls_are_safe_in_later_versions() {
    let names = ["kernel.msgmax", "net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies"];
    let sysctls: Vec<Value> = names.iter().map(|name| json!({"name": name, "value": "1"})).collect();
    let pod = || json!({"spec": {"securityContext": {"sysctls": sysctls.clone()}}});
    assert_eq!(
        violation_details("baseline", "latest", pod()),
        "forbidden sysctls (kernel.msgmax)"
    );
    assert_eq!(
        violation_details("baseline", "v1.31", pod()),
        "forbidden sysctls (kernel.msgmax, net.ipv4.tcp_rmem)"
    );
}
