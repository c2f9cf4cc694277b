//! Defaults of pods and templates.

use crate::core::v1::resource_list::round_up_to_milli;
use crate::core::v1::resource_name::{is_huge_page, is_of_pods, is_overcommitted};
use crate::core::v1::{
    Container, Lifecycle, Pod, PodIP, PodSpec, Probe, ResourceList, ResourceRequirements, Volume, image,
};

/// Default termination grace period in seconds.
const GRACE_PERIOD: i64 = 30;

/// Default mode of files in volumes: readable by all, writable by the owner.
const FILE_MODE: i32 = 0o644;

/// Default validity of tokens in seconds.
const TOKEN_LIFE: i64 = 3600;

impl Pod {
    /// Sets the defaults of pods, then those of templates.
    pub(super) fn fill_in(&mut self) {
        let spec = &mut self.spec;
        for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
            let resources = &mut container.resources;
            for (name, limit) in &resources.limits {
                resources.requests.entry(name.clone()).or_insert_with(|| limit.clone());
            }
        }
        spec.fill_in_own_limits();
        spec.fill_in_own_requests();
        spec.enable_service_links.get_or_insert(true);
        if spec.host_network {
            let containers = spec.containers.iter_mut().chain(&mut spec.init_containers);
            for port in containers.flat_map(|container| &mut container.ports) {
                if port.host_port == 0 {
                    port.host_port = port.container_port;
                }
            }
        }
        spec.set_defaults();
        // A negative grace period becomes the shortest possible one.
        spec.termination_grace_period_seconds = spec.termination_grace_period_seconds.map(|seconds| match seconds {
            ..0 => 1,
            seconds => seconds,
        });
        self.status.unite_pod_ips();
        let status = &mut self.status;
        let lists = [
            &mut status.container_statuses,
            &mut status.init_container_statuses,
            &mut status.ephemeral_container_statuses,
        ];
        for container in lists.into_iter().flatten() {
            round_up_to_milli(&mut container.allocated_resources);
            if let Some(resources) = &mut container.resources {
                round_up(resources);
            }
        }
        round_up_to_milli(&mut status.allocated_resources);
        if let Some(resources) = &mut status.resources {
            round_up(resources);
        }
    }
}

impl super::PodStatus {
    /// Synchronizes `podIP` with the first entry of `podIPs`. If the two differ, `podIP` takes precedence, because
    /// older kubelets know only this field.
    fn unite_pod_ips(&mut self) {
        let single = &self.pod_ip;
        if !single.is_empty() && self.pod_ips.first().is_none_or(|first| first.ip != *single) {
            self.pod_ips = vec![PodIP { ip: single.clone() }];
        }
        if let Some(first) = self.pod_ips.first() {
            self.pod_ip.clone_from(&first.ip);
        }
    }
}

impl PodSpec {
    /// Sets the defaults of pods and templates; see [`crate::core::v1::PodTemplateSpec::set_defaults`].
    pub(crate) fn set_defaults(&mut self) {
        fill(&mut self.dns_policy, "ClusterFirst");
        fill(&mut self.restart_policy, "Always");
        fill(&mut self.scheduler_name, "default-scheduler");
        self.security_context.get_or_insert_default();
        self.termination_grace_period_seconds.get_or_insert(GRACE_PERIOD);
        self.unite_service_accounts();
        round_up_to_milli(&mut self.overhead);
        if let Some(resources) = &mut self.resources {
            round_up(resources);
        }
        for volume in &mut self.volumes {
            volume.set_defaults();
        }
        for container in self.init_containers.iter_mut().chain(&mut self.containers) {
            container.set_defaults();
        }
        for ephemeral in &mut self.ephemeral_containers {
            let mut container = ephemeral.as_container();
            container.set_defaults();
            let common = &mut ephemeral.ephemeral_container_common;
            common.image_pull_policy = container.image_pull_policy;
            common.termination_message_path = container.termination_message_path;
            common.termination_message_policy = container.termination_message_policy;
            common.env = container.env;
            common.resources = container.resources;
            common.liveness_probe = container.liveness_probe;
            common.readiness_probe = container.readiness_probe;
            common.startup_probe = container.startup_probe;
            common.lifecycle = container.lifecycle;
        }
    }

    /// Synchronizes the deprecated name of the service account with the current one.
    pub fn unite_service_accounts(&mut self) {
        if self.service_account_name.is_empty() {
            self.service_account_name.clone_from(&self.service_account);
        }
        self.service_account.clone_from(&self.service_account_name);
    }

