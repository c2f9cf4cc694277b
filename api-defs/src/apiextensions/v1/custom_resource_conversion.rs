//! Conversion of custom resources between versions.

use planesmith_machinery::Struct;
use planesmith_machinery::byte_string::ByteString;

/// Conversion of custom resources between versions.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceConversion {
    /// Strategy of the conversion: None changes only apiVersion, Webhook calls a webhook.
    #[field(proto = 1, keep, go_type = "ConversionStrategyType")]
    pub strategy: String,
    /// The conversion webhook. Required when strategy is Webhook, forbidden otherwise.
    #[field(proto = 2)]
    pub webhook: Option<WebhookConversion>,
}

/// A webhook that converts objects.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WebhookConversion {
    /// Address of the webhook and the CA certificates that verify it.
    #[field(proto = 2)]
    pub client_config: Option<WebhookClientConfig>,
    /// Supported versions of ConversionReview in order of preference.
    #[field(proto = 3, keep, list_type = atomic)]
    pub conversion_review_versions: Vec<String>,
}

/// Address of a webhook: exactly one of url and service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WebhookClientConfig {
    /// URL of the webhook, https://host:port/path. Without user, fragment or query.
    #[field(proto = 3)]
    pub url: Option<String>,
    /// Service of the webhook.
    #[field(proto = 1)]
    pub service: Option<ServiceReference>,
    /// CA certificates in PEM that verify the webhook's certificate. The system's CA certificates when empty.
    #[field(proto = 2)]
    pub ca_bundle: ByteString,
}

impl WebhookClientConfig {
    /// Sets the default port of the service.
    pub(crate) fn set_defaults(&mut self) {
        if let Some(service) = &mut self.service {
            service.port.get_or_insert(HTTPS);
        }
    }
}

/// Default HTTPS port of services.
const HTTPS: i32 = 443;

/// Reference to a service by name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceReference {
    /// Namespace of the service.
    #[field(proto = 1, keep)]
    pub namespace: String,
    /// Name of the service.
    #[field(proto = 2, keep)]
    pub name: String,
    /// URL path of the requests. Defaults to "/".
    #[field(proto = 3)]
    pub path: Option<String>,
    /// HTTPS port of the service. Default: 443.
    #[field(proto = 4)]
    pub port: Option<i32>,
}
