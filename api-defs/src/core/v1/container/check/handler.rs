//! Validation of the actions of probes and hooks.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::names;

use crate::core::v1::container::stop_signal::STOP_SIGNALS;
use crate::core::v1::one_of::OneOf;
use crate::core::v1::{
    ExecAction, GRPCAction, HTTPGetAction, Lifecycle, LifecycleHandler, ProbeHandler, SleepAction, TCPSocketAction,
};

const STOP_SIGNAL: &str = "stopSignal";
const SCHEMES: [&str; 2] = ["HTTP", "HTTPS"];

/// One of the alternative actions.
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
    /// Reports errors in the action; `grace_period` is that of the pod, in seconds.
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

/// Reports a port that is neither a legal number nor a legal name.
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
    /// Reports errors in the hooks and the stop signal of a container; `grace_period` is that of the pod in seconds,
    /// `os` its operating system.
    pub(super) fn check(&self, grace_period: Option<i64>, os: Option<&str>, errors: &mut FieldErrors) {
        for (field, handler) in [("postStart", &self.post_start), ("preStop", &self.pre_stop)] {
            if let Some(handler) = handler {
                Handler::from(handler).check(grace_period, &mut errors.at(field));
            }
        }
        if let Some(signal) = &self.stop_signal {
            check_signal(signal, os, errors);
        }
    }
}

fn check_signal(signal: &str, os: Option<&str>, errors: &mut FieldErrors) {
    let known: &[&str] = match os {
        None => return errors.forbidden(STOP_SIGNAL, "may not be set for containers with empty `spec.os.name`"),
        Some("linux") => &STOP_SIGNALS,
        Some("windows") => &["SIGKILL", "SIGTERM"],
        Some(_) => return,
    };
    if !known.contains(&signal) {
        errors.not_supported(STOP_SIGNAL, signal, known);
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::facts::Rule;
    use planesmith_machinery::value::Struct as _;

    use super::*;
    use crate::core::v1::ContainerStatus;

    #[test]
    fn signals_are_those_of_the_system() {
        let complaint = |signal: &str, os: Option<&str>| {
            let lifecycle = Lifecycle {
                stop_signal: Some(signal.to_owned()),
                ..Lifecycle::default()
            };
            let mut errors = FieldErrors::default();
            lifecycle.check(None, os, &mut errors);
            errors.joined().unwrap_or_default()
        };
        assert_eq!(complaint("SIGHUP", Some("linux")), "");
        assert_eq!(complaint("SIGRTMIN+15", Some("linux")), "");
        assert_eq!(complaint("SIGTERM", Some("windows")), "");
        assert_eq!(
            complaint("SIGHUP", None),
            "stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"
        );
        assert_eq!(
            complaint("SIGHUP", Some("windows")),
            "stopSignal: Unsupported value: \"SIGHUP\": supported values: \"SIGKILL\", \"SIGTERM\""
        );
        let listed = complaint("HUP", Some("linux"));
        assert!(
            listed.starts_with("stopSignal: Unsupported value: \"HUP\": supported values: \"SIGABRT\", \"SIGALRM\"")
        );
        assert!(
            listed.contains("\"SIGRTMAX\", \"SIGRTMAX-1\", \"SIGRTMAX-10\""),
            "{listed}"
        );
    }

    #[test]
    fn containers_report_the_signals_that_may_be_wanted() {
        let fields = [Lifecycle::default().facts(), ContainerStatus::default().facts()];
        for facts in fields {
            let field = facts.field_named(STOP_SIGNAL).unwrap();
            assert_eq!(field.rules, [Rule::KnownValues(&STOP_SIGNALS)]);
        }
    }
}