    /// Sets the pod-level limits of huge pages, which cannot be overcommitted: they equal the limits of the containers.
    fn fill_in_own_limits(&mut self) {
        let totals = self.container_limits();
        let Some(resources) = self.resources.as_mut().filter(|resources| resources.has_amounts()) else {
            return;
        };
        for (name, total) in totals {
            if is_huge_page(&name) && !resources.requests.contains_key(&name) {
                resources.limits.entry(name).or_insert(total);
            }
        }
    }

    /// Sets the pod-level requests of a pod with limits: those of its containers, or else its limits.
    fn fill_in_own_requests(&mut self) {
        let totals = self.container_requests();
        let Some(resources) = self.resources.as_mut().filter(|resources| !resources.limits.is_empty()) else {
            return;
        };
        let known = |name: &String| is_of_pods(name);
        for (name, total) in totals
            .into_iter()
            .filter(|(name, _)| known(name) && is_overcommitted(name))
        {
            resources.requests.entry(name).or_insert(total);
        }
        for (name, limit) in resources.limits.iter().filter(|(name, _)| known(name)) {
            resources.requests.entry(name.clone()).or_insert_with(|| limit.clone());
        }
    }
}

fn fill(text: &mut String, default: &str) {
    if text.is_empty() {
        default.clone_into(text);
    }
}

fn round_up(resources: &mut ResourceRequirements) {
    let lists: [&mut ResourceList; 2] = [&mut resources.limits, &mut resources.requests];
    lists.into_iter().for_each(round_up_to_milli);
}

impl Container {
    fn set_defaults(&mut self) {
        fill(&mut self.image_pull_policy, image::pull_policy(&self.image));
        fill(&mut self.termination_message_path, "/dev/termination-log");
        fill(&mut self.termination_message_policy, "File");
        round_up(&mut self.resources);
        let sources = self.env.iter_mut().filter_map(|var| var.value_from.as_mut());
        for field in sources.filter_map(|source| source.field_ref.as_mut()) {
            fill(&mut field.api_version, "v1");
        }
        let probes = [
            &mut self.liveness_probe,
            &mut self.readiness_probe,
            &mut self.startup_probe,
        ];
        for probe in probes.into_iter().flatten() {
            probe.set_defaults();
        }
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.set_defaults();
        }
    }
}

impl Probe {
    fn set_defaults(&mut self) {
        let numbers = [
            (&mut self.timeout_seconds, 1),
            (&mut self.period_seconds, 10),
            (&mut self.success_threshold, 1),
            (&mut self.failure_threshold, 3),
        ];
        for (number, default) in numbers {
            if *number == 0 {
                *number = default;
            }
        }
        if let Some(get) = &mut self.probe_handler.http_get {
            fill(&mut get.path, "/");
            fill(&mut get.scheme, "HTTP");
        }
        if let Some(grpc) = &mut self.probe_handler.grpc {
            grpc.service.get_or_insert_default();
        }
    }
}

impl Lifecycle {
    fn set_defaults(&mut self) {
        for handler in [&mut self.post_start, &mut self.pre_stop].into_iter().flatten() {
            if let Some(get) = &mut handler.http_get {
                fill(&mut get.path, "/");
                fill(&mut get.scheme, "HTTP");
            }
        }
    }
}

impl Volume {
    fn set_defaults(&mut self) {
        let source = &mut self.volume_source;
        if *source == Default::default() {
            source.empty_dir = Some(Default::default());
        }
        if let Some(path) = &mut source.host_path {
            path.type_.get_or_insert_default();
        }
        if let Some(image) = &mut source.image {
            fill(&mut image.pull_policy, image::pull_policy(&image.reference));
        }
        let modes = [
            source.secret.as_mut().map(|secret| &mut secret.default_mode),
            source.config_map.as_mut().map(|map| &mut map.default_mode),
            source.downward_api.as_mut().map(|api| &mut api.default_mode),
            source.projected.as_mut().map(|projected| &mut projected.default_mode),
        ];
        for mode in modes.into_iter().flatten() {
            mode.get_or_insert(FILE_MODE);
        }
        let mut files: Vec<_> = source.downward_api.iter_mut().flat_map(|api| &mut api.items).collect();
        for source in source.projected.iter_mut().flat_map(|projected| &mut projected.sources) {
            files.extend(source.downward_api.iter_mut().flat_map(|api| &mut api.items));
            if let Some(token) = &mut source.service_account_token {
                token.expiration_seconds.get_or_insert(TOKEN_LIFE);
            }
        }
        for field in files.into_iter().filter_map(|file| file.field_ref.as_mut()) {
            fill(&mut field.api_version, "v1");
        }
        if let Some(template) = source
            .ephemeral
            .as_mut()
            .and_then(|source| source.volume_claim_template.as_mut())
        {
            template.spec.set_defaults();
        }
    }
}
