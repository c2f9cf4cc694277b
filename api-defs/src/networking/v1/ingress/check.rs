//! Validation of ingresses.

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::{ip, names};

use super::{HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressServiceBackend, IngressSpec, IngressTLS};
use crate::core::v1::TypedLocalObjectReference;
use crate::features::RELAXED_SERVICE_NAME_VALIDATION;
use crate::networking::v1::reference::check_group_kind_name;

const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];
const ILLEGAL_PARTS: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const ILLEGAL_ENDS: [&str; 2] = ["/..", "/."];

/// Rule violations that an update may keep because the stored ingress already has them.
#[derive(Clone, Copy, Default)]
struct Tolerance {
    secret_names: bool,
    wildcard_rules: bool,
    service_names: bool,
}

impl Ingress {
    /// Reports errors in the ingress, which replaces `old`.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let mut tolerance = old.map(|old| Tolerance::from_spec(&old.spec)).unwrap_or_default();
        tolerance.service_names |= errors.features().has(&RELAXED_SERVICE_NAME_VALIDATION);
        self.spec.check(tolerance, &mut errors.at("spec"));
    }
}

impl Tolerance {
    fn from_spec(spec: &IngressSpec) -> Self {
        let bad_rule = |rule: &IngressRule| {
            let mut errors = FieldErrors::default();
            rule.check_paths(Self::default(), &mut errors);
            rule.host.contains('*') && !errors.is_empty()
        };
        Self {
            secret_names: spec.tls.iter().any(|tls| !secret_name_complaints(tls).is_empty()),
            wildcard_rules: spec.rules.iter().any(bad_rule),
            service_names: spec.backends().any(IngressBackend::has_relaxed_name),
        }
    }
}

impl IngressSpec {
    fn backends(&self) -> impl Iterator<Item = &IngressBackend> {
        let rules = self
            .rules
            .iter()
            .filter_map(|rule| rule.ingress_rule_value.http.as_ref());
        let paths = rules.flat_map(|http| &http.paths);
        self.default_backend.iter().chain(paths.map(|path| &path.backend))
    }

    fn check(&self, tolerance: Tolerance, errors: &mut FieldErrors) {
        if self.rules.is_empty() && self.default_backend.is_none() {
            // The error is about the spec, and shows the rules.
            let rules = if errors.was_sent_empty("rules") { "[]" } else { "null" };
            errors.invalid("", Json(rules), "either `defaultBackend` or `rules` must be specified");
        }
        if let Some(backend) = &self.default_backend {
            backend.check(tolerance, &mut errors.at("defaultBackend"));
        }
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check(tolerance, &mut errors.at_index("rules", index));
        }
        for (index, tls) in self.tls.iter().enumerate() {
            tls.check(tolerance, &mut errors.at_index("tls", index));
        }
        if let Some(class) = &self.ingress_class_name {
            for complaint in names::dns_subdomain(class) {
                errors.invalid("ingressClassName", class, complaint);
            }
        }
    }
}

/// Returns the errors in a host, which may start with a wildcard.
fn host_complaints(host: &str) -> names::Complaints {
    match host.contains('*') {
        true => names::wildcard_subdomain(host),
        false => names::dns_subdomain(host),
    }
}

fn secret_name_complaints(tls: &IngressTLS) -> names::Complaints {
    match tls.secret_name.as_str() {
        "" => Vec::new(),
        name => names::dns_subdomain(name),
    }
}

impl IngressTLS {
    fn check(&self, tolerance: Tolerance, errors: &mut FieldErrors) {
        for (index, host) in self.hosts.iter().enumerate() {
            for complaint in host_complaints(host) {
                errors.at_index("hosts", index).invalid("", host, complaint);
            }
        }
        if !tolerance.secret_names {
            for complaint in secret_name_complaints(self) {
                errors.invalid("secretName", &self.secret_name, complaint);
            }
        }
    }
}

