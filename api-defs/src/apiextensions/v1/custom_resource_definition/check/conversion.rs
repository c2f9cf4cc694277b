//! Validation of the conversion between versions.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names::dns_label_1035;
use planesmith_machinery::validation::{WebhookService, check_webhook_address};
use planesmith_machinery::value::Value;

use super::tolerance::Tolerance;
use crate::apiextensions::v1::{CustomResourceDefinitionSpec, WebhookClientConfig};
use crate::certificates::authorities_complaint;

/// Review versions that the server supports.
const KNOWN: [&str; 2] = ["v1", "v1beta1"];

pub(super) fn check(spec: &CustomResourceDefinitionSpec, tolerance: &Tolerance, errors: &mut FieldErrors) {
    let Some(conversion) = &spec.conversion else { return };
    let mut errors = errors.at("conversion");
    let strategy = conversion.strategy.as_str();
    if strategy != "None" && spec.preserve_unknown_fields {
        errors.invalid(
            "strategy",
            strategy,
            "must be None if spec.preserveUnknownFields is true",
        );
    }
    match strategy {
        "" => errors.required("strategy", ""),
        "None" | "Webhook" => {}
        other => errors.not_supported_in_order("strategy", other, &["None", "Webhook"]),
    }
    let webhook = conversion.webhook.as_ref();
    let config = webhook.and_then(|webhook| webhook.client_config.as_ref());
    let reviews = webhook.map_or(&[][..], |webhook| &webhook.conversion_review_versions);
    if strategy == "Webhook" {
        match config {
            None => errors.required("webhookClientConfig", "required when strategy is set to Webhook"),
            Some(config) => check_config(config, tolerance, &mut errors),
        }
        check_reviews(reviews, tolerance.known_review_required, &mut errors);
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if config.is_some() {
        errors.forbidden("webhookClientConfig", detail);
    }
    if !reviews.is_empty() {
        errors.forbidden("conversionReviewVersions", detail);
    }
}

fn check_config(config: &WebhookClientConfig, tolerance: &Tolerance, errors: &mut FieldErrors) {
    let service = config.service.as_ref().map(|service| WebhookService {
        namespace: &service.namespace,
        name: &service.name,
        path: service.path.as_deref(),
        port: service.port.unwrap_or_default(),
    });
    check_webhook_address(errors, "webhookClientConfig", config.url.as_deref(), service);
    if let Some(problem) = authorities_complaint(config.ca_bundle.as_ref()).filter(|_| !tolerance.bad_authorities) {
        let shown: &dyn Value = &config.ca_bundle;
        let detail = format!("unable to load root certificates: {problem}");
        errors.invalid("webhookClientConfig.caBundle", shown, detail);
    }
}

fn check_reviews(versions: &[String], known_required: bool, errors: &mut FieldErrors) {
    if versions.is_empty() {
        errors.required("conversionReviewVersions", "");
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        let mut errors = errors.at_index("conversionReviewVersions", index);
        if !seen.insert(version.as_str()) {
            errors.invalid("", version, "duplicate version");
            continue;
        }
        for problem in dns_label_1035(version) {
            errors.invalid("", version, problem);
        }
    }
    if known_required && !has_known(versions) {
        let detail = format!("must include at least one of {}", KNOWN.join(", "));
        errors.invalid("conversionReviewVersions", versions, detail);
    }
}

/// True if `versions` contains a review version that the server supports.
pub(super) fn has_known(versions: &[String]) -> bool {
    versions.iter().any(|version| KNOWN.contains(&version.as_str()))
}
