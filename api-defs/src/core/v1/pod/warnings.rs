//! Warnings about pods and templates.

mod paths;
mod ports;

use std::collections::BTreeSet;
use std::fmt::Display;

use planesmith_machinery::go_format::quote;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{go_format, ip, names};

use super::annotations::{APP_ARMOR, SECCOMP_OF_CONTAINER, SECCOMP_OF_POD};
use super::app_armor;
use super::placed_container::PlacedContainer;
use super::{Pod, PodSpec};
use crate::core::v1::{
    Affinity, Container, EnvVar, PodTemplateSpec, ResourceList, VolumeSource, of_node_selector_term, old_node_label,
};

/// Annotations without effect.
const OLD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// Resources that are measured in bytes.
const BYTES: [&str; 2] = ["memory", "ephemeral-storage"];

impl Pod {
    /// Returns the warnings about the creation of the pod.
    pub(super) fn creation_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let problems = names::dns_label(&self.metadata.name);
        if !problems.is_empty() {
            warnings.push(format!(
                "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS \
                 label is recommended: {}",
                go_format::slice(&problems)
            ));
        }
        warnings.extend(Walk::new("", &self.spec, &self.metadata).warnings());
        warnings
    }

    /// Returns the warnings about addresses in the status.
    pub(super) fn address_warnings(&self) -> Vec<String> {
        let of_pod = self.status.pod_ips.iter().map(|ip| &ip.ip).enumerate();
        let of_host = self.status.host_ips.iter().map(|ip| &ip.ip).enumerate();
        let of_pod = of_pod.map(|(index, ip)| (format!("status.podIPs[{index}].ip"), ip));
        let of_host = of_host.map(|(index, ip)| (format!("status.hostIPs[{index}].ip"), ip));
        let all = of_pod.chain(of_host);
        all.flat_map(|(path, address)| ip::warnings(&path, address)).collect()
    }
}

impl PodTemplateSpec {
    /// Returns the warnings about the template at `path`.
    #[must_use]
    pub fn warnings(&self, path: &str) -> Vec<String> {
        Walk::new(path, &self.spec, &self.metadata).warnings()
    }
}

/// Collects warnings about one spec. Paths are formatted only when a warning needs them.
struct Walk<'a> {
    /// Path of the object that contains the spec, with a trailing dot; empty for a pod.
    base: String,
    spec: &'a PodSpec,
    meta: &'a ObjectMeta,
    found: Vec<String>,
}

impl<'a> Walk<'a> {
    fn new(path: &str, spec: &'a PodSpec, meta: &'a ObjectMeta) -> Self {
        let base = if path.is_empty() {
            String::new()
        } else {
            format!("{path}.")
        };
        Self {
            base,
            spec,
            meta,
            found: Vec::new(),
        }
    }

    fn warn(&mut self, path: impl Display, words: &str) {
        self.found.push(format!("{}{path}: {words}", self.base));
    }

    fn warnings(mut self) -> Vec<String> {
        self.about_nodes();
        self.about_annotations();
        self.about_volumes();
        self.about_names();
        for resource in BYTES {
            self.about_fraction("spec.overhead", resource, &self.spec.overhead);
        }
        self.about_pod_seccomp();
        let spec = self.spec;
        let containers: Vec<_> = spec.placed_containers().collect();
        for place in &containers {
            self.about_container(place);
        }
        self.about_ports(&containers);
        self.about_port_names(&containers);
        if spec.termination_grace_period_seconds.is_some_and(|seconds| seconds < 0) {
            let words = "must be >= 0; negative values are invalid and will be treated as 1";
            self.warn("spec.terminationGracePeriodSeconds", words);
        }
        if let Some(affinity) = &spec.affinity {
            self.about_pods(affinity);
        }
        self.about_addresses();
        self.found
    }

