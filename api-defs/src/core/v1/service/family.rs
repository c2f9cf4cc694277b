//! Cluster IPs of a service and their IP families.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::ip::{self, Family};

use super::{NONE, Service};

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/// Reports inconsistent addresses and families of a service.
///
/// The server calls this check before it allocates missing values, and again as part of the validation.
pub fn check_cluster_ips(service: &Service, errors: &mut FieldErrors) {
    let spec = &service.spec;
    // An ExternalName service has neither. Errors are reported together with its type.
    if service.is_external_name() {
        return;
    }
    let ips = &spec.cluster_ips;
    let errors = &mut *errors.at("spec");
    match (spec.cluster_ip.as_str(), ips.first()) {
        ("", Some(_)) => errors.invalid(
            "clusterIPs",
            ips.as_slice(),
            "must be empty when `clusterIP` is not specified",
        ),
        ("", None) => {}
        (_, None) => errors.required("clusterIPs", ""),
        (single, Some(first)) if single != first => {
            errors.invalid("clusterIPs", ips.as_slice(), "first value must match `clusterIP`");
        }
        (_, Some(_)) => {}
    }
    let mut seen = BTreeSet::new();
    for (index, family) in spec.ip_families.iter().enumerate() {
        let errors = &mut *errors.at_index("ipFamilies", index);
        if !FAMILIES.contains(&family.as_str()) {
            errors.not_supported("", family.as_str(), &FAMILIES);
        }
        if !seen.insert(family) {
            errors.duplicate("", family.as_str());
        }
    }
    if let Some(policy) = &spec.ip_family_policy
        && !POLICIES.contains(&policy.as_str())
    {
        errors.not_supported("ipFamilyPolicy", policy.as_str(), &POLICIES);
    }
    if check_addresses(ips, errors) {
        check_families(service, errors);
    }
}

/// Reports errors in the individual addresses. True if all are legal; otherwise checks across addresses make no sense.
fn check_addresses(ips: &[String], errors: &mut FieldErrors) -> bool {
    let mut legal = true;
    for (index, address) in ips.iter().enumerate() {
        if index == 0 && address == NONE {
            if ips.len() > 1 {
                legal = false;
                errors.invalid("clusterIPs", ips, "'None' must be the first and only value");
            }
            continue;
        }
        for complaint in ip::check_legacy(address, errors.features()) {
            legal = false;
            errors.at_index("clusterIPs", index).invalid("", address, complaint);
        }
    }
    if ips.len() > 2 {
        errors.invalid("clusterIPs", ips, "may only hold up to 2 values");
    }
    legal
}

fn check_families(service: &Service, errors: &mut FieldErrors) {
    let spec = &service.spec;
    let ips = &spec.cluster_ips;
    let family = |address: &String| ip::parse(address).map(Family::from_address);
    if ips.len() > 1 && !ips[1..].iter().any(|address| family(address) != family(&ips[0])) {
        let complaint = "may specify no more than one IP for each IP family";
        errors.invalid("clusterIPs", ips.as_slice(), complaint);
    }
    if service.is_headless() {
        return;
    }
    for (index, (address, wanted)) in ips.iter().zip(&spec.ip_families).enumerate() {
        if let Some(wanted) = Family::named(wanted)
            && family(address) != Some(wanted)
        {
            let complaint = format!(
                "expected an {} value as indicated by `ipFamilies[{index}]`",
                wanted.name()
            );
            errors.at_index("clusterIPs", index).invalid("", address, complaint);
        }
    }
}
