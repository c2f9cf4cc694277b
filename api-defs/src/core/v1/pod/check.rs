//! Validation of the spec of a pod or a template.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::validation::check_labels;

use super::dns::check_dns;
use super::resource_claim::{check_claims, refuse_claims};
use super::topology_spread::check_spread;
use super::{PodOptions, PodSpec};
use crate::core::v1::ResourceRequirements;
use crate::core::v1::container::{Surroundings, check_containers, check_ephemeral_containers, check_init_containers};
use crate::core::v1::resource_name::is_huge_page;
use crate::core::v1::resource_requirements::ResourceNames;
use crate::core::v1::toleration::check_tolerations;
use crate::core::v1::volume::check_volumes;

const RESTART_POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];
const DNS_POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

impl PodSpec {
    /// Reports errors in the spec of the pod `pod`; the name is empty in a template.
    pub(crate) fn check(&self, pod: &str, options: PodOptions, errors: &mut FieldErrors) {
        if self.termination_grace_period_seconds.is_none() {
            errors.required("terminationGracePeriodSeconds", "");
        }
        let volumes = check_volumes(&self.volumes, pod, options, errors);
        if options.no_claims {
            refuse_claims(&self.resource_claims, errors);
        } else {
            check_claims(&self.resource_claims, errors);
        }
        let claims = self.resource_claims.iter().map(|claim| claim.name.as_str());
        let claims: BTreeSet<&str> = claims.filter(|name| !name.is_empty()).collect();
        let around = Surroundings {
            volumes: &volumes,
            claims: &claims,
            options,
            restart_policy: &self.restart_policy,
            host_users: self.host_users != Some(false),
            grace_period: self.termination_grace_period_seconds,
            os: self.os.as_ref().map(|os| os.name.as_str()),
        };
        check_containers(&self.containers, around, errors);
        check_init_containers(&self.init_containers, &self.containers, around, errors);
        let others = self.containers.iter().chain(&self.init_containers);
        check_ephemeral_containers(&self.ephemeral_containers, others, around, errors);
        if let Some(resources) = &self.resources {
            self.check_resources(resources, &claims, options, errors);
        }
        self.check_host_ports(options, errors);
        self.check_policies(errors);
        check_labels("nodeSelector", &self.node_selector, errors);
        if let Some(context) = &self.security_context {
            context.check(self, options, &mut errors.at("securityContext"));
        }
        if let Some(affinity) = &self.affinity {
            affinity.check(options, &mut errors.at("affinity"));
        }
        check_dns(self.dns_config.as_ref(), &self.dns_policy, errors);
        self.check_gates(errors);
        check_spread(&self.topology_spread_constraints, options, errors);
        self.check_host_process(errors);
        self.check_host_users(options, errors);
        self.check_hostname_override(errors);
        self.check_names(errors);
        self.check_rest(options, errors);
        self.check_os(errors);
        if let Some(group) = &self.scheduling_group {
            group.check(&mut errors.at("schedulingGroup"));
        }
        self.check_variable_files(errors);
    }

    fn check_policies(&self, errors: &mut FieldErrors) {
        let policies: [(_, _, &[&str]); 2] = [
            ("restartPolicy", &self.restart_policy, &RESTART_POLICIES),
            ("dnsPolicy", &self.dns_policy, &DNS_POLICIES),
        ];
        for (field, policy, known) in policies {
            match policy.as_str() {
                "" => errors.required(field, ""),
                policy if !known.contains(&policy) => errors.not_supported_in_order(field, policy, known),
                _ => {}
            }
        }
    }

    fn check_gates(&self, errors: &mut FieldErrors) {
        for (index, gate) in self.readiness_gates.iter().enumerate() {
            for problem in names::qualified_name(&gate.condition_type) {
                errors
                    .at_index("readinessGates", index)
                    .invalid("conditionType", &gate.condition_type, problem);
            }
        }
        let mut known = BTreeSet::new();
        for (index, gate) in self.scheduling_gates.iter().enumerate() {
            let mut errors = errors.at_index("schedulingGates", index);
            for problem in names::qualified_name(&gate.name) {
                errors.invalid("", &gate.name, problem);
            }
            if !known.insert(&gate.name) {
                errors.duplicate("", &gate.name);
            }
        }
    }

    fn check_names(&self, errors: &mut FieldErrors) {
        let subdomains = [
            ("serviceAccountName", &self.service_account_name),
            ("nodeName", &self.node_name),
        ];
        for (field, name) in subdomains.into_iter().filter(|(_, name)| !name.is_empty()) {
            for problem in names::dns_subdomain(name) {
                errors.invalid(field, name, problem);
            }
        }
        if let Some(seconds) = self.active_deadline_seconds {
            for problem in names::in_range(seconds, 1, i32::MAX.into()) {
                errors.invalid("activeDeadlineSeconds", seconds, problem);
            }
        }
        let labels = [("hostname", &self.hostname), ("subdomain", &self.subdomain)];
        for (field, name) in labels.into_iter().filter(|(_, name)| !name.is_empty()) {
            for problem in names::dns_label(name) {
                errors.invalid(field, name, problem);
            }
        }
    }

