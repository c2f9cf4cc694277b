//! The usage that one write adds to the quotas of its namespace.

use std::collections::BTreeSet;

use planesmith_access::admission::{Attributes, Objects, Operation};
use planesmith_api_defs::core::v1::{ResourceList, ResourceQuota, ScopedResourceSelectorRequirement};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};

use super::configuration::LimitedResource;
use super::evaluator::{Evaluator, number};

/// A write that may be charged.
pub(super) struct QuotaRequest<'a> {
    evaluator: &'a Evaluator<'a>,
    attributes: &'a Attributes<'a>,
    object: &'a dyn Object,
    old: Option<&'a dyn Object>,
}

impl<'a> QuotaRequest<'a> {
    /// `None` for a write that does not change the usage.
    pub(super) fn new(
        evaluator: &'a Evaluator<'a>,
        attributes: &'a Attributes<'a>,
        objects: &'a Objects<'_>,
    ) -> Option<Self> {
        let object = objects
            .new
            .as_deref()
            .filter(|_| evaluator.handles(attributes, objects))?;
        Some(Self {
            evaluator,
            attributes,
            object,
            old: objects.old,
        })
    }

    fn refuse<T>(&self, why: impl std::fmt::Display) -> ApiResult<T> {
        Err(self.attributes.forbidden(Some(self.object), why))
    }

    /// Returns the resources of the kind that a quota bounds.
    fn counted<'q>(&self, quota: &'q ResourceQuota) -> Vec<&'q str> {
        let names = quota.status.hard.keys().map(String::as_str);
        names.filter(|name| self.evaluator.counts(name)).collect()
    }

    /// True if a quota counts `object`.
    fn is_counted_by(&self, quota: &ResourceQuota, object: &dyn Object) -> bool {
        let mut scopes = scopes_of(quota);
        !self.counted(quota).is_empty() && scopes.all(|scope| self.evaluator.is_in_scope(object, &scope))
    }

    /// Checks that the object sets everything that a quota needs to count it.
    fn check_against(&self, quota: &ResourceQuota) -> ApiResult<()> {
        let counted = self.counted(quota);
        let name = &quota.metadata.name;
        if let Err(why) = self.evaluator.check(self.object, &counted) {
            return self.refuse(format_args!("failed quota: {name}: {why}"));
        }
        if counted.iter().any(|name| !quota.status.used.contains_key(*name)) {
            let resources = counted.join(",");
            return self.refuse(format_args!("status unknown for quota: {name}, resources: {resources}"));
        }
        Ok(())
    }
}

/// Returns the quotas after the write, in the same order.
///
/// # Errors
///
/// 403 when a quota is exceeded.
pub(super) fn charged(
    quotas: &[ResourceQuota],
    request: &QuotaRequest<'_>,
    limited: &[LimitedResource],
) -> ApiResult<Vec<ResourceQuota>> {
    let mut counting = Vec::new();
    let mut covered_scopes = BTreeSet::new();
    for (index, quota) in quotas.iter().enumerate() {
        let scopes = scopes_of(quota).filter(|scope| request.evaluator.is_in_scope(request.object, scope));
        covered_scopes.extend(scopes.map(|scope| scope.scope_name));
        if request.is_counted_by(quota, request.object) {
            request.check_against(quota)?;
            counting.push(index);
        }
    }
    let usage = request.evaluator.usage(request.object);
    let negative: Vec<&str> = usage
        .iter()
        .filter(|(_, amount)| amount.is_negative())
        .map(|(name, _)| name.as_str())
        .collect();
    if !negative.is_empty() {
        return request.refuse(format_args!(
            "quota usage is negative for resource(s): {}",
            negative.join(",")
        ));
    }
    let grown = match request.old {
        Some(old) if request.attributes.operation == Operation::Update => grown(&usage, &request.evaluator.usage(old)),
        _ => usage.clone(),
    };
    let mut charges = Vec::new();
    for index in counting.iter().copied() {
        // An object that was not counted before is counted in full.
        let was_counted = request
            .old
            .is_some_and(|old| request.is_counted_by(&quotas[index], old));
        let charge = if was_counted { &grown } else { &usage };
        charges.push((index, without_zeros(charge)));
    }
    charges.retain(|(_, charge)| !charge.is_empty());
    if charges.is_empty() && (!counting.is_empty() || without_zeros(&grown).is_empty()) {
        return Ok(quotas.to_vec());
    }
    check_covered(request, limited, &usage, quotas, &counting, &covered_scopes)?;
    let mut charged = quotas.to_vec();
    for (index, charge) in charges {
        add_to(&mut charged[index], &charge, request)?;
    }
    Ok(charged)
}

