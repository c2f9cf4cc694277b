//! Creation of pods: errors, defaults and warnings.

use planesmith_machinery::feature::Features;
use planesmith_machinery::strategy::{Context, Strategy as _};
use serde_json::{Value, json};

use super::{found, found_with, pod};
use crate::core::v1::PodSchedulingGroup;
use crate::features::PRIVILEGED_CONTAINERS;

fn complaints(spec: Value) -> String {
    let pod = pod(spec);
    found(|errors| pod.validate(errors))
}

#[test]
fn the_scheduling_group_is_named() {
    let mut pod = pod(json!({}));
    pod.spec.scheduling_group = Some(PodSchedulingGroup::default());
    assert_eq!(
        found(|errors| pod.validate(errors)),
        "spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`"
    );
}

#[test]
fn volumes_are_checked_by_source() {
    let cases = [
        (
            json!({"emptyDir": {"sizeLimit": "-1"}}),
            "emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
        ),
        (
            json!({"nfs": {"server": "s", "path": "p"}}),
            "nfs.path: Invalid value: \"p\": must be an absolute path",
        ),
        (
            json!({"gcePersistentDisk": {"pdName": "d", "partition": 300}}),
            "persistentDisk.partition: Invalid value: 300: must be between 1 and 255, inclusive",
        ),
        (
            json!({"flexVolume": {"driver": "d", "options": {"x.k8s.io/a": "1"}}}),
            "flexVolume.options[x.k8s.io/a]: Invalid value: \"x.k8s.io/a\": kubernetes.io and k8s.io namespaces are reserved",
        ),
        (
            json!({"fc": {"targetWWNs": ["w"], "lun": 256}}),
            "fc.lun: Invalid value: 256: must be between 0 and 255, inclusive",
        ),
        (
            json!({"csi": {"driver": "UPPER_"}}),
            "csi.driver: Invalid value: \"UPPER_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ),
        (
            json!({"configMap": {"name": "m", "items": [{"key": "k", "path": "..x"}]}}),
            "configMap.items[0].path: Invalid value: \"..x\": must not start with '..'",
        ),
        (
            json!({"downwardAPI": {"items": [{"path": "a"}]}}),
            "downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
        ),
        (
            json!({"ephemeral": {}}),
            "ephemeral.volumeClaimTemplate: Required value",
        ),
        (
            json!({"quobyte": {"registry": "a", "volume": "v"}}),
            "quobyte.registry: Invalid value: \"a\": must be a host:port pair or multiple pairs separated by commas",
        ),
        (
            json!({"azureDisk": {"diskName": "d", "diskURI": "x", "kind": "Managed"}}),
            "azureDisk.diskURI: Unsupported value: \"x\": supported values: \"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}\"",
        ),
        (
            json!({"projected": {"defaultMode": 512, "sources": []}}),
            "projected.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
        ),
        (
            json!({"projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 1}}]}}),
            "projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
        ),
        (
            json!({"projected": {"sources": [{"secret": {"name": "s", "items": [{"key": "k", "path": "a"}]}}, {"configMap": {"name": "m", "items": [{"key": "k", "path": "a"}]}}]}}),
            "projected: Invalid value: \"m\": conflicting duplicate paths",
        ),
    ];
    for (source, expected) in cases {
        let mut volume = source;
        volume["name"] = json!("v");
        let found = complaints(json!({"volumes": [volume]}));
        assert_eq!(found, format!("spec.volumes[0].{expected}"));
    }
}

#[test]
fn the_claim_of_a_volume_is_named_when_the_volume_is_nothing_else() {
    let names = |source: Value| {
        let mut volume = source;
        volume["name"] = json!("Bad");
        volume["ephemeral"] = json!({"volumeClaimTemplate": {"spec": {}}});
        complaints(json!({"volumes": [volume]})).matches("PVC name").count()
    };
    assert_eq!(names(json!({})), 1);
    assert_eq!(names(json!({"hostPath": {"path": "/x"}})), 0);
}

#[test]
fn mirrors_of_static_pods_claim_no_devices() {
    let mut pod = pod(json!({"nodeName": "n", "resourceClaims": [{"name": "A"}, {"name": "A"}]}));
    let annotation = ("kubernetes.io/config.mirror".to_owned(), "x".to_owned());
    pod.metadata.annotations.extend([annotation]);
    let refused = "[]: Forbidden: static pods do not support resource claims";
    assert_eq!(found(|errors| pod.validate(errors)), [refused, refused].join("\n"));
}

#[test]
fn containers_are_checked_field_by_field() {
    let cases = [
        (
            json!({"volumeDevices": [{"name": "d", "devicePath": "/x/.."}]}),
            "volumeDevices[0].name: Not found: \"d\"\nspec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/x/..\": can not contain backsteps ('..')",
        ),
        (
            json!({
                "volumeDevices": [{"name": "d", "devicePath": "/a"}],
                "volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}],
            }),
            "volumeMounts[0].name: Not found: \"v\"\nspec.containers[0].volumeMounts[0].mountPath: Invalid value: \"/a\": must not already exist as a path in volumeDevices\nspec.containers[0].volumeMounts[1].name: Not found: \"v\"\nspec.containers[0].volumeDevices[0].name: Not found: \"d\"",
        ),
        (
            json!({"resizePolicy": [{"resourceName": "disk", "restartPolicy": "NotRequired"}]}),
            "resizePolicy: Unsupported value: \"disk\": supported values: \"cpu\", \"memory\"",
        ),
        (
            json!({"restartPolicyRules": [{"action": "Restart"}]}),
            "restartPolicy: Required value: must specify restartPolicy when restart rules are used\nspec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified",
        ),
        (
            json!({"lifecycle": {"preStop": {"sleep": {"seconds": 31}}}}),
            "lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
        ),
        (
            json!({"resources": {"claims": [{"name": "x"}]}}),
            "resources.claims[0]: Not found: \"x\": must be one of the names in pod.spec.resourceClaims which is empty",
        ),
        (
            json!({"resources": {"limits": {"cpu": "1", "hugepages-2Mi": "3Mi"}}}),
            "resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi\nspec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi",
        ),
        (
            json!({"securityContext": {"privileged": true}}),
            "securityContext.privileged: Forbidden: disallowed by cluster policy",
        ),
        (
            json!({"securityContext": {"procMount": "Unmasked"}}),
            "securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`",
        ),
        (
            json!({"image": " i "}),
            "image: Invalid value: \" i \": must not have leading or trailing whitespace",
        ),
        (
            json!({"readinessProbe": {"exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 3}}),
            "readinessProbe.terminationGracePeriodSeconds: Invalid value: 3: must not be set for readinessProbes",
        ),
    ];
    for (members, expected) in cases {
        let mut container = json!({"name": "c", "image": "i:1"});
        super::merge(&mut container, members);
        let found = complaints(json!({"containers": [container]}));
        assert_eq!(found, format!("spec.containers[0].{expected}"));
    }
}

#[test]
fn containers_are_checked_with_their_pod() {
    let cases = [
        (
            json!({
                "containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/m", "subPath": "p"}]}],
                "volumes": [{"name": "v", "image": {"reference": "r"}}],
            }),
            "",
        ),
        (
            json!({"containers": [{"name": "c", "image": "i", "env": [
                {"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "e", "path": "/f", "key": "k".repeat(200)}}},
                {"name": "B", "valueFrom": {"fileKeyRef": {"volumeName": "e", "path": "../f", "key": "k"}}},
            ]}], "volumes": [{"name": "e", "emptyDir": {}}]}),
            "spec.containers[0].env[1].valueFrom.fileKeyRef.path: Invalid value: \"../f\": must not contain '..'",
        ),
        (
            json!({"containers": [{"name": "c", "image": "i", "restartPolicy": "Never", "restartPolicyRules": [
                {"action": "Stop", "exitCodes": {"operator": "In", "values": vec![1; 256]}},
                {"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [1]}},
            ]}]}),
            "spec.containers[0].restartPolicyRules[0].action: Unsupported value: \"Stop\": supported values: \"Restart\", \"RestartAllContainers\"\n\
             spec.containers[0].restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items",
        ),
        (
            json!({"initContainers": [{"name": "i", "image": "i", "restartPolicyRules": [{"action": "Stop"}]}]}),
            "spec.initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used",
        ),
    ];
    for (spec, expected) in cases {
        assert_eq!(complaints(spec), expected);
    }
}

#[test]
fn specs_are_checked_as_a_whole() {
    let cases = [
        (
            json!({"nodeName": "n", "schedulingGates": [{"name": "a/b"}]}),
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ),
        (
            json!({"hostUsers": false, "hostPID": true}),
            "spec.HostPID: Forbidden: when `hostUsers` is false",
        ),
        (
            json!({"securityContext": {"seLinuxChangePolicy": "MountOption"}}),
            "spec.securityContext.seLinuxChangePolicy: Unsupported value: \"MountOption\": supported values: \"Recursive\"",
        ),
        (
            json!({"hostUsers": false, "hostNetwork": true}),
            "spec.hostNetwork: Forbidden: when `hostUsers` is false",
        ),
        (
            json!({
                "hostUsers": false,
                "containers": [{"name": "c", "image": "i", "volumeDevices": [{"name": "v", "devicePath": "/d"}]}],
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
            }),
            "spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false",
        ),
        (
            json!({"hostNetwork": true, "setHostnameAsFQDN": true, "hostnameOverride": "A", "serviceAccountName": "B"}),
            "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true\n\
             spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true\n\
             spec.hostnameOverride: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n\
             spec.serviceAccountName: Invalid value: \"B\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ),
        (
            json!({"containers": [{"name": "c", "image": "i", "env": [
                {"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "no", "path": "f", "key": "k"}}},
                {"name": "B", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "f", "key": "k"}}},
                {"name": "C", "valueFrom": {"fileKeyRef": {"volumeName": "e", "path": "f", "key": "k"}}},
            ]}], "volumes": [{"name": "v", "configMap": {"name": "m"}}, {"name": "e", "emptyDir": {}}]}),
            "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: \"no\"\n\
             spec.containers[0].env[1].valueFrom.fileKeyRef.volumeName: Invalid value: \"v\": referenced volume must be of type emptyDir",
        ),
        (
            json!({"os": {"name": "windows"}, "resources": {"limits": {"cpu": "1"}}}),
            "spec.resources: Forbidden: may not be set for a windows pod",
        ),
        (
            json!({
                "containers": [{"name": "c", "image": "i", "resources": {
                    "requests": {"memory": "2Gi"}, "limits": {"hugepages-2Mi": "4Mi", "memory": "3Gi"},
                }}],
                "resources": {"requests": {"cpu": "1", "hugepages-2Mi": "2Mi"}, "limits": {"cpu": "1", "hugepages-2Mi": "2Mi"}},
            }),
            "spec.resources.requests[hugepages-2Mi]: Invalid value: \"2Mi\": must be greater than or equal to aggregate container requests of 4Mi\n\
             spec.resources.limits[hugepages-2Mi]: Invalid value: \"2Mi\": must be greater than or equal to aggregate container limits of 4Mi\n\
             spec.resources.containers[0][hugepages-2Mi].limits: Invalid value: \"4Mi\": must be less than or equal to pod limits of 2Mi",
        ),
        (
            json!({"os": {"name": "windows"}, "hostPID": true}),
            "spec.hostPID: Forbidden: cannot be set for a windows pod",
        ),
        (
            json!({"dnsPolicy": "None"}),
            "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
        ),
        (
            json!({"resourceClaims": [{"name": "a"}]}),
            "spec.resourceClaims[0]: Invalid value: {\"Name\":\"a\",\"ResourceClaimName\":null,\"ResourceClaimTemplateName\":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
        ),
        (
            json!({"overhead": {"cpu": "-1"}}),
            "spec.overhead.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
        ),
        (
            json!({"resources": {"limits": {"ephemeral-storage": "1"}}}),
            "spec.resources.limits[ephemeral-storage]: Unsupported value: \"ephemeral-storage\": supported values: \"cpu\", \"hugepages-\", \"memory\"",
        ),
        (
            json!({"hostNetwork": true, "securityContext": {"sysctls": [{"name": "net.x", "value": "1"}]}}),
            "spec.securityContext.sysctls[0].name: Invalid value: \"net.x\": may not be specified when 'hostNetwork' is true",
        ),
        (
            json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}]}),
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
        ),
        (
            json!({"hostAliases": [{"ip": "010.0.0.1"}], "dnsConfig": {"nameservers": ["::ffff:10.0.0.1"]}}),
            "spec.dnsConfig.nameservers[0]: Invalid value: \"::ffff:10.0.0.1\": must not be an IPv4-mapped IPv6 address\n\
             spec.hostAliases[0].ip: Invalid value: \"010.0.0.1\": must not have leading 0s",
        ),
        (
            json!({"preemptionPolicy": "Maybe"}),
            "spec.preemptionPolicy: Unsupported value: \"Maybe\": supported values: \"PreemptLowerPriority\", \"Never\"",
        ),
    ];
    for (spec, expected) in cases {
        assert_eq!(complaints(spec), expected);
    }
}

