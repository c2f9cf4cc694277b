//! Software and hardware of nodes.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

/// Software and hardware of a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeSystemInfo {
    /// ID of the machine in the cluster, from /etc/machine-id.
    #[field(name = "machineID", proto = 1, keep)]
    pub machine_id: String,
    /// UUID of the hardware, from the firmware. Prefer machineID.
    #[field(name = "systemUUID", proto = 2, keep)]
    pub system_uuid: String,
    /// ID of the current boot.
    #[field(name = "bootID", proto = 3, keep)]
    pub boot_id: String,
    /// Version of the kernel, as uname prints it.
    #[field(proto = 4, keep)]
    pub kernel_version: String,
    /// Name of the operating system, from /etc/os-release.
    #[field(proto = 5, keep)]
    pub os_image: String,
    /// Container runtime and its version, such as containerd://2.0.0.
    #[field(proto = 6, keep)]
    pub container_runtime_version: String,
    /// Version of the kubelet.
    #[field(proto = 7, keep)]
    pub kubelet_version: String,
    /// No longer reported.
    #[field(proto = 8, keep)]
    pub kube_proxy_version: String,
    /// Operating system, such as linux.
    #[field(proto = 9, keep)]
    pub operating_system: String,
    /// Processor architecture, such as amd64.
    #[field(proto = 10, keep)]
    pub architecture: String,
    /// Swap memory of the machine.
    #[field(proto = 11)]
    pub swap: Option<NodeSwapStatus>,
}

/// Swap memory of a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeSwapStatus {
    /// Size of the swap memory in bytes.
    #[field(proto = 1)]
    pub capacity: Option<i64>,
}

impl NodeSwapStatus {
    /// Reports an illegal size. The path is that of kube-apiserver.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if let Some(capacity) = self.capacity.filter(|capacity| *capacity <= 0) {
            errors.invalid(
                "metadata.nodeSwapStatus.capacity",
                capacity,
                "must be greater than zero",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_memory_has_a_size() {
        for (capacity, legal) in [(None, true), (Some(1), true), (Some(0), false)] {
            let mut errors = FieldErrors::default();
            NodeSwapStatus { capacity }.check(&mut errors);
            assert_eq!(errors.is_empty(), legal, "{capacity:?}");
        }
    }
}