    fn check_hostname_override(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "hostnameOverride";
        const MAX_LENGTH: usize = 64;
        let Some(name) = &self.hostname_override else {
            return;
        };
        if self.set_hostname_as_fqdn == Some(true) {
            errors.forbidden(FIELD, "may not be specified when setHostnameAsFQDN is true");
        }
        if self.host_network {
            errors.forbidden(FIELD, "may not be specified when hostNetwork is true");
        }
        if name.len() > MAX_LENGTH {
            errors.too_long(FIELD, MAX_LENGTH as u64);
        }
        for problem in names::dns_subdomain(name) {
            errors.invalid(FIELD, name, problem);
        }
    }

    fn check_rest(&self, options: PodOptions, errors: &mut FieldErrors) {
        check_tolerations(
            &self.tolerations,
            options.may_compare_numbers(errors.features()),
            errors,
        );
        for (index, alias) in self.host_aliases.iter().enumerate() {
            alias.check(&mut errors.at_index("hostAliases", index));
        }
        let class = Some(&self.priority_class_name).filter(|name| !name.is_empty());
        let names = [
            ("priorityClassName", class),
            ("runtimeClassName", self.runtime_class_name.as_ref()),
        ];
        for (field, name) in names {
            if let Some(name) = name {
                for problem in names::dns_subdomain(name) {
                    errors.invalid(field, name, problem);
                }
            }
        }
        match self.preemption_policy.as_deref() {
            None | Some("PreemptLowerPriority" | "Never") => {}
            Some("") => errors.required("preemptionPolicy", ""),
            Some(other) => {
                let known = ["PreemptLowerPriority", "Never"];
                errors.not_supported_in_order("preemptionPolicy", other, &known);
            }
        }
        let overhead = ResourceRequirements {
            limits: self.overhead.clone(),
            ..ResourceRequirements::default()
        };
        let no_claims = BTreeSet::new();
        overhead.check(
            ResourceNames::OfContainers,
            &no_claims,
            options,
            &mut errors.at("overhead"),
        );
    }

    /// Checks that files with variables are in emptyDir volumes of the pod.
    fn check_variable_files(&self, errors: &mut FieldErrors) {
        self.visit_containers(errors, &mut |container, errors| {
            for (index, variable) in container.env.iter().enumerate() {
                let Some(file) = variable.value_from.as_ref().and_then(|from| from.file_key_ref.as_ref()) else {
                    continue;
                };
                let errors = &mut *errors.at_index("env", index);
                let mut errors = errors.at("valueFrom.fileKeyRef");
                // The last of several volumes with the same name counts.
                match self.volumes.iter().rfind(|volume| volume.name == file.volume_name) {
                    None => errors.not_found("volumeName", &file.volume_name),
                    Some(volume) if volume.volume_source.empty_dir.is_none() => {
                        let problem = "referenced volume must be of type emptyDir";
                        errors.invalid("volumeName", &file.volume_name, problem);
                    }
                    Some(_) => {}
                }
            }
        });
    }

    /// Checks the pod-level resources, also against those of the containers.
    fn check_resources(
        &self,
        resources: &ResourceRequirements,
        claims: &BTreeSet<&str>,
        options: PodOptions,
        errors: &mut FieldErrors,
    ) {
        let mut errors = errors.at("resources");
        if self.is_of("windows") {
            return errors.forbidden("", "may not be set for a windows pod");
        }
        if !resources.claims.is_empty() || errors.was_sent_empty("claims") {
            errors.forbidden("claims", "claims may not be set for Resources at pod-level");
        }
        resources.check(ResourceNames::OfPods, claims, options, &mut errors);
        for (name, total) in &self.container_requests() {
            if let Some(request) = resources.requests.get(name).filter(|request| total > *request) {
                let problem = format!("must be greater than or equal to aggregate container requests of {total}");
                errors.at_key("requests", name).invalid("", request.as_str(), problem);
            }
        }
        for (name, total) in &self.container_limits() {
            let limit = resources.limits.get(name).filter(|limit| total > *limit);
            if let Some(limit) = limit.filter(|_| is_huge_page(name)) {
                let problem = format!("must be greater than or equal to aggregate container limits of {total}");
                errors.at_key("limits", name).invalid("", limit.as_str(), problem);
            }
        }
        for (index, container) in self.containers.iter().enumerate() {
            for (name, limit) in &container.resources.limits {
                let Some(of_pod) = resources.limits.get(name).filter(|of_pod| limit > of_pod) else {
                    continue;
                };
                let problem = format!("must be less than or equal to pod limits of {of_pod}");
                errors
                    .at_index("containers", index)
                    .at_key("", name)
                    .invalid("limits", limit.as_str(), problem);
            }
        }
    }

    /// True if any container has the name `name`.
    #[must_use]
    pub fn has_container(&self, name: &str) -> bool {
        let mut names = self
            .init_containers
            .iter()
            .chain(&self.containers)
            .map(|container| &container.name);
        let ephemeral = self.ephemeral_containers.iter();
        names.any(|known| known == name)
            || ephemeral
                .map(|container| &container.ephemeral_container_common.name)
                .any(|known| known == name)
    }

    /// True if the pod declares this operating system.
    #[must_use]
    pub fn is_of(&self, os: &str) -> bool {
        self.os.as_ref().is_some_and(|known| known.name == os)
    }
}
