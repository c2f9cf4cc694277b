//! The requests that a policy or a binding selects.

use std::collections::HashSet;

use planesmith_access::admission::Lister;
use planesmith_api_defs::admissionregistration::v1::{MatchResources, NamedRuleWithOperations};
use planesmith_machinery::status::ApiResult;

use crate::equivalents::Equivalents;
use crate::request::Request;
use crate::rules;
use crate::selectors::{ObjectLabels, Selectors};
use crate::target::Target;

/// The match criteria of a policy or a binding.
#[derive(Debug)]
pub(super) struct Matcher {
    rules: Vec<NamedRuleWithOperations>,
    excluded: Vec<NamedRuleWithOperations>,
    /// True if a rule also selects requests for other versions of its resources.
    matches_equivalents: bool,
    selectors: Selectors,
}

impl Matcher {
    /// Compiles the criteria; absent ones select every request.
    pub(super) fn new(resources: Option<&MatchResources>) -> Self {
        let nothing = MatchResources::default();
        let resources = resources.unwrap_or(&nothing);
        Self {
            rules: resources.resource_rules.clone(),
            excluded: resources.exclude_resource_rules.clone(),
            matches_equivalents: resources.match_policy.as_deref() == Some("Equivalent"),
            selectors: Selectors::new(
                resources.namespace_selector.as_ref(),
                resources.object_selector.as_ref(),
            ),
        }
    }

    /// Adds the plural names that the rules can select to `resources`; false if they can select any resource.
    pub(super) fn name_resources(&self, resources: &mut HashSet<String>) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let names = self
            .rules
            .iter()
            .flat_map(|rule| &rule.rule_with_operations.rule.resources);
        for name in names {
            match name.split('/').next() {
                Some("*") | None => return false,
                Some(plural) => resources.insert(plural.to_owned()),
            };
        }
        true
    }

    /// Returns the version in which the criteria select a request.
    ///
    /// # Errors
    ///
    /// Those of the selectors.
    pub(super) fn selects(
        &self,
        request: &Request<'_>,
        labels: ObjectLabels<'_>,
        (equivalents, lister): (&Equivalents, &dyn Lister),
    ) -> ApiResult<Option<Target>> {
        let equivalents = self.matches_equivalents.then_some(equivalents);
        let find = |rules: &[NamedRuleWithOperations]| rules::find_target_by_name(rules.iter(), request, equivalents);
        let target = match self.rules.is_empty() {
            true => Some(request.target.clone()),
            false => find(&self.rules),
        };
        let Some(target) = target else { return Ok(None) };
        if !self.excluded.is_empty() && find(&self.excluded).is_some() {
            return Ok(None);
        }
        let is_included = self.selectors.include(request, labels, lister)?;
        Ok(is_included.then_some(target))
    }
}
