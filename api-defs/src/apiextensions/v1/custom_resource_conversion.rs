//! Conversion of custom resources between versions.

use planesmith_machinery::Struct;
use planesmith_machinery::byte_string::ByteString;

/// Conversion of custom resources between versions.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceConversion {
    /// None changes only apiVersion; Webhook asks a webhook.
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
    /// The versions of ConversionReview that it knows, the most wanted first.
    #[field(proto = 3, keep, list_type = atomic)]
    pub conversion_review_versions: Vec<String>,
}

/// Address of a webhook: exactly one of url and service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WebhookClientConfig {
    /// Its address, https://host:port/path. No user, fragment or query.
    #[field(proto = 3)]
    pub url: Option<String>,
    /// The service in front of it.
    #[field(proto = 1)]
    pub service: Option<ServiceReference>,
    /// Authorities, PEM, that its certificate is checked against; when empty, those of the system.
    #[field(proto = 2)]
    pub ca_bundle: ByteString,
}

impl WebhookClientConfig {
    /// Fills in the port of the service.
    pub(crate) fn default_values(&mut self) {
        if let Some(service) = &mut self.service {
            service.port.get_or_insert(HTTPS);
        }
    }
}

/// The port that services talk HTTPS on by default.
const HTTPS: i32 = 443;

/// A service by its name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceReference {
    /// Namespace in which the webhook's service lives.
    #[field(proto = 1, keep)]
    pub namespace: String,
    /// Name of the service in front of the webhook.
    #[field(proto = 2, keep)]
    pub name: String,
    /// Path of the URL at which the service is called; "/" when absent.
    #[field(proto = 3)]
    pub path: Option<String>,
    /// Port of the service that talks HTTPS. Default: 443.
    #[field(proto = 4)]
    pub port: Option<i32>,
}
