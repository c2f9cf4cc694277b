//! What is wrong with the actions of probes and hooks.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::names;

use crate::core::v1::one_of::OneOf;
use crate::core::v1::{
    ExecAction, GRPCAction, HTTPGetAction, Lifecycle, LifecycleHandler, ProbeHandler, SleepAction, TCPSocketAction,
};

const SCHEMES: [&str; 2] = ["HTTP", "HTTPS"];

/// One of several actions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handler<'a> {
    exec: Option<&'a ExecAction>,
    http_get: Option<&'a HTTPGetAction>,
    tcp_socket: Option<&'a TCPSocketAction>,
    grpc: Option<&'a GRPCAction>,
    sleep: Option<&'a SleepAction>,
}

impl<'a> From<&'a ProbeHandler> for Handler<'a> {
    fn from(handler: &'a ProbeHandler) -> Self {
        Self {
            exec: handler.exec.as_ref(),
            http_get: handler.http_get.as_ref(),
            tcp_socket: handler.tcp_socket.as_ref(),
            grpc: handler.grpc.as_ref(),
            sleep: None,
        }
    }
}

impl<'a> From<&'a LifecycleHandler> for Handler<'a> {
    fn from(handler: &'a LifecycleHandler) -> Self {
        Self {
            exec: handler.exec.as_ref(),
            http_get: handler.http_get.as_ref(),
            tcp_socket: handler.tcp_socket.as_ref(),
            grpc: None,
            sleep: handler.sleep.as_ref(),
        }
    }
}

impl Handler<'_> {
    /// Reports what is wrong with the action of a pod that may take `grace_period` seconds to end.
    pub(super) fn check(self, grace_period: Option<i64>, errors: &mut FieldErrors) {
        let mut one = OneOf::or("may not specify more than 1 handler type");
        one.member("exec", self.exec, errors, |exec, errors| {
            if exec.command.is_empty() {
                errors.required("command", "");
            }
        });
        one.member("httpGet", self.http_get, errors, HTTPGetAction::check);
        one.member("tcpSocket", self.tcp_socket, errors, |socket, errors| {
            check_port(&socket.port, errors);
        });
        one.member("grpc", self.grpc, errors, |grpc, errors| {
            check_port(&grpc.port.into(), errors);
        });
        one.member("sleep", self.sleep, errors, |sleep, errors| {
            if let Some(grace) = grace_period
                && !(0..=grace).contains(&sleep.seconds)
            {
                let problem = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                errors.invalid("", sleep.seconds, problem);
            }
        });
        if !one.found() {
            errors.required("", "must specify a handler type");
        }
    }
}

/// Reports a port that is neither a number nor a name of one.
fn check_port(port: &IntOrString, errors: &mut FieldErrors) {
    match port {
        IntOrString::Int(number) => {
            for problem in names::port_number((*number).into()) {
                errors.invalid("port", *number, problem);
            }
        }
        IntOrString::String(name) => {
            for problem in names::port_name(name) {
                errors.invalid("port", name, problem);
            }
        }
    }
}

impl HTTPGetAction {
    fn check(&self, errors: &mut FieldErrors) {
        if self.path.is_empty() {
            errors.required("path", "");
        }
        check_port(&self.port, errors);
        if !SCHEMES.contains(&self.scheme.as_str()) {
            errors.not_supported("scheme", &self.scheme, &SCHEMES);
        }
        for header in &self.http_headers {
            for problem in names::http_header_name(&header.name) {
                errors.invalid("httpHeaders", &header.name, problem);
            }
        }
    }
}

impl Lifecycle {
    pub(super) fn check(&self, grace_period: Option<i64>, errors: &mut FieldErrors) {
        for (field, handler) in [("postStart", &self.post_start), ("preStop", &self.pre_stop)] {
            if let Some(handler) = handler {
                Handler::from(handler).check(grace_period, &mut errors.at(field));
            }
        }
    }
}