/// Checks that resources that need a quota have one.
fn check_covered(
    request: &QuotaRequest<'_>,
    limited: &[LimitedResource],
    usage: &ResourceList,
    quotas: &[ResourceQuota],
    counting: &[usize],
    covered_scopes: &BTreeSet<String>,
) -> ApiResult<()> {
    let resource = request.attributes.resource;
    let limits_name = |name: &str| {
        let own = limited
            .iter()
            .filter(|limited| limited.api_group == resource.group && limited.resource == resource.plural);
        own.flat_map(|limited| &limited.match_contains)
            .any(|part| name.contains(part.as_str()))
    };
    let is_covered = |name: &str| {
        counting
            .iter()
            .any(|index| request.counted(&quotas[*index]).contains(&name))
    };
    let uncovered: Vec<&str> = usage
        .iter()
        .filter(|(name, amount)| !amount.is_zero() && limits_name(name) && !is_covered(name))
        .map(|(name, _)| name.as_str())
        .collect();
    if !uncovered.is_empty() {
        return request.refuse(format_args!("insufficient quota to consume: {}", uncovered.join(",")));
    }
    let scopes: Vec<String> = limited
        .iter()
        .flat_map(LimitedResource::scopes)
        .filter(|scope| request.evaluator.is_in_scope(request.object, scope))
        .filter(|scope| !covered_scopes.contains(&scope.scope_name))
        .map(|scope| {
            format!(
                "{{{} {} [{}]}}",
                scope.scope_name,
                scope.operator,
                scope.values.join(" ")
            )
        })
        .collect();
    if scopes.is_empty() {
        return Ok(());
    }
    let why = format!("insufficient quota to match these scopes: [{}]", scopes.join(" "));
    Err(ApiError::unnamed(500, why))
}

/// Adds a charge to the usage of a quota.
fn add_to(quota: &mut ResourceQuota, charge: &ResourceList, request: &QuotaRequest<'_>) -> ApiResult<()> {
    let hard = &quota.status.hard;
    let requested: ResourceList = charge
        .iter()
        .filter(|(name, _)| hard.contains_key(*name))
        .map(|(name, amount)| (name.clone(), amount.clone()))
        .collect();
    let mut used = quota.status.used.clone();
    for (name, amount) in &requested {
        let own = used.entry(name.clone()).or_insert_with(|| number(0));
        *own = own.rounded_add(amount);
    }
    let exceeded: Vec<&str> = requested
        .keys()
        .map(String::as_str)
        .filter(|name| used.get(*name) > hard.get(*name))
        .collect();
    if !exceeded.is_empty() && request.attributes.subresource != "status" {
        let rendered = |list: &ResourceList| {
            let amounts = exceeded.iter().filter_map(|name| Some((name, list.get(*name)?)));
            let amounts: Vec<String> = amounts.map(|(name, amount)| format!("{name}={amount}")).collect();
            amounts.join(",")
        };
        return request.refuse(format_args!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            quota.metadata.name,
            rendered(&requested),
            rendered(&quota.status.used),
            rendered(hard)
        ));
    }
    quota.status.used = used;
    Ok(())
}

/// Returns the scopes that an object must be in to be counted.
pub(super) fn scopes_of(quota: &ResourceQuota) -> impl Iterator<Item = ScopedResourceSelectorRequirement> {
    let plain = quota.spec.scopes.iter().map(|scope| ScopedResourceSelectorRequirement {
        scope_name: scope.clone(),
        operator: "Exists".to_owned(),
        ..ScopedResourceSelectorRequirement::default()
    });
    let selector = quota.spec.scope_selector.iter();
    plain.chain(selector.flat_map(|selector| selector.match_expressions.iter().cloned()))
}

/// Returns the growth of each amount; an amount that shrank counts as zero.
fn grown(now: &ResourceList, before: &ResourceList) -> ResourceList {
    let difference = now.iter().map(|(name, amount)| {
        let amount = match before.get(name) {
            Some(before) => amount.rounded_sub(before),
            None => amount.clone(),
        };
        let grew = !amount.is_negative();
        (name.clone(), if grew { amount } else { number(0) })
    });
    difference.collect()
}

fn without_zeros(list: &ResourceList) -> ResourceList {
    let amounts = list.iter().filter(|(_, amount)| !amount.is_zero());
    amounts.map(|(name, amount)| (name.clone(), amount.clone())).collect()
}
