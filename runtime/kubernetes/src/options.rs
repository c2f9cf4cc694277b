//! Flags about built-in kinds, with the names that they have in kube-apiserver.

mod address_range;
mod kubelets;
mod port_range;

use anyhow::{Result, ensure};
use clap::{ArgAction, Args, FromArgMatches as _, ValueEnum};
use planesmith_control_plane::options::Options;

pub use self::address_range::AddressRange;
pub use self::kubelets::KubeletOptions;
pub use self::port_range::PortRange;

/// Flags about built-in kinds.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Services and nodes")]
pub struct KubernetesOptions {
    /// Seconds that pods tolerate a node that is not ready, unless they say otherwise.
    #[arg(long, default_value_t = 300, value_name = "SECONDS", help_heading = "Admission")]
    pub default_not_ready_toleration_seconds: i64,

    /// Seconds that pods tolerate a node that cannot be reached, unless they say otherwise.
    #[arg(long, default_value_t = 300, value_name = "SECONDS", help_heading = "Admission")]
    pub default_unreachable_toleration_seconds: i64,

    /// Let containers be privileged: as powerful as root on their node.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL", help_heading = "Admission")]
    pub allow_privileged: bool,

    /// Addresses for Services: one range, or an IPv4 and an IPv6 range.
    #[arg(long, value_delimiter = ',', default_value = "10.0.0.0/24", value_name = "CIDR")]
    pub service_cluster_ip_range: Vec<AddressRange>,

    /// Ports of nodes for Services, both ends included.
    #[arg(long, default_value = "30000-32767", value_name = "PORTS")]
    pub service_node_port_range: PortRange,

    /// If not 0, the Service kubernetes is of type NodePort and has this port on every node.
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    pub kubernetes_service_node_port: u16,

    /// Endpoints of the Service kubernetes. lease: the addresses of all servers that renew their leases in the store; master-count
    /// means the same. none: no server changes them.
    #[arg(long, value_enum, default_value = "lease", value_name = "TYPE")]
    pub endpoint_reconciler_type: EndpointReconciler,

    /// Divide the server's capacity among requests by the stored flow schemas and priority levels. Without, only the
    /// numbers of requests in flight are limited.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL", help_heading = "Limits")]
    pub enable_priority_and_fairness: bool,

    /// Flags about kubelets.
    #[command(flatten)]
    pub kubelets: KubeletOptions,
}

/// A way in which servers maintain the endpoints of the Service kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EndpointReconciler {
    /// By leases in the store.
    Lease,
    /// The former way, which is by leases, too.
    MasterCount,
    /// Not at all.
    None,
}

impl KubernetesOptions {
    /// Returns the flags that `options` were parsed with.
    ///
    /// # Errors
    ///
    /// A program without the component has no such flags.
    pub fn from_options(options: &Options) -> Result<Self> {
        let matches = &options.matches;
        let is_listed = matches.try_contains_id("service_cluster_ip_range").is_ok();
        ensure!(
            is_listed,
            "the program does not list the component of built-in kinds, which has their flags"
        );
        Ok(Self::from_arg_matches(matches)?)
    }

    /// Checks the flags together.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.service_cluster_ip_range.as_slice() {
            [_] => {}
            [first, second] if first.is_ipv4() != second.is_ipv4() => {}
            [_, _] => {
                return Err(
                    "--service-cluster-ip-range has two ranges of one family; expected an IPv4 and an IPv6 range"
                        .to_owned(),
                );
            }
            ranges => {
                return Err(format!(
                    "--service-cluster-ip-range has {} ranges; expected one or two",
                    ranges.len()
                ));
            }
        }
        let (port, range) = (self.kubernetes_service_node_port, self.service_node_port_range);
        if port != 0 && !range.ports().contains(&port) {
            return Err(format!(
                "--kubernetes-service-node-port is {port}; expected one of --service-node-port-range {range}, or 0"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::*;
    use crate::COMPONENT;

    /// Parses a command line with the flags of every server and those of this crate.
    pub(crate) fn options(flags: &[&str]) -> Result<Options, String> {
        let command = COMPONENT.flags(Options::command());
        let matches = command.try_get_matches_from(std::iter::once(&"planesmith").chain(flags));
        let matches = matches.map_err(|error| error.to_string())?;
        COMPONENT.check_flags(&matches)?;
        let mut options = Options::from_arg_matches(&matches).map_err(|error| error.to_string())?;
        options.matches = matches;
        Ok(options)
    }

    fn parse(flags: &[&str]) -> Result<KubernetesOptions, String> {
        KubernetesOptions::from_options(&options(flags)?).map_err(|error| error.to_string())
    }

    #[test]
    fn the_port_of_the_service_kubernetes_is_one_of_the_range() {
        assert_eq!(parse(&[]).unwrap().kubernetes_service_node_port, 0);
        assert!(parse(&["--kubernetes-service-node-port=30443"]).is_ok());
        let error = parse(&["--kubernetes-service-node-port=443"]).unwrap_err();
        assert_eq!(
            error,
            "--kubernetes-service-node-port is 443; expected one of --service-node-port-range 30000-32767, or 0"
        );
    }

    #[test]
    fn flags_are_taken_as_kube_apiserver_takes_them() {
        let options = parse(&[
            "--service-cluster-ip-range=10.96.0.0/16,fd00::/108",
            "--allow-privileged",
        ])
        .unwrap();
        assert_eq!(options.service_cluster_ip_range.len(), 2);
        assert!(options.allow_privileged);
    }

    #[test]
    fn wrong_values_say_what_was_expected() {
        for (flag, expected) in [
            (
                "--service-cluster-ip-range=10.0.0.0",
                "expected an address range such as 10.0.0.0/24",
            ),
            (
                "--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24",
                "two ranges of one family",
            ),
        ] {
            let error = parse(&[flag]).unwrap_err();
            assert!(error.contains(expected), "{flag}: {error}");
        }
    }

    #[test]
    fn a_server_without_the_component_has_none_of_the_flags() {
        let matches = Options::command().try_get_matches_from(["shop"]).unwrap();
        let mut options = Options::from_arg_matches(&matches).unwrap();
        options.matches = matches;
        assert!(KubernetesOptions::from_options(&options).is_err());
        assert!(
            Options::command()
                .try_get_matches_from(["shop", "--allow-privileged"])
                .is_err()
        );
    }
}
