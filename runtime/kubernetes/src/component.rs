//! The contribution of the built-in kinds to a server.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, ensure};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use planesmith_access::admission::Plugin;
use planesmith_access::authentication::service_account::KeyGenerator;
use planesmith_access::authorization::Authorizer;
use planesmith_api_defs::features::PRIVILEGED_CONTAINERS;
use planesmith_control_plane::Component;
use planesmith_control_plane::admission::PluginInitializer;
use planesmith_control_plane::component::{AuthorizerInitializer, Contribution, ServerContext};
use planesmith_control_plane::default_roles::DefaultRoles;
use planesmith_control_plane::options::{AuthorizationMode, ControllerName, Options};
use planesmith_control_plane::outbound::Network;
use planesmith_control_plane::secret_users::SecretUsers;
use planesmith_machinery::feature::Feature;
use planesmith_server::flow_control::FlowControl;

use crate::bootstrap::DEFAULT_ROLES;
use crate::flows::PriorityAndFairness;
use crate::node_authorizer::{LEASES as NODE_LEASES, NodeAuthorizer};
use crate::options::KubernetesOptions;
use crate::secrets_of_pods::SecretsOfPods;
use crate::service_addresses::ServiceAddresses;
use crate::services::Services;
use crate::{
    admission, bootstrap, certificate_requests, component_statuses, connect, controllers, device_admin_access,
    features, pods, token_key,
};

/// The component of a program with Kubernetes' built-in kinds. It adds what the kinds of the program need: a program may have
/// only some of them.
pub const COMPONENT: &dyn Component = &KubernetesComponent;

#[derive(Clone, Copy, Debug)]
struct KubernetesComponent;

/// The authorizer of nodes of one server, if the flags have its mode.
#[derive(Default)]
struct AuthorizerOfNodes(OnceLock<NodeAuthorizer>);

impl Component for KubernetesComponent {
    fn flags(&self, command: Command) -> Command {
        KubernetesOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = KubernetesOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        options.check()
    }

    fn default_roles(&self) -> DefaultRoles {
        DEFAULT_ROLES
    }

    fn controller_names(&self) -> &'static [ControllerName] {
        &controllers::NAMES
    }

    fn serving_addresses(&self, options: &Options) -> Result<Vec<IpAddr>> {
        let flags = KubernetesOptions::from_options(options)?;
        let services = flags.service_cluster_ip_range.iter();
        Ok(services.map(|range| range.first()).collect())
    }

    fn read_features(&self) -> &'static [&'static Feature] {
        &features::ALL
    }

    fn features(&self, options: &Options) -> Result<Vec<(&'static Feature, bool)>> {
        let flags = KubernetesOptions::from_options(options)?;
        Ok(vec![(&PRIVILEGED_CONTAINERS, flags.allow_privileged)])
    }

    fn authorization_modes(&self) -> &'static [AuthorizationMode] {
        &[AuthorizationMode::NODE]
    }

    fn default_authorization_modes(&self) -> &'static [AuthorizationMode] {
        &[AuthorizationMode::NODE]
    }

    fn authorizer(
        &self,
        mode: AuthorizationMode,
        initializer: &AuthorizerInitializer<'_>,
    ) -> Result<Option<Box<dyn Authorizer>>> {
        if mode != AuthorizationMode::NODE {
            return Ok(None);
        }
        let AuthorizerInitializer {
            storage,
            scheme,
            gates,
            objects,
            state,
            ..
        } = *initializer;
        let shared = state.get_or_create(AuthorizerOfNodes::default);
        let nodes = NodeAuthorizer::new(storage, scheme, objects, |feature| gates.enabled(feature));
        Ok(nodes.map(|nodes| {
            let nodes = shared.0.get_or_init(|| nodes).clone();
            Box::new(nodes) as Box<dyn Authorizer>
        }))
    }

    fn lease_namespaces(&self) -> &'static [&'static str] {
        &[NODE_LEASES]
    }

    fn admission_plugins(&self, initializer: &PluginInitializer<'_>) -> Vec<Arc<dyn Plugin>> {
        admission::always_on(initializer)
    }

    fn token_key(&self) -> Option<KeyGenerator> {
        Some(token_key::generate)
    }

    fn install<'a>(&self, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
        let ServerContext {
            stores,
            objects,
            loopback,
            options,
            outbound,
            ..
        } = *context;
        let flags = KubernetesOptions::from_options(options)?;
        let addresses = ServiceAddresses::install(stores, loopback, &flags);
        device_admin_access::install(stores, objects);
        pods::handle_subresources(stores);
        certificate_requests::handle_subresources(stores);
        component_statuses::show(stores, &outbound.direct).context("requests to components")?;
        let dialer = outbound.dialer(Network::Cluster);
        connect::handle_subresources(stores, &flags.kubelets, dialer).context("connections to kubelets")?;
        let (mut start_hooks, stop_hooks) = bootstrap::hooks(context, &flags, addresses.as_ref());
        let nodes = context.state.get_or_create(AuthorizerOfNodes::default);
        start_hooks.extend(nodes.0.get().map(NodeAuthorizer::hook));
        let secret_users = SecretsOfPods::new(stores, loopback).into_iter();
        let flow_control = flow_control(context, &flags)?;
        start_hooks.extend(flow_control.iter().map(PriorityAndFairness::hook));
        Ok(Contribution {
            start_hooks,
            stop_hooks,
            controllers: controllers::controllers(context),
            services: Some(Arc::new(Services::new(
                stores,
                options.aggregation.enable_aggregator_routing,
            ))),
            secret_users: secret_users
                .map(|pods| Arc::new(pods) as Arc<dyn SecretUsers>)
                .collect(),
            flow_control: flow_control.map(|control| control as Arc<dyn FlowControl>),
            ..Contribution::default()
        })
    }
}

/// Flow control, if the program has its kinds and the flags do not switch it off.
fn flow_control(context: &ServerContext<'_>, flags: &KubernetesOptions) -> Result<Option<Arc<PriorityAndFairness>>> {
    let ServerContext {
        stores, options, gates, ..
    } = *context;
    let has_kinds = stores
        .scheme()
        .resource("flowcontrol.apiserver.k8s.io", "v1", "flowschemas")
        .is_some();
    if !has_kinds || !flags.enable_priority_and_fairness {
        return Ok(None);
    }
    let limits = [options.max_requests_inflight, options.max_mutating_requests_inflight];
    ensure!(
        limits != [0, 0],
        "--max-requests-inflight and --max-mutating-requests-inflight are 0, and their sum is the number of seats of priority and \
         fairness; expected 1 or more, or --enable-priority-and-fairness=false"
    );
    let by_bytes = gates.enabled("SizeBasedListCostEstimate");
    let limits = limits.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
    Ok(Some(Arc::new(PriorityAndFairness::new(stores, limits, by_bytes))))
}

#[cfg(test)]
mod tests;