    fn about_nodes(&mut self) {
        for label in self.spec.node_selector.keys() {
            if let Some(words) = old_node_label(label) {
                self.warn(format_args!("spec.nodeSelector[{label}]"), words);
            }
        }
        let affinity = self.spec.affinity.as_ref();
        if let Some(affinity) = affinity.and_then(|affinity| affinity.node_affinity.as_ref()) {
            let path = format!("{}spec.affinity.nodeAffinity", self.base);
            let required = affinity.required_during_scheduling_ignored_during_execution.iter();
            for (index, term) in required.flat_map(|selector| selector.node_selector_terms.iter().enumerate()) {
                let path = format!("{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}]");
                self.found.extend(of_node_selector_term(term, false, &path));
            }
            let preferred = affinity.preferred_during_scheduling_ignored_during_execution.iter();
            for (index, term) in preferred.enumerate() {
                let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}].preference");
                self.found.extend(of_node_selector_term(&term.preference, true, &path));
            }
        }
        for (index, constraint) in self.spec.topology_spread_constraints.iter().enumerate() {
            let field = "spec.topologySpreadConstraints";
            if let Some(words) = old_node_label(&constraint.topology_key) {
                self.warn(
                    format_args!("{field}[{index}].topologyKey"),
                    &format!("{} is {words}", constraint.topology_key),
                );
            }
            if constraint.label_selector.is_none() {
                let words = "a null labelSelector results in matching no pod";
                self.warn(format_args!("{field}[{index}].labelSelector"), words);
            }
        }
    }

    fn about_annotations(&mut self) {
        for (key, words) in OLD_ANNOTATIONS {
            if self.meta.annotations.contains_key(key) {
                self.warn(format_args!("metadata.annotations[{key}]"), words);
            }
        }
    }

    fn about_volumes(&mut self) {
        for (index, volume) in self.spec.volumes.iter().enumerate() {
            let source = &volume.volume_source;
            for (field, words) in old_volumes(source) {
                self.warn(format_args!("spec.volumes[{index}].{field}"), words);
            }
            let template = source.ephemeral.as_ref();
            if let Some(template) = template.and_then(|source| source.volume_claim_template.as_ref()) {
                let path = format!("{}spec.volumes[{index}].ephemeral.volumeClaimTemplate.spec", self.base);
                self.found.extend(template.spec.warnings(&path));
            }
        }
        self.found.extend(self.spec.volumes.iter().flat_map(paths::overlaps));
    }

    fn about_names(&mut self) {
        let mut known = BTreeSet::new();
        for (index, alias) in self.spec.host_aliases.iter().enumerate() {
            if !known.insert(&alias.ip) {
                let path = format_args!("spec.hostAliases[{index}].ip");
                self.warn(path, &format!("duplicate ip {}", quote(&alias.ip)));
            }
        }
        let mut known = BTreeSet::new();
        let secrets = &self.spec.image_pull_secrets;
        for (index, secret) in secrets.iter().enumerate() {
            if !known.insert(&secret.name) {
                let path = format_args!("spec.imagePullSecrets[{index}].name");
                self.warn(path, &format!("duplicate name {}", quote(&secret.name)));
            }
        }
        for (index, _) in secrets.iter().enumerate().filter(|(_, secret)| secret.name.is_empty()) {
            self.warn(
                format_args!("spec.imagePullSecrets[{index}].name"),
                "invalid empty name \"\"",
            );
        }
    }

    fn about_addresses(&mut self) {
        let servers = self
            .spec
            .dns_config
            .iter()
            .flat_map(|config| config.nameservers.iter().enumerate());
        for (index, server) in servers {
            let path = format!("{}spec.dnsConfig.nameservers[{index}]", self.base);
            self.found.extend(ip::warnings(&path, server));
        }
        for (index, alias) in self.spec.host_aliases.iter().enumerate() {
            let path = format!("{}spec.hostAliases[{index}].ip", self.base);
            self.found.extend(ip::warnings(&path, &alias.ip));
        }
    }

    fn about_pod_seccomp(&mut self) {
        let context = self.spec.security_context.as_ref();
        if context.is_none_or(|context| context.seccomp_profile.is_none()) {
            self.about_seccomp(SECCOMP_OF_POD);
        }
    }

    fn about_seccomp(&mut self, key: &str) {
        if self.meta.annotations.contains_key(key) {
            let words = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
            self.warn(format_args!("metadata.annotations[{key}]"), words);
        }
    }

    fn about_container(&mut self, place: &PlacedContainer<'_>) {
        let container = &*place.container;
        let annotated = !self.meta.annotations.is_empty();
        let context = container.security_context.as_ref();
        if annotated && context.is_none_or(|context| context.seccomp_profile.is_none()) {
            self.about_seccomp(&format!("{SECCOMP_OF_CONTAINER}{}", container.name));
        }
        // For pods, the warning is given on creation, before the annotation is converted to the field.
        if annotated && !self.base.is_empty() {
            self.about_app_armor(container);
        }
        let resources = &container.resources;
        for resource in BYTES {
            for (field, list) in [("limits", &resources.limits), ("requests", &resources.requests)] {
                self.about_fraction(format_args!("spec.{place}.resources.{field}"), resource, list);
            }
        }
        self.about_variables(place, &container.env);
    }

    fn about_app_armor(&mut self, container: &Container) {
        let of_pod = app_armor::of_pod(self.spec);
        if app_armor::adoption(&self.meta.annotations, container, of_pod).is_some() {
            let path = format_args!("metadata.annotations[{APP_ARMOR}{}]", container.name);
            self.warn(path, app_armor::DEPRECATED);
        }
    }

    fn about_fraction(&mut self, path: impl Display, resource: &str, list: &ResourceList) {
        if let Some(amount) = list.get(resource).filter(|amount| amount.milli_value() % 1000 != 0) {
            let amount = quote(amount.as_str());
            let words = format!("fractional byte value {amount} is invalid, must be an integer");
            self.warn(format_args!("{path}[{resource}]"), &words);
        }
    }

    /// Warns about variables of the same name, unless the later one refers to the earlier one.
    fn about_variables(&mut self, place: &PlacedContainer<'_>, vars: &[EnvVar]) {
        let mut known = BTreeSet::new();
        for (index, var) in vars.iter().enumerate() {
            if known.insert(&var.name) {
                continue;
            }
            let reference = format!("$({})", var.name);
            if var.value_from.is_some() || var.value == reference || !var.value.contains(&reference) {
                let name = quote(&var.name);
                let words = format!("hides previous definition of {name}, which may be dropped when using apply");
                self.warn(format_args!("spec.{place}.env[{index}]"), &words);
            }
        }
    }

    fn about_pods(&mut self, affinity: &Affinity) {
        const NONE: &str = "a null labelSelector results in matching no pod";
        for (field, required, preferred) in affinity.pod_terms() {
            let path = format!("spec.affinity.{field}");
            for (index, _) in required
                .iter()
                .enumerate()
                .filter(|(_, term)| term.label_selector.is_none())
            {
                let path = format!("{path}.requiredDuringSchedulingIgnoredDuringExecution[{index}].labelSelector");
                self.warn(path, NONE);
            }
            let preferred = preferred.iter().enumerate();
            for (index, _) in preferred.filter(|(_, term)| term.pod_affinity_term.label_selector.is_none()) {
                let path = format!(
                    "{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}].podAffinityTerm.labelSelector"
                );
                self.warn(path, NONE);
            }
        }
    }
}

