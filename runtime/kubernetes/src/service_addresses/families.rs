//! The number and the IP families of a service's addresses.

use planesmith_api_defs::core::v1::{Service, check_cluster_ips};
use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::ip::{self, Family};
use planesmith_machinery::value::Value;

const SINGLE: &str = "SingleStack";
const PREFER: &str = "PreferDualStack";
const REQUIRE: &str = "RequireDualStack";

const POLICY: &str = "spec.ipFamilyPolicy";

/// The families that the cluster has addresses of; the first is the default of services.
#[derive(Clone, Debug)]
pub(super) struct ClusterFamilies(pub(super) Vec<Family>);

/// Sets the policy and the families of a service where the client left them open, on a server with `features`.
///
/// # Errors
///
/// The request contradicts itself, or needs a family that the cluster does not have.
pub(super) fn settle(
    service: &mut Service,
    old: Option<&Service>,
    cluster: &ClusterFamilies,
    features: &Features,
) -> Result<(), Box<FieldErrors>> {
    if service.is_external_name() || keeps_preference(service, old) {
        return Ok(());
    }
    choose_policy(service, old);
    let mut errors = FieldErrors::new(features);
    check_cluster_ips(service, &mut errors);
    refuse(errors)?;
    let mut errors = FieldErrors::default();
    if let Some(old) = old {
        release_second(service, old, &mut errors);
    }
    check_single(service, &mut errors);
    infer_families(service, cluster, &mut errors);
    refuse(errors)?;
    if service.spec.cluster_ip == "None" && service.spec.selector.is_empty() {
        // The addresses of a headless service without a selector are not the server's: two families are legal in any
        // cluster.
        complete(service, cluster, true);
        return Ok(());
    }
    let mut errors = FieldErrors::default();
    if service.family_policy() == REQUIRE && cluster.0.len() < 2 {
        let complaint = "this cluster is not configured for dual-stack services";
        errors.invalid(POLICY, policy(service), complaint);
    }
    for (index, family) in service.spec.ip_families.iter().enumerate() {
        if !cluster.has(family) {
            let mut errors = errors.at_index("spec.ipFamilies", index);
            errors.invalid("", family, "not configured on this cluster");
        }
    }
    refuse(errors)?;
    complete(service, cluster, cluster.0.len() == 2);
    Ok(())
}

impl ClusterFamilies {
    fn has(&self, name: &str) -> bool {
        Family::named(name).is_some_and(|family| self.0.contains(&family))
    }

    fn first(&self) -> Family {
        self.0.first().copied().unwrap_or(Family::V4)
    }
}

fn refuse(errors: FieldErrors) -> Result<(), Box<FieldErrors>> {
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Box::new(errors)),
    }
}

fn policy(service: &Service) -> &dyn Value {
    &service.spec.ip_family_policy
}

/// True if a service that prefers two families stays as it is: it gets no second address, and loses none, only
/// because the cluster has changed.
pub(super) fn keeps_preference(new: &Service, old: Option<&Service>) -> bool {
    let Some(old) = old else {
        return false;
    };
    let old_policy = old.spec.ip_family_policy.as_deref();
    new.spec.type_ == old.spec.type_
        && matches!(new.spec.type_.as_str(), "ClusterIP" | "NodePort" | "LoadBalancer")
        && new.family_policy() == PREFER
        && old_policy.is_none_or(|policy| policy == PREFER)
        && new.spec.cluster_ips == old.spec.cluster_ips
        && new.spec.ip_families == old.spec.ip_families
}

fn choose_policy(service: &mut Service, old: Option<&Service>) {
    if service.spec.ip_family_policy.is_some() {
        return;
    }
    let inherited = old.and_then(|old| old.spec.ip_family_policy.clone());
    let headless = service.spec.cluster_ip == "None" && service.spec.selector.is_empty();
    let usual = if headless { REQUIRE } else { SINGLE };
    service.spec.ip_family_policy = Some(inherited.unwrap_or_else(|| usual.to_owned()));
}

/// Drops the second of two addresses and families if the policy is SingleStack; refuses to drop it otherwise.
fn release_second(service: &mut Service, old: &Service, errors: &mut FieldErrors) {
    let (new, old) = (&mut service.spec, &old.spec);
    if new.ip_family_policy.as_deref() == Some(SINGLE) {
        if new.cluster_ips == old.cluster_ips {
            new.cluster_ips.truncate(1);
        }
        if new.ip_families == old.ip_families {
            new.ip_families.truncate(1);
        }
        return;
    }
    let fewer = |new: &[String], old: &[String]| !new.is_empty() && new.len() < old.len();
    let reduced = [
        (fewer(&new.cluster_ips, &old.cluster_ips), "cluster IP"),
        (fewer(&new.ip_families, &old.ip_families), "IP family"),
    ];
    for (_, what) in reduced.iter().filter(|(reduced, _)| *reduced) {
        let complaint = format!("must be 'SingleStack' to release the secondary {what}");
        errors.invalid(POLICY, &new.ip_family_policy as &dyn Value, complaint);
    }
}

fn check_single(service: &Service, errors: &mut FieldErrors) {
    if service.family_policy() != SINGLE {
        return;
    }
    for (count, what) in [
        (service.spec.cluster_ips.len(), "cluster IPs"),
        (service.spec.ip_families.len(), "IP families"),
    ] {
        if count == 2 {
            let complaint =
                format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
            errors.invalid(POLICY, policy(service), complaint);
        }
    }
}

