use planesmith_machinery::quantity::Quantity;

use super::*;

fn hard(resources: &[&str]) -> ResourceList {
    let amount = || "1".parse::<Quantity>().expect("a quantity");
    resources
        .iter()
        .map(|resource| ((*resource).to_owned(), amount()))
        .collect()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn messages(spec: ResourceQuotaSpec) -> Vec<String> {
    let quota = ResourceQuota {
        spec,
        ..ResourceQuota::default()
    };
    let mut errors = FieldErrors::default();
    quota.validate(&mut errors);
    errors.as_slice().iter().map(|error| error.message()).collect()
}

fn requirement(scope: &str, operator: &str, values: &[&str]) -> ScopedResourceSelectorRequirement {
    ScopedResourceSelectorRequirement {
        scope_name: scope.to_owned(),
        operator: operator.to_owned(),
        values: texts(values),
    }
}

#[test]
fn resources_of_domains_and_counts_of_kinds_are_free() {
    let spec = ResourceQuotaSpec {
        hard: hard(&[
            "count/widgets.example.com",
            "requests.example.com/gpu",
            "requests.hugepages-2Mi",
        ]),
        ..ResourceQuotaSpec::default()
    };
    assert_eq!(messages(spec), Vec::<String>::new());
}

#[test]
fn storage_without_requests_is_not_counted() {
    let spec = ResourceQuotaSpec {
        hard: hard(&["storage"]),
        ..ResourceQuotaSpec::default()
    };
    assert_eq!(
        messages(spec),
        ["spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for quota"]
    );
}

#[test]
fn scopes_of_claims_do_not_bound_pods() {
    let spec = ResourceQuotaSpec {
        hard: hard(&["pods"]),
        scope_selector: Some(ScopeSelector {
            match_expressions: vec![requirement("VolumeAttributesClass", "In", &["gold"])],
        }),
        ..ResourceQuotaSpec::default()
    };
    assert_eq!(
        messages(spec),
        [
            "spec.scopeSelector.matchExpressions: Invalid value: {\"MatchExpressions\":[{\"ScopeName\":\
             \"VolumeAttributesClass\",\"Operator\":\"In\",\"Values\":[\"gold\"]}]}: unsupported scope applied to \
             resource"
        ]
    );
}

#[test]
fn scopes_may_change_places_only() {
    let quota = |scopes: &[&str]| ResourceQuota {
        spec: ResourceQuotaSpec {
            scopes: texts(scopes),
            ..ResourceQuotaSpec::default()
        },
        ..ResourceQuota::default()
    };
    let old = quota(&["BestEffort", "Terminating"]);
    let mut errors = FieldErrors::default();
    quota(&["Terminating", "BestEffort"]).validate_update(&old, &mut errors);
    assert!(errors.is_empty());
    quota(&["Terminating"]).validate_update(&old, &mut errors);
    assert_eq!(
        errors.joined().as_deref(),
        Some("spec.scopes: Invalid value: [\"Terminating\"]: field is immutable")
    );
}

#[test]
fn new_quotas_with_more_requests_than_limits_cause_warnings() {
    let amounts = [
        ("limits.cpu", "2"),
        ("limits.ephemeral-storage", "1"),
        ("limits.memory", "1Gi"),
        ("limits.storage", "1"),
        ("memory", "2Gi"),
        ("requests.cpu", "4"),
        ("requests.ephemeral-storage", "1"),
        ("storage", "2"),
    ];
    let mut quota = ResourceQuota::default();
    for (resource, amount) in amounts {
        let amount = amount.parse().expect("a quantity");
        quota.spec.hard.insert(resource.to_owned(), amount);
    }
    assert_eq!(
        quota.warnings_on_create(),
        [
            "ResourceQuota requests.cpu (4) should be less than limits.cpu (2)",
            "ResourceQuota memory (2Gi) should be less than limits.memory (1Gi)",
        ]
    );
    assert!(quota.warnings_on_update(&quota).is_empty());
}
