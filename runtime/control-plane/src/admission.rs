//! The admission plugins of a server, and the order in which they run.
//!
//! A program lists its plugins as [`Registration`]s, in order: [`GENERIC`] or a list of its own; its components add plugins
//! that no flag switches. Flags switch them, the file of `--admission-control-config-file` configures
//! those that can be configured.

mod configuration;
mod generic;
mod switches;

use std::fmt;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use planesmith_access::admission::{Chain, Lister, Plugin};
use planesmith_access::authorization::Authorizer;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::metrics::SharedMetrics;
use planesmith_store::Storage;

use crate::feature_gates::FeatureGates;
use crate::live_kinds::LiveKinds;
use crate::loopback::Loopback;
use crate::options::Options;
use crate::outbound::Outbound;
use crate::service_resolver::LiveServices;

pub use configuration::{Configuration, parse_configuration};
pub use generic::{ALWAYS_ADMIT, ALWAYS_DENY, GENERIC, NAMESPACE_LIFECYCLE};
pub use switches::{check_switches, is_on};

/// A plugin that a program can have.
#[derive(Clone, Copy)]
pub struct Registration {
    /// The name that flags use.
    pub name: &'static str,
    /// True if the plugin is on unless a flag says otherwise.
    pub on_by_default: bool,
    /// The feature gate of the plugin: while it is off, the plugin is off, whatever the flags about plugins say.
    pub feature: Option<&'static str>,
    /// Creates the plugin; `None` for the position of a plugin that a component may bring.
    pub make: Option<Make>,
}

/// Creates a plugin. `None` if it has nothing to do in this server, because the kinds it is about are missing.
///
/// # Errors
///
/// An invalid configuration.
pub type Make = fn(&PluginInitializer<'_>) -> Result<Option<Arc<dyn Plugin>>>;

/// The parts of a server from which plugins are created.
pub struct PluginInitializer<'a> {
    /// The stored objects.
    pub storage: &'a Storage,
    /// The kinds of the server.
    pub scheme: &'a Arc<Scheme>,
    /// The kinds that are served, custom ones included.
    pub kinds: &'a LiveKinds,
    /// Reads objects of any kind.
    pub objects: Arc<dyn Lister>,
    /// Authorizes requests.
    pub authorizer: Arc<dyn Authorizer>,
    /// Writes objects as the server itself.
    pub loopback: &'a Loopback,
    /// Finds servers behind services, once the server is assembled.
    pub services: &'a LiveServices,
    /// The metrics of the server.
    pub metrics: SharedMetrics,
    /// The flags.
    pub options: &'a Options,
    /// The features that are on.
    pub gates: &'a FeatureGates,
    /// The parts that requests to other servers share.
    pub outbound: &'a Outbound,
    /// The plugin's part of the configuration file.
    pub configuration: Option<&'a serde_json::Value>,
}

impl Registration {
    /// A plugin that is on unless a flag says otherwise.
    #[must_use]
    pub const fn on(name: &'static str, make: Make) -> Self {
        Self {
            name,
            on_by_default: true,
            feature: None,
            make: Some(make),
        }
    }

    /// A plugin that is off unless a flag says otherwise.
    #[must_use]
    pub const fn off(name: &'static str, make: Make) -> Self {
        Self {
            name,
            on_by_default: false,
            feature: None,
            make: Some(make),
        }
    }

    /// The position of a plugin that a component may bring; flags may name it.
    #[must_use]
    pub const fn place(name: &'static str, on_by_default: bool) -> Self {
        Self {
            name,
            on_by_default,
            feature: None,
            make: None,
        }
    }

    /// The plugin, off while `feature` is.
    #[must_use]
    pub const fn gated_by(self, feature: &'static str) -> Self {
        Self {
            feature: Some(feature),
            ..self
        }
    }
}

/// Returns `registrations`, in which the `plugins` of components take the places of the same names.
///
/// # Errors
///
/// A plugin that is on by default has no place: it would never run. Flags cannot name one that is off by default then.
pub fn filled(registrations: &[Registration], plugins: &[&Registration]) -> Result<Vec<Registration>> {
    let has_place = |plugin: &&&Registration| registrations.iter().any(|place| place.name == plugin.name);
    let mut needed = plugins.iter().filter(|plugin| plugin.on_by_default);
    if let Some(plugin) = needed.find(|plugin| !has_place(plugin)) {
        let name = plugin.name;
        bail!(
            "a component brings the admission plugin {name}, and the program's list of plugins has no place for it; add \
             Registration::place({name:?}, true) where it is to run"
        );
    }
    let fill = |registration: &Registration| {
        let mut plugins = plugins.iter().filter(|plugin| plugin.name == registration.name);
        match (registration.make, plugins.next()) {
            (None, Some(plugin)) => **plugin,
            _ => *registration,
        }
    };
    Ok(registrations.iter().map(fill).collect())
}

/// Returns the chain of the plugins that the flags leave on, in the order of `registrations`.
///
/// # Errors
///
/// Flags with unknown plugins, or a configuration file that cannot be read or that a plugin cannot use.
pub fn chain(registrations: &[Registration], initializer: &PluginInitializer<'_>) -> Result<Chain> {
    check_switches(registrations, initializer.options)?;
    if initializer.options.admission_control.is_some() {
        tracing::warn!(
            "--admission-control is deprecated; use --enable-admission-plugins and --disable-admission-plugins instead"
        );
    }
    let configuration = match &initializer.options.admission_control_config_file {
        Some(path) => Configuration::open(path)?,
        None => Configuration::default(),
    };
    let mut chain = Chain::default();
    for registration in registrations {
        if !switches::is_on(registration, initializer.options, initializer.gates) {
            continue;
        }
        let Some(make) = registration.make else {
            if initializer
                .options
                .enable_admission_plugins
                .iter()
                .any(|name| name == registration.name)
            {
                tracing::warn!(
                    plugin = registration.name,
                    "--enable-admission-plugins names a plugin that this version does not have"
                );
            }
            continue;
        };
        let own = PluginInitializer {
            configuration: configuration.of(registration.name),
            objects: Arc::clone(&initializer.objects),
            authorizer: Arc::clone(&initializer.authorizer),
            metrics: Arc::clone(&initializer.metrics),
            ..*initializer
        };
        let plugin = make(&own).with_context(|| format!("couldn't init admission plugin {:?}", registration.name))?;
        if let Some(plugin) = plugin {
            chain.push(plugin);
        }
    }
    tracing::debug!(plugins = ?chain, "admission");
    Ok(chain)
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("name", &self.name)
            .field("on_by_default", &self.on_by_default)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PluginInitializer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginInitializer")
            .field("configuration", &self.configuration)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROUGHT: Registration = Registration::on("Brought", |_| Ok(None));

    #[test]
    fn a_plugin_of_a_component_takes_its_place() {
        let places = [NAMESPACE_LIFECYCLE, Registration::place("Brought", true)];
        let filled = filled(&places, &[&BROUGHT]).expect("it has a place");
        assert!(filled[1].make.is_some());
    }

    #[test]
    fn a_plugin_without_a_place_is_refused() {
        let error = filled(GENERIC, &[&BROUGHT]).expect_err("it has no place").to_string();
        assert!(error.contains("Registration::place(\"Brought\", true)"), "{error}");
        let off = Registration::off("Brought", |_| Ok(None));
        assert_eq!(filled(GENERIC, &[&off]).expect("it is off").len(), GENERIC.len());
    }
}