/// Returns volume sources that are deprecated or no longer supported.
fn old_volumes(source: &VolumeSource) -> impl Iterator<Item = (&'static str, &'static str)> {
    const IN_22: &str = "deprecated in v1.22, non-functional in v1.25+";
    const IN_28: &str = "deprecated in v1.28, non-functional in v1.31+";
    let given = [
        (
            source.photon_persistent_disk.is_some(),
            "photonPersistentDisk",
            "deprecated in v1.11, non-functional in v1.16+",
        ),
        (
            source.git_repo.is_some(),
            "gitRepo",
            "deprecated in v1.11, and disabled by default in v1.33+",
        ),
        (
            source.scale_io.is_some(),
            "scaleIO",
            "deprecated in v1.16, non-functional in v1.22+",
        ),
        (source.flocker.is_some(), "flocker", IN_22),
        (source.storageos.is_some(), "storageOS", IN_22),
        (source.quobyte.is_some(), "quobyte", IN_22),
        (
            source.glusterfs.is_some(),
            "glusterfs",
            "deprecated in v1.25, non-functional in v1.26+",
        ),
        (source.cephfs.is_some(), "cephfs", IN_28),
        (source.rbd.is_some(), "rbd", IN_28),
    ];
    given
        .into_iter()
        .filter(|(given, ..)| *given)
        .map(|(_, field, words)| (field, words))
}
