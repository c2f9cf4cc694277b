//! Volumes that combine several sources.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use crate::core::v1::{DownwardAPIVolumeFile, KeyToPath, LocalObjectReference};

/// Projected volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ProjectedVolumeSource {
    /// The sources.
    #[field(proto = 1, keep, optional, list_type = atomic)]
    pub sources: Vec<VolumeProjection>,
    /// The default mode.
    #[field(proto = 2)]
    pub default_mode: Option<i32>,
}

/// Volume projection.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeProjection {
    /// The secret.
    #[field(proto = 1)]
    pub secret: Option<SecretProjection>,
    /// The downward api.
    #[field(name = "downwardAPI", proto = 2)]
    pub downward_api: Option<DownwardAPIProjection>,
    /// The config map.
    #[field(proto = 3)]
    pub config_map: Option<ConfigMapProjection>,
    /// The service account token.
    #[field(proto = 4)]
    pub service_account_token: Option<ServiceAccountTokenProjection>,
    /// The cluster trust bundle.
    #[field(proto = 5)]
    pub cluster_trust_bundle: Option<ClusterTrustBundleProjection>,
    /// The pod certificate.
    #[field(proto = 6)]
    pub pod_certificate: Option<PodCertificateProjection>,
}

/// Secret projection.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecretProjection {
    /// The local object reference.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The items.
    #[field(proto = 2, list_type = atomic)]
    pub items: Vec<KeyToPath>,
    /// The optional.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// Downward apiprojection.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DownwardAPIProjection {
    /// The items.
    #[field(proto = 1, list_type = atomic)]
    pub items: Vec<DownwardAPIVolumeFile>,
}

/// Config map projection.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConfigMapProjection {
    /// The local object reference.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The items.
    #[field(proto = 2, list_type = atomic)]
    pub items: Vec<KeyToPath>,
    /// The optional.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// Service account token projection.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceAccountTokenProjection {
    /// The audience.
    #[field(proto = 1)]
    pub audience: String,
    /// The expiration seconds.
    #[field(proto = 2)]
    pub expiration_seconds: Option<i64>,
    /// The path.
    #[field(proto = 3, keep)]
    pub path: String,
}

/// Cluster trust bundle projection.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ClusterTrustBundleProjection {
    /// The name.
    #[field(proto = 1)]
    pub name: Option<String>,
    /// The signer name.
    #[field(proto = 2)]
    pub signer_name: Option<String>,
    /// The label selector.
    #[field(proto = 3)]
    pub label_selector: Option<LabelSelector>,
    /// The optional.
    #[field(proto = 5)]
    pub optional: Option<bool>,
    /// The path.
    #[field(proto = 4, keep)]
    pub path: String,
}

/// Pod certificate projection.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodCertificateProjection {
    /// The signer name.
    #[field(proto = 1, expected)]
    pub signer_name: String,
    /// The key type.
    #[field(proto = 2, expected)]
    pub key_type: String,
    /// The max expiration seconds.
    #[field(proto = 3)]
    pub max_expiration_seconds: Option<i32>,
    /// The credential bundle path.
    #[field(proto = 4)]
    pub credential_bundle_path: String,
    /// The key path.
    #[field(proto = 5)]
    pub key_path: String,
    /// The certificate chain path.
    #[field(proto = 6)]
    pub certificate_chain_path: String,
    /// The user annotations.
    #[field(proto = 7)]
    pub user_annotations: BTreeMap<String, String>,
}
