//! Which software and hardware a node runs on.

use planesmith_machinery::Struct;

/// Which software and hardware a node runs on.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeSystemInfo {
    /// Identity of the machine in the cluster, from /etc/machine-id.
    #[field(name = "machineID", proto = 1, keep)]
    pub machine_id: String,
    /// Identity of the hardware, from the firmware. Prefer machineID.
    #[field(name = "systemUUID", proto = 2, keep)]
    pub system_uuid: String,
    /// Identity of the current boot.
    #[field(name = "bootID", proto = 3, keep)]
    pub boot_id: String,
    /// Version of the kernel, as uname prints it.
    #[field(proto = 4, keep)]
    pub kernel_version: String,
    /// Name of the operating system, from /etc/os-release.
    #[field(proto = 5, keep)]
    pub os_image: String,
    /// What runs containers, with its version, such as containerd://2.0.0.
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
    /// Size in bytes.
    #[field(proto = 1)]
    pub capacity: Option<i64>,
}