impl IngressRule {
    fn check(&self, tolerance: Tolerance, errors: &mut FieldErrors) {
        let host = &self.host;
        if !host.is_empty() {
            if ip::parse(host).is_some() {
                errors.invalid("host", host, "must be a DNS name, not an IP address");
            }
            for complaint in host_complaints(host) {
                errors.invalid("host", host, complaint);
            }
        }
        if !host.contains('*') || !tolerance.wildcard_rules {
            self.check_paths(tolerance, errors);
        }
    }

    fn check_paths(&self, tolerance: Tolerance, errors: &mut FieldErrors) {
        let Some(http) = &self.ingress_rule_value.http else {
            return;
        };
        let errors = &mut *errors.at("http");
        if http.paths.is_empty() {
            errors.required("paths", "");
        }
        for (index, path) in http.paths.iter().enumerate() {
            path.check(tolerance, &mut errors.at_index("paths", index));
        }
    }
}

impl HTTPIngressPath {
    fn check(&self, tolerance: Tolerance, errors: &mut FieldErrors) {
        const RELATIVE: &str = "must be an absolute path";
        let path = &self.path;
        let Some(path_type) = self.path_type.as_deref() else {
            return errors.required("pathType", "pathType must be specified");
        };
        match path_type {
            "Exact" | "Prefix" => {
                if !path.starts_with('/') {
                    errors.invalid("path", path, RELATIVE);
                }
                for part in ILLEGAL_PARTS.iter().filter(|part| path.contains(**part)) {
                    errors.invalid("path", path, format!("must not contain '{part}'"));
                }
                for end in ILLEGAL_ENDS.iter().filter(|end| path.ends_with(**end)) {
                    errors.invalid("path", path, format!("cannot end with '{end}'"));
                }
            }
            "ImplementationSpecific" => {
                if !path.is_empty() && !path.starts_with('/') {
                    errors.invalid("path", path, RELATIVE);
                }
            }
            other => errors.not_supported("pathType", other, &PATH_TYPES),
        }
        self.backend.check(tolerance, &mut errors.at("backend"));
    }
}

impl IngressBackend {
    /// True if the service's name was illegal before names could start with a digit.
    fn has_relaxed_name(&self) -> bool {
        let name = self.service.as_ref().map(|service| service.name.as_str());
        name.is_some_and(|name| names::dns_label(name).is_empty() && !names::dns_label_1035(name).is_empty())
    }

    fn check(&self, tolerance: Tolerance, errors: &mut FieldErrors) {
        match (&self.resource, &self.service) {
            (Some(_), Some(_)) => errors.invalid("", "", "cannot set both resource and service backends"),
            (Some(resource), None) => check_resource(resource, &mut errors.at("resource")),
            (None, Some(service)) => service.check(tolerance, errors),
            (None, None) => errors.invalid("", "", "resource or service backend is required"),
        }
    }
}

impl IngressServiceBackend {
    fn check(&self, tolerance: Tolerance, errors: &mut FieldErrors) {
        if self.name.is_empty() {
            errors.required("service.name", "");
        } else {
            let complaints = match tolerance.service_names {
                true => names::dns_label(&self.name),
                false => names::dns_label_1035(&self.name),
            };
            for complaint in complaints {
                errors.invalid("service.name", &self.name, complaint);
            }
        }
        let port = &self.port;
        match (port.name.as_str(), port.number) {
            ("", 0) => errors.required("", "port name or number is required"),
            ("", number) => {
                for complaint in names::port_number(i64::from(number)) {
                    errors.invalid("service.port.number", number, complaint);
                }
            }
            (name, 0) => {
                for complaint in names::port_name(name) {
                    errors.invalid("service.port.name", name, complaint);
                }
            }
            _ => errors.invalid("", "", "cannot set both port name & port number"),
        }
    }
}

fn check_resource(resource: &TypedLocalObjectReference, errors: &mut FieldErrors) {
    check_group_kind_name(resource.api_group.as_deref(), &resource.kind, &resource.name, errors);
}
