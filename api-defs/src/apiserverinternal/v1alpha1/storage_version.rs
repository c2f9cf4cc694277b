//! Encodings in which API servers store a resource.

mod columns;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Context, Strategy};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

/// The versions in which several API servers store a resource.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "internal.apiserver.k8s.io", version = "v1alpha1", cluster, status, name_rule = of_strategy, conditional_update, strategy)]
#[resource(
    column(name),
    column(
        name = "CommonEncodingVersion",
        type = "string",
        doc = "The version that all servers store in, when they agree.",
        with = columns::common_version
    ),
    column(
        name = "StorageVersions",
        type = "string",
        doc = "The version that each server stores in.",
        with = columns::versions
    ),
    column(age)
)]
pub struct StorageVersion {
    /// Standard metadata. The name is group.resource.
    #[field(proto = 1, expected)]
    pub metadata: ObjectMeta,
    /// Empty. Exists for uniformity with other kinds.
    #[field(proto = 2, keep, optional)]
    pub spec: StorageVersionSpec,
    /// Encodings that the API servers report.
    #[field(proto = 3, keep, optional)]
    pub status: StorageVersionStatus,
}

/// The empty spec of a storage version.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageVersionSpec {}

/// Encodings in which the API servers store a resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageVersionStatus {
    /// Reports of the individual servers.
    #[field(proto = 1, list_type = map, list_map_keys("apiServerID"))]
    pub storage_versions: Vec<ServerStorageVersion>,
    /// Version in which all servers store the resource. Absent if they differ.
    #[field(proto = 2)]
    pub common_encoding_version: Option<String>,
    /// Conditions of all servers together.
    #[field(proto = 3, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<StorageVersionCondition>,
}

/// Encodings that one API server uses for a resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServerStorageVersion {
    /// ID of the server.
    #[field(name = "apiServerID", proto = 1, expected)]
    pub api_server_id: String,
    /// Version in which the server stores objects.
    #[field(proto = 2, expected)]
    pub encoding_version: String,
    /// Versions that the server can read from the store, including the encoding version.
    #[field(proto = 3, expected, list_type = set)]
    pub decodable_versions: Vec<String>,
    /// Versions that the server serves, a subset of the decodable versions.
    #[field(proto = 4, list_type = set)]
    pub served_versions: Vec<String>,
}

/// A condition of all servers together.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageVersionCondition {
    /// Type of the condition, such as AllEncodingVersionsEqual.
    #[field(proto = 1, keep, go_type = "StorageVersionConditionType")]
    pub type_: String,
    /// True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Generation of the definition that the condition describes.
    #[field(proto = 3)]
    pub observed_generation: i64,
    /// Time of the last change of status.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 5, keep)]
    pub reason: String,
    /// Human-readable explanation of the condition.
    #[field(proto = 6, expected)]
    pub message: String,
}

impl Strategy for StorageVersion {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        for (field, name) in [
            ("metadata.generateName", &self.metadata.generate_name),
            ("metadata.name", &self.metadata.name),
        ] {
            if !name.is_empty() {
                check_name(field, name, errors);
            }
        }
    }

    fn validate_status_update(&self, _: &Self, errors: &mut FieldErrors) {
        self.status.check(&mut errors.at("status"));
    }
}

/// Checks that a name is group.resource, with `core` for the core group.
fn check_name(field: &str, name: &str, errors: &mut FieldErrors) {
    let Some((group, resource)) = name.rsplit_once('.') else {
        return errors.invalid(field, name, "name must be in the form of <group>.<resource>");
    };
    for problem in names::dns_subdomain(group) {
        errors.invalid(field, name, format!("the group segment {problem}"));
    }
    for problem in names::dns_label_1035(resource) {
        errors.invalid(field, name, format!("the resource segment {problem}"));
    }
}

impl StorageVersionStatus {
    fn check(&self, errors: &mut FieldErrors) {
        let mut common = Some("");
        for (index, server) in self.storage_versions.iter().enumerate() {
            let repeated = self.storage_versions[..index]
                .iter()
                .any(|other| other.api_server_id == server.api_server_id);
            let mut errors = errors.at_index("storageVersions", index);
            if repeated {
                errors.duplicate("apiServerID", server.api_server_id.as_str());
            }
            server.check(&mut errors);
            common = match common {
                Some("") => Some(server.encoding_version.as_str()),
                common => common.filter(|common| *common == server.encoding_version),
            };
        }
        let common = common.filter(|common| !common.is_empty());
        match (common, self.common_encoding_version.as_deref()) {
            (None, Some(claimed)) => errors.invalid(
                "commonEncodingVersion",
                claimed,
                "should be nil if servers do not agree on the same encoding version, or if there is no server reporting \
                 the supported versions yet",
            ),
            (Some(common), None) => errors.invalid(
                "commonEncodingVersion",
                "null",
                format!("the common encoding version is {common}"),
            ),
            (Some(common), Some(claimed)) if common != claimed => errors.invalid(
                "commonEncodingVersion",
                claimed,
                format!("the actual common encoding version is {common}"),
            ),
            _ => {}
        }
    }
}

impl ServerStorageVersion {
    fn check(&self, errors: &mut FieldErrors) {
        for problem in names::dns_subdomain(&self.api_server_id) {
            errors.invalid("apiServerID", self.api_server_id.as_str(), problem);
        }
        if !self.decodable_versions.contains(&self.encoding_version) {
            let known = self.decodable_versions.join(",");
            let detail = format!(
                "decodableVersions must include encodingVersion {}",
                self.encoding_version
            );
            errors.invalid("decodableVersions", known, detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::validation::check_create;

    use super::*;

    fn causes(name: &str, generate_name: &str) -> Vec<String> {
        let version = StorageVersion {
            metadata: ObjectMeta {
                name: name.to_owned(),
                generate_name: generate_name.to_owned(),
                ..ObjectMeta::default()
            },
            ..StorageVersion::default()
        };
        let errors = check_create(&version, &Context::default());
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    #[test]
    fn names_and_their_prefixes_have_a_group_and_a_resource() {
        assert_eq!(causes("apps.deployments", ""), Vec::<String>::new());
        let without_group = "name must be in the form of <group>.<resource>";
        assert_eq!(
            causes("a-x", "a-"),
            [
                format!("metadata.generateName: Invalid value: \"a-\": {without_group}"),
                format!("metadata.name: Invalid value: \"a-x\": {without_group}"),
            ]
        );
        let segments = causes("http://x.y/", "");
        assert_eq!(segments.len(), 2, "{segments:?}");
        assert!(
            segments[0].contains("the group segment a lowercase RFC 1123 subdomain"),
            "{segments:?}"
        );
        assert!(
            segments[1].contains("the resource segment a DNS-1035 label"),
            "{segments:?}"
        );
    }
}
