//! Repairs node ports that services have without an allocation, and allocations without a service.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_api_defs::core::v1::Service;
use planesmith_machinery::status::ApiResult;

use super::super::node_ports::NodePorts;
use super::super::report::{Finding, warn};
use super::super::{ServiceAddresses, port_rules};
use super::about_service;

/// The number of repairs that must find a port without a service before it is released: a service may be about to be
/// stored.
const CHECKS_BEFORE_RELEASE: u32 = 3;

const CONTROLLER: &str = "portallocator-repair-controller";

/// Ports that were found without a service, and the number of times.
#[derive(Debug, Default)]
pub(super) struct PortRepair {
    leaked: BTreeMap<i32, u32>,
}

impl PortRepair {
    /// Checks all ports.
    pub(super) async fn run(&mut self, addresses: &ServiceAddresses) {
        let Some(stored) = &addresses.stored_ports else {
            return self.check(addresses, &addresses.ports).await;
        };
        let checked = async {
            // Makes sure that it is there.
            let before = stored.change(|ports| Ok(ports.clone())).await?;
            let ports = NodePorts::holding(addresses.ports.range(), before.clone());
            self.check(addresses, &ports).await;
            let after = ports.all();
            let mend = |ports: &mut BTreeSet<i32>| {
                ports.retain(|port| after.contains(port) || !before.contains(port));
                ports.extend(after.difference(&before));
                Ok(())
            };
            stored.change(mend).await
        };
        let checked: ApiResult<()> = checked.await;
        if let Err(error) = checked {
            tracing::warn!(error = error.message(), "the allocated node ports cannot be checked");
        }
    }

    async fn check(&mut self, addresses: &ServiceAddresses, ports: &NodePorts) {
        let mut used: BTreeSet<i32> = BTreeSet::new();
        for service in addresses.services().all::<Service>() {
            for port in port_rules::ports_of(&service).into_iter().collect::<BTreeSet<_>>() {
                let (reason, message) = if !ports.contains(port) {
                    let range = ports.range();
                    let message = format!("Port {port} is not within the port range {range}; please recreate service");
                    ("PortOutOfRange", message)
                } else if !used.insert(port) {
                    let message = format!("Port {port} was assigned to multiple services; please recreate service");
                    ("PortAlreadyAllocated", message)
                } else if ports.take(port).is_ok() {
                    ("PortNotAllocated", format!("Port {port} is not allocated; repairing"))
                } else {
                    continue;
                };
                let finding = Finding {
                    reason,
                    action: "PortAllocation",
                };
                let about = about_service(&service);
                warn(&addresses.loopback, CONTROLLER, about, finding, &message).await;
            }
        }
        for port in self.overdue(&ports.all(), &used) {
            tracing::warn!(port, "the port of nodes appears to have leaked: cleaning up");
            ports.release(port);
        }
    }

    /// Returns the ports that were found without a service often enough.
    fn overdue(&mut self, taken: &BTreeSet<i32>, used: &BTreeSet<i32>) -> Vec<i32> {
        let missing: BTreeSet<i32> = taken.difference(used).copied().collect();
        self.leaked.retain(|port, _| missing.contains(port));
        for port in missing {
            *self.leaked.entry(port).or_default() += 1;
        }
        let overdue = self.leaked.iter().filter(|(_, count)| **count > CHECKS_BEFORE_RELEASE);
        let overdue: Vec<i32> = overdue.map(|(port, _)| *port).collect();
        for port in &overdue {
            self.leaked.remove(port);
        }
        overdue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_given_back_after_it_was_missing_for_a_while() {
        let mut repair = PortRepair::default();
        let (taken, none) = (BTreeSet::from([30_000, 30_001]), BTreeSet::new());
        let used = BTreeSet::from([30_001]);
        for _ in 0..CHECKS_BEFORE_RELEASE {
            assert!(repair.overdue(&taken, &used).is_empty());
        }
        assert_eq!(repair.overdue(&taken, &used), [30_000]);
        // A port that gets a service in between is counted anew.
        for _ in 0..CHECKS_BEFORE_RELEASE {
            assert!(repair.overdue(&taken, &none).is_empty());
        }
        assert!(repair.overdue(&taken, &taken).is_empty());
        assert!(repair.overdue(&taken, &none).is_empty());
    }
}
