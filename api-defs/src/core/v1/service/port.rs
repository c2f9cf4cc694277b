//! Ports of services.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::{Struct, names};

use crate::core::v1::protocol::check_protocol;

/// A port of a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServicePort {
    /// Name of the port: a DNS label, different from those of the other ports. May be left out when there is only one.
    #[field(proto = 1)]
    pub name: String,
    /// The protocol: TCP (the default), UDP or SCTP.
    #[field(proto = 2, default = "TCP", known("TCP", "UDP", "SCTP"), go_type = "Protocol")]
    pub protocol: String,
    /// Application protocol of the port, a hint for load balancers and meshes: an IANA service name, kubernetes.io/h2c,
    /// kubernetes.io/ws, kubernetes.io/wss, or a name with another domain prefix.
    #[field(proto = 6)]
    pub app_protocol: Option<String>,
    /// Port at which clients reach the service, from 1 to 65535.
    #[field(proto = 3, keep)]
    pub port: i32,
    /// Port of the pods, by number or by the name that each pod gives it. The number in port by default.
    #[field(proto = 4)]
    pub target_port: IntOrString,
    /// Port of every node that leads here, for NodePort and LoadBalancer: chosen by the server from the cluster's range
    /// unless given.
    #[field(proto = 5)]
    pub node_port: i32,
}

impl ServicePort {
    /// Reports what is wrong with the port by itself; with several ports each needs a name.
    pub(super) fn check(&self, needs_name: bool, errors: &mut FieldErrors) {
        if needs_name && self.name.is_empty() {
            errors.required("name", "");
        } else if !self.name.is_empty() {
            for complaint in names::dns_label(&self.name) {
                errors.invalid("name", &self.name, complaint);
            }
        }
    }

    /// Reports what is wrong with everything but the name.
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
