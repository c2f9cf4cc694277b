//! Ports of services.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::{Struct, names};

use crate::core::v1::protocol::check_protocol;

/// A port of a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServicePort {
    /// Name of the port, a DNS label, unique in the service. Optional when there is only one port.
    #[field(proto = 1)]
    pub name: String,
    /// Protocol: TCP (the default), UDP or SCTP.
    #[field(proto = 2, default = "TCP", known("TCP", "UDP", "SCTP"), go_type = "Protocol")]
    pub protocol: String,
    /// Application protocol of the port, a hint for load balancers and meshes: an IANA service name, kubernetes.io/h2c,
    /// kubernetes.io/ws, kubernetes.io/wss, or a name with another domain prefix.
    #[field(proto = 6)]
    pub app_protocol: Option<String>,
    /// Port of the service, from 1 to 65535.
    #[field(proto = 3, keep)]
    pub port: i32,
    /// Port of the pods, as a number or as the name of a container port. Defaults to port.
    #[field(proto = 4)]
    pub target_port: IntOrString,
    /// Port of every node that forwards to the service, for NodePort and LoadBalancer. Allocated by the server from the
    /// cluster's range unless specified.
    #[field(proto = 5)]
    pub node_port: i32,
}

impl ServicePort {
    /// Reports errors in the port. `needs_name` is true if the service has several ports.
    pub(super) fn check(&self, needs_name: bool, errors: &mut FieldErrors) {
        if needs_name && self.name.is_empty() {
            errors.required("name", "");
        } else if !self.name.is_empty() {
            for complaint in names::dns_label(&self.name) {
                errors.invalid("name", &self.name, complaint);
            }
        }
    }

    /// Reports errors in all fields except the name.
    pub(super) fn check_numbers(&self, errors: &mut FieldErrors) {
        for complaint in names::port_number(i64::from(self.port)) {
            errors.invalid("port", self.port, complaint);
        }
        check_protocol(&self.protocol, errors);
        match &self.target_port {
            IntOrString::Int(number) => {
                for complaint in names::port_number(i64::from(*number)) {
                    errors.invalid("targetPort", *number, complaint);
                }
            }
            IntOrString::String(name) => {
                for complaint in names::port_name(name) {
                    errors.invalid("targetPort", name, complaint);
                }
            }
        }
        if let Some(protocol) = &self.app_protocol {
            for complaint in names::qualified_name(protocol) {
                errors.invalid("appProtocol", protocol, complaint);
            }
        }
    }
}