#[test]
fn classes_follow_from_requests_and_limits() {
    let both = json!({"cpu": "1", "memory": "1Gi"});
    let cases = [
        (json!({}), "BestEffort"),
        (json!({"limits": both}), "Guaranteed"),
        (json!({"limits": both, "requests": {"cpu": "500m"}}), "Burstable"),
        (json!({"limits": {"cpu": "1"}}), "Burstable"),
        (json!({"requests": {"cpu": "0"}}), "BestEffort"),
    ];
    for (resources, expected) in cases {
        let pod = pod(json!({"containers": [{"name": "c", "image": "i", "resources": resources}]}));
        assert_eq!(pod.status.qos_class, expected);
    }
}

#[test]
fn label_keys_become_requirements_of_the_pod_s_own_values() {
    let mut own = pod(json!({"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway",
        "matchLabelKeys": ["app", "absent"], "labelSelector": {},
    }]}));
    own.metadata.labels.insert("app".to_owned(), "web".to_owned());
    own.prepare_for_create(&Context::default());
    let constraint = &own.spec.topology_spread_constraints[0];
    let requirements = &constraint.label_selector.as_ref().unwrap().match_expressions;
    let keys: Vec<&str> = requirements
        .iter()
        .map(|requirement| requirement.key.as_str())
        .collect();
    assert_eq!(keys, ["app"]);
    assert_eq!(found(|errors| own.validate(errors)), "");
}

