//! Restricts owner references to users that may delete the object.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin};
use planesmith_access::authorization::{Authorizer, Target};
use planesmith_control_plane::live_kinds::LiveKinds;
use planesmith_machinery::meta::OwnerReference;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::status::ApiResult;

/// Checks the permissions for changes of owners.
pub(super) struct OwnerReferencesPermissionEnforcement {
    pub(super) authorizer: Arc<dyn Authorizer>,
    /// The kinds of owners.
    pub(super) kinds: LiveKinds,
}

impl OwnerReferencesPermissionEnforcement {
    async fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        // A write of the status of a pod may repeat its owners.
        if attributes.is_for("", "pods") && attributes.subresource == "status" {
            return Ok(());
        }
        let Some(new) = objects.new.as_deref() else {
            return Ok(());
        };
        let owners = &new.meta().owner_references;
        let before = objects.old.map_or(&[][..], |old| &old.meta().owner_references);
        if owners == before {
            return Ok(());
        }
        let resource = attributes.resource;
        if attributes.operation != Operation::Create {
            let target = Target::Resource {
                group: &resource.group,
                version: &resource.version,
                resource: &resource.plural,
                subresource: attributes.subresource,
                namespace: attributes.namespace,
                name: attributes.name,
            };
            if let Err(reason) = self.authorizer.permits(attributes.user, "delete", target).await {
                let why = format!("cannot set an ownerRef on a resource you can't delete: {reason}, <nil>");
                return Err(attributes.forbidden(Some(new), why));
            }
        }
        for owner in owners.iter().filter(|owner| blocks_anew(owner, before)) {
            self.check_blocking(attributes, objects, owner).await?;
        }
        Ok(())
    }

    /// Checks that the user may make the deletion of an owner wait for the object.
    async fn check_blocking(
        &self,
        attributes: &Attributes<'_>,
        objects: &Objects<'_>,
        owner: &OwnerReference,
    ) -> ApiResult<()> {
        let refuse = |why: String| Err(attributes.forbidden(objects.new.as_deref(), why));
        let (group, version) = owner.api_version.rsplit_once('/').unwrap_or(("", &owner.api_version));
        let Some(kind) = self.kinds.find(group, version, &owner.kind) else {
            let (version, kind) = (&owner.api_version, &owner.kind);
            return refuse(format!(
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {version} Kind \
                 {kind}: no matches for kind {kind:?} in version {version:?}"
            ));
        };
        let target = Target::Resource {
            group: &kind.group,
            version: &kind.version,
            resource: &kind.plural,
            subresource: "finalizers",
            namespace: match kind.scope {
                Scope::Namespaced => attributes.namespace,
                Scope::Cluster => "",
            },
            name: &owner.name,
        };
        match self.authorizer.permits(attributes.user, "update", target).await {
            Ok(()) => Ok(()),
            Err(reason) => refuse(format!(
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: \
                 {reason}, <nil>"
            )),
        }
    }
}

/// True if an owner reference sets `blockOwnerDeletion`, and its state before the write did not.
fn blocks_anew(owner: &OwnerReference, before: &[OwnerReference]) -> bool {
    let blocks = |owner: &OwnerReference| owner.block_owner_deletion == Some(true);
    blocks(owner) && !before.iter().any(|known| known.uid == owner.uid && blocks(known))
}

impl Plugin for OwnerReferencesPermissionEnforcement {
    fn name(&self) -> &'static str {
        "OwnerReferencesPermissionEnforcement"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        Box::pin(self.check(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::response::Response;
    use futures_util::future::BoxFuture;
    use planesmith_access::authorization::{self, AuthorizationOutcome, Decision};
    use planesmith_api_defs::core::v1::ConfigMap;
    use planesmith_server::chain::ApiServer;
    use planesmith_server::discovery::ServedResource;
    use planesmith_server::request::Context;
    use planesmith_server::routes::{ResourceHandler, Routes};
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::{Request, object};

    /// Allows the named requests.
    #[derive(Debug)]
    struct Allowing(&'static [&'static str]);

    impl Authorizer for Allowing {
        fn authorize(&self, attributes: &authorization::Attributes<'_>) -> AuthorizationOutcome {
            let Target::Resource {
                resource, subresource, ..
            } = attributes.target
            else {
                return AuthorizationOutcome::NO_OPINION;
            };
            let action = format!("{} {resource} {subresource}", attributes.verb);
            match self.0.contains(&action.trim_end()) {
                true => AuthorizationOutcome::ALLOW,
                false => Decision::NoOpinion("no".to_owned()).into(),
            }
        }
    }

    /// A kind that is served.
    struct Served(ServedResource);

    impl ResourceHandler for Served {
        fn facts(&self) -> &ServedResource {
            &self.0
        }

        fn serve(self: Arc<Self>, _ctx: Context, _request: http::Request<Body>) -> BoxFuture<'static, Response> {
            Box::pin(async { Response::default() })
        }
    }

