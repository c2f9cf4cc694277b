//! The names of Go fields, derived from JSON names.

use std::borrow::Cow;

/// First words that Go writes in upper case.
const INITIALS: [&str; 37] = [
    "api", "aws", "ca", "cel", "cidr", "cpu", "csi", "dns", "fc", "fs", "gce", "gid", "gmsa", "grpc", "http", "id",
    "io", "ip", "iqn", "iscsi", "json", "nfs", "os", "pd", "pkix", "qos", "rbd", "se", "ssl", "tcp", "tls", "ttl",
    "tty", "ui", "uid", "uri", "url",
];

/// Irregular names: the type (empty for any), the JSON name, the Go name.
const ODD: [(&str, &str, &str); 30] = [
    ("", "cephfs", "CephFS"),
    ("", "cidrs", "CIDRs"),
    ("", "ips", "IPs"),
    ("", "storageos", "StorageOS"),
    ("", "wwids", "WWIDs"),
    ("AdmissionResponse", "status", "Result"),
    ("AzureDiskVolumeSource", "diskURI", "DataDiskURI"),
    ("ContainerStatus", "lastState", "LastTerminationState"),
    ("DeviceAttribute", "bool", "BoolValue"),
    ("DeviceAttribute", "bools", "BoolValues"),
    ("DeviceAttribute", "int", "IntValue"),
    ("DeviceAttribute", "ints", "IntValues"),
    ("DeviceAttribute", "string", "StringValue"),
    ("DeviceAttribute", "strings", "StringValues"),
    ("DeviceAttribute", "version", "VersionValue"),
    ("DeviceAttribute", "versions", "VersionValues"),
    ("Event", "reportingComponent", "ReportingController"),
    ("GlusterfsPersistentVolumeSource", "endpoints", "EndpointsName"),
    ("GlusterfsVolumeSource", "endpoints", "EndpointsName"),
    ("ISCSIPersistentVolumeSource", "chapAuthDiscovery", "DiscoveryCHAPAuth"),
    ("ISCSIPersistentVolumeSource", "chapAuthSession", "SessionCHAPAuth"),
    ("ISCSIVolumeSource", "chapAuthDiscovery", "DiscoveryCHAPAuth"),
    ("ISCSIVolumeSource", "chapAuthSession", "SessionCHAPAuth"),
    ("NodeSpec", "externalID", "DoNotUseExternalID"),
    ("PhotonPersistentDiskVolumeSource", "pdID", "PdID"),
    ("RBD", "image", "RBDImage"),
    ("RBD", "monitors", "CephMonitors"),
    ("RBD", "pool", "RBDPool"),
    ("RBD", "user", "RadosUser"),
    ("SubjectAccessReviewSpec", "group", "Groups"),
];

/// Returns the Go name of the field with the JSON name `json` in the type `ty`.
pub(super) fn of_field(ty: &str, json: &str) -> Cow<'static, str> {
    let odd = ODD.iter().find(|(of, name, _)| {
        // Two types of Ceph volumes share their irregular names.
        let of_type = of.is_empty() || *of == ty || (*of == "RBD" && ty.starts_with("RBD"));
        of_type && *name == json
    });
    if let Some((_, _, go)) = odd {
        return Cow::Borrowed(go);
    }
    let word = json.find(|c: char| c.is_ascii_uppercase()).unwrap_or(json.len());
    let (word, rest) = json.split_at(word);
    let word = match INITIALS.contains(&word) {
        true => word.to_ascii_uppercase(),
        false => word
            .char_indices()
            .map(|(at, c)| if at == 0 { c.to_ascii_uppercase() } else { c })
            .collect(),
    };
    Cow::Owned(word + rest)
}