#[test]
fn privileged_containers_are_for_servers_that_permit_them() {
    let container = json!({"name": "c", "image": "i", "securityContext": {"privileged": true}});
    let pod = pod(json!({"containers": [container]}));
    let permitting = Features::default().with(&PRIVILEGED_CONTAINERS, true);
    let refused = "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy";
    for (features, expected) in [(Features::defaults(), refused), (&permitting, "")] {
        assert_eq!(found_with(features, |errors| pod.validate(errors)), expected);
    }
}

#[test]
fn makers_are_warned_of_what_will_surprise_them() {
    let spec = json!({
        "containers": [
            {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostIP": "1.2.3.4"}, {"containerPort": 80, "hostPort": 80}]},
        ],
        "terminationGracePeriodSeconds": -1,
        "imagePullSecrets": [{"name": ""}],
        "hostAliases": [{"ip": "010.0.0.1"}, {"ip": "2001:DB8::1"}],
        "volumes": [{"name": "v", "gitRepo": {"repository": "r"}}],
    });
    assert_eq!(
        pod(spec).warnings_on_create(),
        [
            "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
            "spec.imagePullSecrets[0].name: invalid empty name \"\"",
            "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}",
            "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
            "spec.hostAliases[0].ip: non-standard IP address \"010.0.0.1\" is invalid: use \"10.0.0.1\"",
            "spec.hostAliases[1].ip: IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")",
        ]
    );
}
