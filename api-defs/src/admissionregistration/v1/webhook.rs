//! Checks that both kinds of admission webhooks share.

use std::collections::BTreeSet;

use planesmith_expressions::policy::{PolicyEnvironment, PolicyVariables};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::names;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};

use super::{
    FAILURE_POLICIES, MATCH_POLICIES, MatchCondition, REINVOCATION_POLICIES, RuleWithOperations, WebhookClientConfig,
    check_word, match_condition,
};

/// Review versions that the server supports.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

const SIDE_EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];
const NO_SIDE_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];

/// A view of either kind of webhook.
#[derive(Clone, Copy)]
pub(super) struct Webhook<'a> {
    pub(super) name: &'a str,
    pub(super) client_config: &'a WebhookClientConfig,
    pub(super) rules: &'a [RuleWithOperations],
    pub(super) failure_policy: Option<&'a String>,
    pub(super) match_policy: Option<&'a String>,
    pub(super) namespace_selector: Option<&'a LabelSelector>,
    pub(super) object_selector: Option<&'a LabelSelector>,
    pub(super) side_effects: Option<&'a String>,
    pub(super) timeout_seconds: Option<i32>,
    pub(super) admission_review_versions: &'a [String],
    /// Absent for validating webhooks.
    pub(super) reinvocation_policy: Option<&'a String>,
    pub(super) match_conditions: &'a [MatchCondition],
}

/// Rules that apply to new webhooks only. Webhooks that were stored before a rule existed may keep breaking it.
struct Strictness {
    side_effects: bool,
    review_versions: bool,
    unique_names: bool,
    selectors: SelectorValues,
    conditions: bool,
}

/// Reports errors in `webhooks`, which replace the `old` ones if there are any.
pub(super) fn check(webhooks: &[Webhook<'_>], old: Option<&[Webhook<'_>]>, errors: &mut FieldErrors) {
    let strictness = Strictness::new(webhooks, old);
    let mut names = BTreeSet::new();
    for (index, webhook) in webhooks.iter().enumerate() {
        let errors = &mut *errors.at_index("webhooks", index);
        webhook.check(&strictness, errors);
        webhook.check_review_versions(&strictness, errors);
        if strictness.unique_names && !webhook.name.is_empty() && !names.insert(webhook.name) {
            errors.duplicate("name", webhook.name);
        }
    }
}

impl Strictness {
    fn new(webhooks: &[Webhook<'_>], old: Option<&[Webhook<'_>]>) -> Self {
        let Some(old) = old else {
            return Self {
                side_effects: true,
                review_versions: true,
                unique_names: true,
                selectors: SelectorValues::Legal,
                conditions: true,
            };
        };
        let names: BTreeSet<&str> = old.iter().map(|webhook| webhook.name).collect();
        let same_conditions = webhooks.len() == old.len()
            && webhooks
                .iter()
                .zip(old)
                .all(|(new, old)| new.match_conditions == old.match_conditions);
        Self {
            side_effects: old.iter().all(Webhook::has_no_side_effects),
            review_versions: old.iter().all(Webhook::is_understood),
            unique_names: names.len() == old.len(),
            selectors: match old.iter().any(Webhook::has_illegal_selector) {
                true => SelectorValues::Any,
                false => SelectorValues::Legal,
            },
            conditions: !same_conditions,
        }
    }
}

impl Webhook<'_> {
    fn check(&self, strictness: &Strictness, errors: &mut FieldErrors) {
        if self.name.is_empty() {
            errors.required("name", "");
        } else {
            for complaint in names::fully_qualified_name(self.name) {
                errors.invalid("name", self.name, complaint);
            }
        }
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check(&mut errors.at_index("rules", index));
        }
        check_word("failurePolicy", self.failure_policy, &FAILURE_POLICIES, errors);
        check_word("matchPolicy", self.match_policy, &MATCH_POLICIES, errors);
        let side_effects: &[&str] = match strictness.side_effects {
            true => &NO_SIDE_EFFECTS,
            false => &SIDE_EFFECTS,
        };
        if self.side_effects.is_none() {
            let detail = format!("must specify one of {}", side_effects.join(", "));
            errors.required("sideEffects", detail);
        }
        check_word("sideEffects", self.side_effects, side_effects, errors);
        if let Some(seconds) = self.timeout_seconds
            && !(1..=30).contains(&seconds)
        {
            let detail = "the timeout value must be between 1 and 30 seconds";
            errors.invalid("timeoutSeconds", seconds, detail);
        }
        for (field, selector) in self.selectors() {
            check_label_selector(selector, strictness.selectors, &mut errors.at(field));
        }
        check_word(
            "reinvocationPolicy",
            self.reinvocation_policy,
            &REINVOCATION_POLICIES,
            errors,
        );
        self.client_config.check(errors);
        if strictness.conditions {
            let environment = PolicyEnvironment::new(PolicyVariables {
                authorizer: true,
                ..PolicyVariables::default()
            });
            match_condition::check("matchConditions", self.match_conditions, &environment, errors);
        }
    }

    fn check_review_versions(&self, strictness: &Strictness, errors: &mut FieldErrors) {
        const FIELD: &str = "admissionReviewVersions";
        let versions = self.admission_review_versions;
        if versions.is_empty() {
            errors.required(FIELD, format!("must specify one of {}", REVIEW_VERSIONS.join(", ")));
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, version) in versions.iter().enumerate() {
            let errors = &mut *errors.at_index(FIELD, index);
            if !seen.insert(version) {
                errors.invalid("", version, "duplicate version");
                continue;
            }
            for complaint in names::dns_label_1035(version) {
                errors.invalid("", version, complaint);
            }
        }
        if strictness.review_versions && !self.is_understood() {
            let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
            errors.invalid(FIELD, versions, detail);
        }
    }

    fn selectors(&self) -> impl Iterator<Item = (&'static str, &LabelSelector)> {
        let namespaces = self.namespace_selector.map(|selector| ("namespaceSelector", selector));
        let objects = self.object_selector.map(|selector| ("objectSelector", selector));
        namespaces.into_iter().chain(objects)
    }

    fn has_illegal_selector(&self) -> bool {
        self.selectors().any(|(_, selector)| {
            let mut errors = FieldErrors::default();
            check_label_selector(selector, SelectorValues::Legal, &mut errors);
            !errors.is_empty()
        })
    }

    fn has_no_side_effects(&self) -> bool {
        self.side_effects
            .is_some_and(|effects| NO_SIDE_EFFECTS.contains(&effects.as_str()))
    }

    /// True if the webhook lists a review version that the server supports, or lists none.
    fn is_understood(&self) -> bool {
        let versions = self.admission_review_versions;
        versions.is_empty()
            || versions
                .iter()
                .any(|version| REVIEW_VERSIONS.contains(&version.as_str()))
    }
}
