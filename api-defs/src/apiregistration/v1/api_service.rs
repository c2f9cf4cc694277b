//! API services, the servers of group versions.

mod columns;

use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Context, MetadataRules, Strategy, StrategyExtensions};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

/// A group version and the server that serves it: this server, or one behind a service.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apiregistration.k8s.io",
    version = "v1",
    kind = "APIService",
    cluster,
    status,
    status_resets("metadata"),
    categories("api-extensions"),
    name_rule = path_segment,
    storage_name = "apiregistration.k8s.io/apiservices",
    conditional_update,
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Service", type = "string", doc = "The service in front of the server, or Local.", with = columns::service),
    column(name = "Available", type = "string", doc = "Availability of the server.", with = columns::available),
    column(age)
)]
pub struct APIService {
    /// Standard metadata. The name is version.group.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The group version and the service that serves it.
    #[field(proto = 2)]
    pub spec: APIServiceSpec,
    /// Observed state, such as the availability of the server.
    #[field(proto = 3)]
    pub status: APIServiceStatus,
}

/// A served group version, the service that serves it, and its priority for clients.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct APIServiceSpec {
    /// Service that serves the group version. Absent for group versions that this server serves.
    #[field(proto = 1)]
    pub service: Option<ServiceReference>,
    /// API group.
    #[field(proto = 2)]
    pub group: String,
    /// Version of the group.
    #[field(proto = 3)]
    pub version: String,
    /// True to skip the verification of the server's certificate. Strongly discouraged; set caBundle instead.
    #[field(name = "insecureSkipTLSVerify", proto = 4)]
    pub insecure_skip_tls_verify: bool,
    /// CA certificates in PEM that verify the server's certificate. The system's CA certificates when empty.
    #[field(proto = 5, list_type = atomic)]
    pub ca_bundle: ByteString,
    /// Minimum priority of the group, 1 to 20,000. Clients prefer groups with higher numbers.
    #[field(proto = 7, keep)]
    pub group_priority_minimum: i32,
    /// Priority of the version within its group, 1 to 1,000. Higher numbers come first.
    #[field(proto = 8, keep)]
    pub version_priority: i32,
}

impl APIServiceSpec {
    /// Sets the default port of the service.
    pub(crate) fn set_defaults(&mut self) {
        if let Some(service) = &mut self.service {
            service.port.get_or_insert(HTTPS);
        }
    }
}

/// Default HTTPS port of services.
const HTTPS: i32 = 443;

/// Reference to a service by name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceReference {
    /// Namespace of the service.
    #[field(proto = 1)]
    pub namespace: String,
    /// Name of the service.
    #[field(proto = 2)]
    pub name: String,
    /// HTTPS port of the service. Default: 443.
    #[field(proto = 3)]
    pub port: Option<i32>,
}

/// Observed state of an APIService.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct APIServiceStatus {
    /// Conditions. Available is True if the server can be reached.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<APIServiceCondition>,
}

/// A condition of an API service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct APIServiceCondition {
    /// Type of the condition, such as Available.
    #[field(proto = 1, keep, go_type = "APIServiceConditionType")]
    pub type_: String,
    /// True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Time of the last change of status.
    #[field(proto = 3)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 4)]
    pub reason: String,
    /// Human-readable explanation of the condition.
    #[field(proto = 5)]
    pub message: String,
}

/// Maximum priority of a group.
const MAX_GROUP_PRIORITY: i32 = 20_000;

/// Maximum priority of a version within its group.
const MAX_VERSION_PRIORITY: i32 = 1_000;

impl Strategy for APIService {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        if self.spec.service.is_none() {
            self.status.conditions = vec![APIServiceCondition {
                type_: "Available".to_owned(),
                status: "True".to_owned(),
                last_transition_time: context.now,
                reason: "Local".to_owned(),
                message: "Local APIServices are always available".to_owned(),
            }];
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let spec = &self.spec;
        let wanted = format!("{}.{}", spec.version, spec.group);
        // The same is required of `generateName`, which a generated name never fulfils.
        let meta = &self.metadata;
        for (field, name) in [("generateName", &meta.generate_name), ("name", &meta.name)] {
            if !name.is_empty() && *name != wanted && names::path_segment(name).is_empty() {
                let detail = format!("must be `spec.version+\".\"+spec.group`: {wanted:?}");
                errors.at("metadata").invalid(field, name, detail);
            }
        }
        if spec.group.is_empty() && spec.version != "v1" {
            errors.required(
                "spec.group",
                "only v1 may have an empty group and it better be legacy kube",
            );
        }
        if !spec.group.is_empty() {
            for problem in names::dns_subdomain(&spec.group) {
                errors.invalid("spec.group", spec.group.as_str(), problem);
            }
        }
        for problem in names::dns_label_1035(&spec.version) {
            errors.invalid("spec.version", spec.version.as_str(), problem);
        }
        for (field, priority, max) in [
            (
                "spec.groupPriorityMinimum",
                spec.group_priority_minimum,
                MAX_GROUP_PRIORITY,
            ),
            ("spec.versionPriority", spec.version_priority, MAX_VERSION_PRIORITY),
        ] {
            if priority <= 0 || priority > max {
                errors.invalid(field, priority, format!("must be positive and less than {max}"));
            }
        }
        match &spec.service {
            None => spec.check_local(errors),
            Some(service) => spec.check_remote(service, errors),
        }
    }

    fn validate_status_update(&self, _: &Self, errors: &mut FieldErrors) {
        for (index, condition) in self.status.conditions.iter().enumerate() {
            if !matches!(condition.status.as_str(), "True" | "False" | "Unknown") {
                let mut errors = errors.at_index("status.conditions", index);
                errors.not_supported_in_order("status", condition.status.as_str(), &["True", "False", "Unknown"]);
            }
        }
    }
}

impl StrategyExtensions for APIService {
    const STATUS_AS_TABLE: bool = false;
    const SCHEME_NAME: &'static str = "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28";
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
}

impl APIServiceSpec {
    /// Checks that a locally served group version has no TLS settings.
    fn check_local(&self, errors: &mut FieldErrors) {
        if !self.ca_bundle.is_empty() {
            let length = format!("{} bytes", self.ca_bundle.len());
            errors.invalid("spec.caBundle", length, "local APIServices may not have a caBundle");
        }
        if self.insecure_skip_tls_verify {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.invalid("spec.insecureSkipTLSVerify", true, detail);
        }
    }

    fn check_remote(&self, service: &ServiceReference, errors: &mut FieldErrors) {
        if service.namespace.is_empty() {
            errors.required("spec.service.namespace", "");
        }
        if service.name.is_empty() {
            errors.required("spec.service.name", "");
        }
        let port = service.port.unwrap_or_default();
        let problems = names::port_number(port.into());
        if !problems.is_empty() {
            let problems: Vec<String> = problems.into_iter().map(|problem| problem.to_string()).collect();
            let detail = format!("port is not valid: {}", problems.join(", "));
            errors.invalid("spec.service.port", port, detail);
        }
        if self.insecure_skip_tls_verify && !self.ca_bundle.is_empty() {
            let detail = "may not be true if caBundle is present";
            errors.invalid("spec.insecureSkipTLSVerify", true, detail);
        }
    }
}
