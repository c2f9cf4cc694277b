//! The parts that a server binary is made of.

use anyhow::Result;
use planesmith_access::authentication::service_account::{KeyGenerator, SigningKey};
use planesmith_machinery::environment::Environment;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::sorting::sort_by_key;
use planesmith_server::openapi::{OpenApi, Part};

use crate::admission::Registration;
use crate::authentication::AuthenticationContext;
use crate::base_groups::GROUPS;
use crate::component::Component;
use crate::feature_gates::{FeatureGate, FeatureGates};
use crate::group_version::GroupVersion;
use crate::options::{AuthorizationMode, CONTROLLERS, ControllerName, Options, StorageKind};
use crate::service_accounts::TokenSigner;

/// A server binary: its name and the group versions that it can serve. Written by `cargo xtask generate`.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Name of the binary, e.g. `planesmith`.
    pub name: &'static str,
    /// All group versions, in the order of registration.
    pub groups: &'static [GroupVersion],
    /// The OpenAPI documents of the kinds.
    pub openapi: Documents,
    /// The admission plugins, in the order in which they run.
    pub admission: &'static [Registration],
    /// The behaviour of the program beyond storing and serving its kinds.
    pub components: &'static [&'static dyn Component],
}

impl Program {
    /// A program without kinds, with these components.
    #[cfg(test)]
    pub(crate) const fn of_test(components: &'static [&'static dyn Component]) -> Self {
        Self {
            name: "test",
            groups: &[],
            openapi: Documents { v2: &[], v3: &[] },
            admission: &[],
            components,
        }
    }

    /// Returns all kinds that the program can serve.
    pub(crate) fn scheme(&self) -> Scheme {
        let mut scheme = Scheme::new();
        self.all_groups().for_each(|group| (group.register)(&mut scheme));
        scheme
    }

    /// Returns the group versions of the program, after those of every control plane and of its components that it does not bring
    /// itself.
    pub(crate) fn all_groups(&self) -> impl Iterator<Item = &'static GroupVersion> {
        let groups = self.groups;
        let brings = move |added: &GroupVersion| {
            let mut own = groups.iter();
            own.any(|own| own.group == added.group && own.version == added.version)
        };
        let of_components = self.components.iter().flat_map(|component| component.groups());
        let added = GROUPS.iter().chain(of_components);
        added.filter(move |added| !brings(added)).chain(groups)
    }

    /// Returns the names of all controllers that `--controllers` can switch.
    pub(crate) fn controller_names(&self) -> Vec<ControllerName> {
        let components = self.components.iter();
        let of_components = components.flat_map(|component| component.controller_names());
        CONTROLLERS.iter().chain(of_components).copied().collect()
    }

    /// Returns the values of `--storage`: those of every program, then those of its components.
    pub(crate) fn storage_kinds(&self) -> Vec<StorageKind> {
        let components = self.components.iter();
        let of_components = components.flat_map(|component| component.storage_kinds());
        StorageKind::GENERIC.iter().chain(of_components).copied().collect()
    }

    /// Returns the feature gates that the components bring.
    pub(crate) fn feature_gates(&self) -> Vec<FeatureGate> {
        let components = self.components.iter();
        components
            .flat_map(|component| component.feature_gates())
            .copied()
            .collect()
    }

    /// Returns the features that are on by the flags, those of the components included.
    pub(crate) fn features(&self, options: &Options) -> FeatureGates {
        options.features().with(&self.feature_gates())
    }

    /// Returns the generator of the key that signs tokens until a flag names one.
    pub(crate) fn token_key(&self) -> KeyGenerator {
        let mut generators = self.components.iter().filter_map(|component| component.token_key());
        generators.next().unwrap_or(SigningKey::make_pem)
    }

    /// Returns the signer of tokens of service accounts outside of the server, if a flag names one.
    pub(crate) fn token_signer(&self, context: &AuthenticationContext<'_>) -> Result<Option<TokenSigner>> {
        let mut signers = self.components.iter();
        let found = signers.find_map(|component| component.token_signer(context).transpose());
        found.transpose()
    }

    /// Returns the authorization modes that are on without `--authorization-mode`: those of the components, in the order
    /// of [`Program::known_authorization_modes`]; modes that no component knows come last, and are refused at the start. A program
    /// without any refuses everything, except to members of `system:masters`.
    pub(crate) fn default_authorization_modes(&self) -> Vec<AuthorizationMode> {
        let components = self.components.iter();
        let modes = components.flat_map(|component| component.default_authorization_modes());
        let mut modes: Vec<AuthorizationMode> = modes.copied().collect();
        let known = self.known_authorization_modes();
        let place = |mode: &AuthorizationMode| known.iter().position(|other| other == mode).unwrap_or(known.len());
        sort_by_key(&mut modes, |mode| (place(mode), *mode));
        modes.dedup();
        if modes.is_empty() {
            modes.push(AuthorizationMode::ALWAYS_DENY);
        }
        modes
    }

    /// Returns the authorization modes that flags and files may name: those of Kubernetes, even if the program has no authorizer for
    /// them, then those that only its components have.
    pub(crate) fn known_authorization_modes(&self) -> Vec<AuthorizationMode> {
        let mut modes = AuthorizationMode::KUBERNETES.to_vec();
        for mode in self
            .components
            .iter()
            .flat_map(|component| component.authorization_modes())
        {
            if !modes.contains(mode) {
                modes.push(*mode);
            }
        }
        modes
    }

    /// Returns the authorization modes by the flags.
    pub(crate) fn authorization_modes(&self, options: &Options) -> Vec<AuthorizationMode> {
        match options.authorization_mode.as_slice() {
            [] => self.default_authorization_modes(),
            modes => modes.to_vec(),
        }
    }

    /// Checks that the program can authorize in all of `modes`.
    ///
    /// # Errors
    ///
    /// The mode that needs a component that the program lacks, and those that it has.
    pub(crate) fn check_authorization_modes(&self, modes: &[AuthorizationMode]) -> Result<(), String> {
        let components = self.components.iter();
        let of_components = components.flat_map(|component| component.authorization_modes());
        let always = [
            AuthorizationMode::ABAC,
            AuthorizationMode::ALWAYS_ALLOW,
            AuthorizationMode::ALWAYS_DENY,
        ];
        let present: Vec<AuthorizationMode> = of_components.copied().chain(always).collect();
        match modes.iter().find(|mode| !present.contains(mode)) {
            None => Ok(()),
            Some(unknown) => {
                let known = self.known_authorization_modes().into_iter();
                let known = known.filter(|mode| present.contains(mode));
                let known: Vec<&str> = known.map(AuthorizationMode::as_str).collect();
                Err(format!(
                    "--authorization-mode has {unknown}, which {} does not have; it has {}",
                    self.name,
                    known.join(", ")
                ))
            }
        }
    }
}

/// OpenAPI documents of group versions, each with its path (`api/v1`, `apis/apps/v1`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Documents {
    /// Version 2; clients get one document out of all of them.
    pub v2: &'static [Part],
    /// Version 3.
    pub v3: &'static [Part],
}

impl Documents {
    /// Returns the documents of the enabled group versions, of their groups, and of the endpoints that every server
    /// has, for a server with `environment`.
    #[must_use]
    pub fn of(&self, served: &[GroupVersion], environment: &Environment) -> OpenApi {
        let paths: Vec<String> = served.iter().map(GroupVersion::path).collect();
        let is_served = |wanted: &str| paths.iter().any(|path| path == wanted);
        let has_versions = |group: &str| {
            paths
                .iter()
                .any(|path| path.rsplit_once('/').is_some_and(|(of, _)| of == group))
        };
        let of_served = |part: &&Part| match part.0 {
            "api" | "apis" => true,
            path if path.starts_with("api/") => is_served(path),
            path if path.starts_with("apis/") => is_served(path) || has_versions(path),
            _ => true,
        };
        let (v2, v3) = (self.v2.iter(), self.v3.iter());
        OpenApi::new(
            v2.filter(of_served).copied(),
            v3.filter(of_served).copied(),
            environment,
        )
    }
}