    fn serve(routes: &mut Routes, group: &'static str, kind: &'static str, plural: &'static str) {
        routes.add(Arc::new(Served(ServedResource {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            singular: "".into(),
            kind: kind.into(),
            short_names: Vec::new(),
            categories: Vec::new(),
            scope: Scope::Cluster,
            verbs: Vec::new(),
            hidden_verbs: Vec::new(),
            is_custom: false,
            stored_as: None,
            subresources: Vec::new(),
        })));
    }

    fn server() -> ApiServer {
        let mut routes = Routes::new();
        serve(&mut routes, "", "Node", "nodes");
        ApiServer::new("test", routes)
    }

    fn plugin_of(server: &ApiServer, allowed: &'static [&'static str]) -> OwnerReferencesPermissionEnforcement {
        let kinds = LiveKinds::default();
        kinds.connect(&server.tables());
        OwnerReferencesPermissionEnforcement {
            authorizer: Arc::new(Allowing(allowed)),
            kinds,
        }
    }

    fn owned(block: bool, kind: &str) -> ConfigMap {
        let owner = json!({"apiVersion": "v1", "kind": kind, "name": "n", "uid": "1", "blockOwnerDeletion": block});
        object(json!({"metadata": {"name": "c", "ownerReferences": [owner]}}))
    }

    fn free() -> ConfigMap {
        object::<ConfigMap>(json!({"metadata": {"name": "c"}, "data": Value::Null}))
    }

    #[test]
    fn owners_are_named_by_who_may_delete() {
        let server = server();
        let plugin = |allowed| plugin_of(&server, allowed);
        let update = |allowed, new| Request::update::<ConfigMap>().updated(&plugin(allowed), &free(), new);
        assert_eq!(
            update(&[], owned(false, "Node")).unwrap_err(),
            "configmaps \"c\" is forbidden: cannot set an ownerRef on a resource you can't delete: no, <nil>"
        );
        assert!(update(&["delete configmaps"], owned(false, "Node")).is_ok());
        assert!(update(&[], free()).is_ok());
        // The creator of an object may set its owners.
        let create = |new| Request::create::<ConfigMap>().created(&plugin(&[]), new);
        assert!(create(owned(false, "Node")).is_ok());
    }

    #[test]
    fn owners_wait_only_if_they_may_be_held() {
        let server = server();
        let plugin = |allowed| plugin_of(&server, allowed);
        let create = |allowed, new| Request::create::<ConfigMap>().created(&plugin(allowed), new);
        let refused = create(&[], owned(true, "Node")).unwrap_err();
        assert!(refused.contains("you can't set finalizers on: no, <nil>"), "{refused}");
        assert!(create(&["update nodes finalizers"], owned(true, "Node")).is_ok());
        let refused = create(&[], owned(true, "Rock")).unwrap_err();
        assert!(
            refused.contains("cannot find RESTMapping for APIVersion v1 Kind Rock"),
            "{refused}"
        );
    }

    #[test]
    fn owners_can_be_of_kinds_that_were_defined_later() {
        let server = server();
        let plugin = plugin_of(&server, &["update rocks finalizers"]);
        let owned = || {
            let owner = json!({
                "apiVersion": "shop.example.com/v1", "kind": "Rock", "name": "n", "uid": "1", "blockOwnerDeletion": true,
            });
            object::<ConfigMap>(json!({"metadata": {"name": "c", "ownerReferences": [owner]}}))
        };
        assert!(Request::create::<ConfigMap>().created(&plugin, owned()).is_err());
        let mut routes = Routes::new();
        serve(&mut routes, "shop.example.com", "Rock", "rocks");
        server.tables()[0].store(Arc::new(routes.build()));
        assert!(Request::create::<ConfigMap>().created(&plugin, owned()).is_ok());
    }
}