/// Sets the families of the given addresses.
fn infer_families(service: &mut Service, cluster: &ClusterFamilies, errors: &mut FieldErrors) {
    let spec = &mut service.spec;
    for (index, address) in spec
        .cluster_ips
        .iter()
        .enumerate()
        .take_while(|(_, address)| *address != "None")
    {
        if index < spec.ip_families.len() {
            continue;
        }
        let family = ip::parse(address).map_or("unknown", |address| Family::from_address(address).name());
        if cluster.has(family) {
            spec.ip_families.push(family.to_owned());
        } else {
            let complaint = format!("{family} is not configured on this cluster");
            let mut errors = errors.at_index("spec.clusterIPs", index);
            errors.invalid("", spec.cluster_ips.as_slice(), complaint);
        }
    }
}

/// Gives the service the cluster's first family if it has none, and, `with_second`, another one if its policy is for
/// two.
fn complete(service: &mut Service, cluster: &ClusterFamilies, with_second: bool) {
    let single = service.family_policy() == SINGLE;
    let families = &mut service.spec.ip_families;
    if families.is_empty() {
        families.push(cluster.first().name().to_owned());
    }
    if with_second
        && !single
        && let [first] = families.as_slice()
        && let Some(first) = Family::named(first)
    {
        families.push(first.other().name().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::json::{Strictness, from_value};
    use serde_json::{Value, json};

    use super::*;

    fn service(spec: &Value) -> Service {
        let mut service = Service::default();
        from_value(&json!({"spec": spec}), &mut service, Strictness::Strict).unwrap();
        if service.spec.type_.is_empty() {
            "ClusterIP".clone_into(&mut service.spec.type_);
        }
        service
    }

    fn settled(spec: &Value, old: Option<&Value>, cluster: &[Family]) -> Result<(String, Vec<String>), String> {
        let (mut new, old) = (service(spec), old.map(service));
        match settle(
            &mut new,
            old.as_ref(),
            &ClusterFamilies(cluster.to_vec()),
            Features::defaults(),
        ) {
            Ok(()) => Ok((new.family_policy().to_owned(), new.spec.ip_families)),
            Err(errors) => Err(errors
                .as_slice()
                .iter()
                .map(|error| error.message())
                .collect::<Vec<_>>()
                .join("; ")),
        }
    }

    const ONE: &[Family] = &[Family::V4];
    const TWO: &[Family] = &[Family::V6, Family::V4];

    #[test]
    fn open_fields_follow_the_cluster() {
        let outcome = |policy: &str, families: &[&str]| {
            Ok((
                policy.to_owned(),
                families.iter().map(|family| (*family).to_owned()).collect(),
            ))
        };
        for (spec, cluster, expected) in [
            (json!({}), ONE, outcome(SINGLE, &["IPv4"])),
            (json!({}), TWO, outcome(SINGLE, &["IPv6"])),
            (json!({"ipFamilyPolicy": PREFER}), ONE, outcome(PREFER, &["IPv4"])),
            (
                json!({"ipFamilyPolicy": PREFER}),
                TWO,
                outcome(PREFER, &["IPv6", "IPv4"]),
            ),
            (
                json!({"ipFamilyPolicy": REQUIRE, "ipFamilies": ["IPv4"]}),
                TWO,
                outcome(REQUIRE, &["IPv4", "IPv6"]),
            ),
            (
                json!({"clusterIP": "None", "clusterIPs": ["None"]}),
                ONE,
                outcome(REQUIRE, &["IPv4", "IPv6"]),
            ),
            (
                json!({"clusterIP": "None", "clusterIPs": ["None"], "selector": {"a": "b"}}),
                ONE,
                outcome(SINGLE, &["IPv4"]),
            ),
        ] {
            assert_eq!(settled(&spec, None, cluster), expected, "{spec}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for (spec, expected) in [
            (
                json!({"ipFamilyPolicy": REQUIRE}),
                "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack \
                 services",
            ),
            (
                json!({"ipFamilies": ["IPv6"]}),
                "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
            ),
            (
                json!({"ipFamilies": ["IPv4", "IPv6"]}),
                "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when \
                 multiple IP families are specified",
            ),
            (
                json!({"clusterIP": "2001:db8::1", "clusterIPs": ["2001:db8::1"]}),
                "spec.clusterIPs[0]: Invalid value: [\"2001:db8::1\"]: IPv6 is not configured on this cluster",
            ),
        ] {
            assert_eq!(settled(&spec, None, ONE), Err(expected.to_owned()));
        }
    }

    #[test]
    fn the_second_family_goes_by_the_word_of_the_policy_only() {
        let old = json!({
            "ipFamilyPolicy": REQUIRE, "ipFamilies": ["IPv6", "IPv4"],
            "clusterIP": "2001:db8::1", "clusterIPs": ["2001:db8::1", "10.0.0.1"],
        });
        let mut downgraded = old.clone();
        downgraded["ipFamilyPolicy"] = SINGLE.into();
        let outcome = settled(&downgraded, Some(&old), TWO);
        assert_eq!(outcome, Ok((SINGLE.to_owned(), vec!["IPv6".to_owned()])));
        let mut reduced = old.clone();
        reduced["clusterIPs"] = json!(["2001:db8::1"]);
        assert_eq!(
            settled(&reduced, Some(&old), TWO),
            Err("spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be 'SingleStack' to release the secondary \
                 cluster IP"
                .to_owned())
        );
    }
}
