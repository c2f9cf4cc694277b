//! The grants that count for one user, resolved to their roles.

use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;

use super::action::Action;
use super::binding::Grant;
use super::policy::Roles;
use super::role::Role;
use super::subject_grants::SubjectGrants;
use crate::user::{UserCache, UserInfo};

/// The grants of the users of the latest requests. A clone of the policy has none: it is about to change.
#[derive(Debug, Default)]
pub(super) struct KnownUsers(OnceLock<UserCache<UserGrants>>);

impl Clone for KnownUsers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl KnownUsers {
    /// Passes the grants of `user` to `read`; `resolve` returns those in the whole cluster.
    pub(super) fn with<R>(
        &self,
        user: &UserInfo,
        resolve: impl FnOnce() -> Vec<ResolvedGrant>,
        read: impl FnOnce(&UserGrants) -> R,
    ) -> R {
        let users = self.0.get_or_init(UserCache::default);
        users.with(user, || UserGrants::new(resolve()), read)
    }
}

/// The grants of one user.
#[derive(Debug)]
pub(super) struct UserGrants {
    /// Those in the whole cluster.
    cluster: Vec<ResolvedGrant>,
    /// Those in the namespace of the latest request in a namespace.
    latest: ArcSwapOption<(String, Vec<ResolvedGrant>)>,
}

impl UserGrants {
    fn new(cluster: Vec<ResolvedGrant>) -> Self {
        Self {
            cluster,
            latest: ArcSwapOption::empty(),
        }
    }

    /// Returns the grant that permits the action: one in the whole cluster before those in the namespace, which `resolve` returns.
    pub(super) fn find(
        &self,
        action: &Action<'_>,
        roles: &Roles,
        resolve: impl FnOnce() -> Vec<ResolvedGrant>,
    ) -> Option<Arc<Grant>> {
        if let Some(grant) = find(&self.cluster, action, roles) {
            return Some(grant);
        }
        let namespace = action.namespace();
        if namespace.is_empty() {
            return None;
        }
        if let Some(latest) = &*self.latest.load()
            && latest.0 == namespace
        {
            return find(&latest.1, action, roles);
        }
        let grants = resolve();
        let grant = find(&grants, action, roles);
        self.latest.store(Some(Arc::new((namespace.to_owned(), grants))));
        grant
    }
}

/// The first grant that permits the action.
fn find(grants: &[ResolvedGrant], action: &Action<'_>, roles: &Roles) -> Option<Arc<Grant>> {
    grants
        .iter()
        .find_map(|grant| grant.permits(action, roles).map(Arc::clone))
}

/// Grants of one subject with their roles.
#[derive(Debug)]
pub(super) enum ResolvedGrant {
    /// A grant and its role.
    One(Arc<Grant>, Arc<Role>),
    /// Many grants, whose permissions are merged.
    Many(Arc<SubjectGrants>),
}

impl ResolvedGrant {
    fn permits(&self, action: &Action<'_>, roles: &Roles) -> Option<&Arc<Grant>> {
        match self {
            Self::One(grant, role) => role.permits(action).then_some(grant),
            Self::Many(grants) => grants.find_merged(action, roles),
        }
    }
}
