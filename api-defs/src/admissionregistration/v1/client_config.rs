//! Address of an admission webhook.

use planesmith_machinery::Struct;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::validation::{WebhookService, check_webhook_address};

/// Default port of a service.
const PORT: i32 = 443;

/// Address of a webhook: exactly one of URL and service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WebhookClientConfig {
    /// URL outside of the cluster, as https://host:port/path, without user, query or fragment.
    #[field(proto = 3)]
    pub url: Option<String>,
    /// Service in the cluster.
    #[field(proto = 1)]
    pub service: Option<ServiceReference>,
    /// CA certificates in PEM that verify the webhook's certificate. The system's CA certificates when empty.
    #[field(proto = 2)]
    pub ca_bundle: ByteString,
}

/// A service in the cluster.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceReference {
    /// The namespace of the service.
    #[field(proto = 1, keep)]
    pub namespace: String,
    /// The name of the service.
    #[field(proto = 2, keep)]
    pub name: String,
    /// URL path of the requests.
    #[field(proto = 3)]
    pub path: Option<String>,
    /// The port of the service: 1 to 65535. Default: 443.
    #[field(proto = 4)]
    pub port: Option<i32>,
}

impl WebhookClientConfig {
    pub(in crate::admissionregistration) fn set_defaults(&mut self) {
        if let Some(service) = &mut self.service {
            service.port.get_or_insert(PORT);
        }
    }

    pub(super) fn check(&self, errors: &mut FieldErrors) {
        let service = self.service.as_ref().map(|service| WebhookService {
            namespace: &service.namespace,
            name: &service.name,
            path: service.path.as_deref(),
            port: service.port.unwrap_or_default(),
        });
        check_webhook_address(errors, "clientConfig", self.url.as_deref(), service);
    }
}
