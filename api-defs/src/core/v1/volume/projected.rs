//! Projected volumes.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use crate::core::v1::{DownwardAPIVolumeFile, KeyToPath, LocalObjectReference};

/// Several sources in one directory.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ProjectedVolumeSource {
    /// Sources of the volume. Each source adds its files to the same directory.
    #[field(proto = 1, keep, optional, list_type = atomic)]
    pub sources: Vec<VolumeProjection>,
    /// Default mode of the files, 0644 by default. JSON requires decimal numbers: 420.
    #[field(proto = 2)]
    pub default_mode: Option<i32>,
}

/// One of several sources of a directory: exactly one of the members.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeProjection {
    /// Files with values of a secret.
    #[field(proto = 1)]
    pub secret: Option<SecretProjection>,
    /// Files with fields of the pod.
    #[field(name = "downwardAPI", proto = 2)]
    pub downward_api: Option<DownwardAPIProjection>,
    /// Keys of a config map.
    #[field(proto = 3)]
    pub config_map: Option<ConfigMapProjection>,
    /// A token of the pod's service account, renewed before it expires.
    #[field(proto = 4)]
    pub service_account_token: Option<ServiceAccountTokenProjection>,
    /// A file with CA certificates of cluster trust bundles.
    #[field(proto = 5)]
    pub cluster_trust_bundle: Option<ClusterTrustBundleProjection>,
    /// A private key and a certificate for the pod, renewed before it expires.
    #[field(proto = 6)]
    pub pod_certificate: Option<PodCertificateProjection>,
}

/// Keys of a secret.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecretProjection {
    /// The secret in the pod's namespace.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// Keys that become files, and the paths of the files. When empty, all keys become files under their own names.
    #[field(proto = 2, list_type = atomic)]
    pub items: Vec<KeyToPath>,
    /// True if the pod can start without the secret or a key.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// Fields of the pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DownwardAPIProjection {
    /// Files with the pod fields that they contain.
    #[field(proto = 1, list_type = atomic)]
    pub items: Vec<DownwardAPIVolumeFile>,
}

/// Keys of a config map.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConfigMapProjection {
    /// The config map in the pod's namespace.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// Keys that become files, and the paths of the files. When empty, all keys become files under their own names.
    #[field(proto = 2, list_type = atomic)]
    pub items: Vec<KeyToPath>,
    /// True if the pod can start without the config map or a key.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// A token of the pod's service account.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceAccountTokenProjection {
    /// Audience of the token. The API server when empty.
    #[field(proto = 1)]
    pub audience: String,
    /// Validity of the token in seconds, at least 600. 3600 by default.
    #[field(proto = 2)]
    pub expiration_seconds: Option<i64>,
    /// Path of the file in the volume.
    #[field(proto = 3, keep)]
    pub path: String,
}

/// CA certificates in one PEM file without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ClusterTrustBundleProjection {
    /// Name of one bundle. Excludes signerName.
    #[field(proto = 1)]
    pub name: Option<String>,
    /// Signer of the bundles that labelSelector selects. Excludes name.
    #[field(proto = 2)]
    pub signer_name: Option<String>,
    /// Labels of the signer's bundles. No bundles when absent, all when empty.
    #[field(proto = 3)]
    pub label_selector: Option<LabelSelector>,
    /// True if the pod can start without the bundles.
    #[field(proto = 5)]
    pub optional: Option<bool>,
    /// Path of the file in the volume.
    #[field(proto = 4, keep)]
    pub path: String,
}

/// A private key and a certificate for the pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodCertificateProjection {
    /// Signer of the certificate, such as example.com/internal.
    #[field(proto = 1, expected)]
    pub signer_name: String,
    /// Type of the key: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.
    #[field(proto = 2, expected)]
    pub key_type: String,
    /// Maximum validity of the certificate in seconds, 3600 to 7862400. 86400 when absent.
    #[field(proto = 3)]
    pub max_expiration_seconds: Option<i32>,
    /// Path of a file with the key and the certificate chain. Preferable to two files.
    #[field(proto = 4)]
    pub credential_bundle_path: String,
    /// Path of a file with the key only.
    #[field(proto = 5)]
    pub key_path: String,
    /// Path of a file with the certificate chain only.
    #[field(proto = 6)]
    pub certificate_chain_path: String,
    /// Annotations for the signer.
    #[field(proto = 7)]
    pub user_annotations: BTreeMap<String, String>,
}
