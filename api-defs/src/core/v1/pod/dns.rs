//! Names that a pod resolves in its own way.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::{Struct, ip, names};

/// A line for the file /etc/hosts of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HostAlias {
    /// The address that the names stand for.
    #[field(proto = 1, keep)]
    pub ip: String,
    /// Names that /etc/hosts of the pod gives to the address.
    #[field(proto = 2, list_type = atomic)]
    pub hostnames: Vec<String>,
}

/// Settings for resolving names, added to those of the DNS policy.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDNSConfig {
    /// Addresses of servers; asked besides those of the policy. Repeated ones count once.
    #[field(proto = 1, list_type = atomic)]
    pub nameservers: Vec<String>,
    /// Domains in which short names are looked up, besides those of the policy. Repeated ones count once.
    #[field(proto = 2, list_type = atomic)]
    pub searches: Vec<String>,
    /// Options of the resolver, merged with those of the policy; these win.
    #[field(proto = 3, list_type = atomic)]
    pub options: Vec<PodDNSConfigOption>,
}

/// An option of the resolver.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDNSConfigOption {
    /// Name of an option of the resolver, such as ndots.
    #[field(proto = 1)]
    pub name: String,
    /// Its value, when it takes one.
    #[field(proto = 2)]
    pub value: Option<String>,
}

/// Limits of the Linux C library.
const MAX_SERVERS: usize = 3;
const MAX_DOMAINS: usize = 32;
const MAX_DOMAIN_LETTERS: usize = 2048;

impl HostAlias {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        for problem in ip::check_legacy(&self.ip) {
            errors.invalid("ip", &self.ip, problem);
        }
        for (index, name) in self.hostnames.iter().enumerate() {
            for problem in names::dns_subdomain(name) {
                errors.at_index("hostnames", index).invalid("", name, problem);
            }
        }
    }
}

/// Reports what is wrong with how a pod with this policy resolves names.
pub(super) fn check_dns(config: Option<&PodDNSConfig>, policy: &str, errors: &mut FieldErrors) {
    let mut errors = errors.at("dnsConfig");
    match config {
        None if policy == "None" => {
            errors.required("", "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        Some(config) if policy == "None" && config.nameservers.is_empty() => {
            let problem = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.required("nameservers", problem);
        }
        None => {}
        Some(config) => config.check(&mut errors),
    }
}

impl PodDNSConfig {
    fn check(&self, errors: &mut FieldErrors) {
        let (servers, searches) = (self.nameservers.as_slice(), self.searches.as_slice());
        if servers.len() > MAX_SERVERS {
            let problem = format!("must not have more than {MAX_SERVERS} nameservers");
            errors.invalid("nameservers", servers, problem);
        }
        for (index, server) in servers.iter().enumerate() {
            for problem in ip::check_legacy(server) {
                errors.at_index("nameservers", index).invalid("", server, problem);
            }
        }
        if searches.len() > MAX_DOMAINS {
            let problem = format!("must not have more than {MAX_DOMAINS} search paths");
            errors.invalid("searches", searches, problem);
        }
        if searches.join(" ").len() > MAX_DOMAIN_LETTERS {
            let problem = format!(
                "must not have more than {MAX_DOMAIN_LETTERS} characters (including spaces) in the search list"
            );
            errors.invalid("searches", searches, problem);
        }
        for (index, search) in searches.iter().enumerate().filter(|(_, search)| *search != ".") {
            let search = search.strip_suffix('.').unwrap_or(search);
            for problem in names::dns_subdomain_with_underscores(search) {
                errors.at_index("searches", index).invalid("", search, problem);
            }
        }
        for (index, _) in self
            .options
            .iter()
            .enumerate()
            .filter(|(_, option)| option.name.is_empty())
        {
            errors.at_index("options", index).required("", "must not be empty");
        }
    }
}
