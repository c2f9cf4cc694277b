//! DNS settings and host aliases of pods.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::{Struct, ip, names};

/// An entry of a pod's /etc/hosts.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HostAlias {
    /// IP address of the entry.
    #[field(proto = 1, keep)]
    pub ip: String,
    /// Host names of the address.
    #[field(proto = 2, list_type = atomic)]
    pub hostnames: Vec<String>,
}

/// DNS settings in addition to those of the DNS policy.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDNSConfig {
    /// IP addresses of name servers in addition to those of the policy. Duplicates are removed.
    #[field(proto = 1, list_type = atomic)]
    pub nameservers: Vec<String>,
    /// Search domains in addition to those of the policy. Duplicates are removed.
    #[field(proto = 2, list_type = atomic)]
    pub searches: Vec<String>,
    /// Resolver options, merged with those of the policy. They take precedence.
    #[field(proto = 3, list_type = atomic)]
    pub options: Vec<PodDNSConfigOption>,
}

/// A resolver option.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDNSConfigOption {
    /// Name of the option, such as ndots.
    #[field(proto = 1)]
    pub name: String,
    /// Value of the option, if it has one.
    #[field(proto = 2)]
    pub value: Option<String>,
}

/// Limits of the Linux C library.
const MAX_SERVERS: usize = 3;
const MAX_DOMAINS: usize = 32;
const MAX_DOMAIN_LETTERS: usize = 2048;

impl HostAlias {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        for problem in ip::check_legacy(&self.ip, errors.features()) {
            errors.invalid("ip", &self.ip, problem);
        }
        for (index, name) in self.hostnames.iter().enumerate() {
            for problem in names::dns_subdomain(name) {
                errors.at_index("hostnames", index).invalid("", name, problem);
            }
        }
    }
}

/// Reports errors in the DNS settings of a pod with this policy.
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
            for problem in ip::check_legacy(server, errors.features()) {
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
