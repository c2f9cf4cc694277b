//! Assigns requests to flows by the stored flow schemas.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use http::HeaderValue;
use planesmith_access::user::UserInfo;
use planesmith_api_defs::flowcontrol::v1::{
    FlowSchema, NonResourcePolicyRule, PolicyRulesWithSubjects, PriorityLevelConfiguration, ResourcePolicyRule, Subject,
};
use planesmith_machinery::object::Resource;
use planesmith_server::filters::{Flow, Flows};
use planesmith_server::request::RequestInfo;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{Position, Revision};

/// The longest time until a change of a schema or level takes effect.
const FRESH: Duration = Duration::from_secs(1);

/// Matches everything where names are listed.
const ALL: &str = "*";

/// Flow schemas and priority levels, as of the last check for changes.
#[derive(Debug)]
pub(crate) struct StoredFlows {
    schemas: Arc<ResourceStore>,
    levels: Arc<ResourceStore>,
    cache: RwLock<SchemaCache>,
}

#[derive(Clone, Debug, Default)]
struct SchemaCache {
    /// The time of the last check for changes; `None` before the first one, and while there are no schemas.
    checked: Option<Instant>,
    /// The positions of the stores of schemas and levels when they were last read.
    read_at: Option<[Position; 2]>,
    /// The schemas in the order in which they are matched.
    schemas: Arc<[Schema]>,
}

#[derive(Debug)]
struct Schema {
    flow: Flow,
    rules: Vec<PolicyRulesWithSubjects>,
}

impl StoredFlows {
    pub(crate) fn new(stores: &Stores) -> Self {
        Self {
            schemas: stores.resource(FlowSchema::RESOURCE),
            levels: stores.resource(PriorityLevelConfiguration::RESOURCE),
            cache: RwLock::default(),
        }
    }

    /// Returns the stored schemas as of `now`, at most [`FRESH`] old.
    fn schemas(&self, now: Instant) -> Arc<[Schema]> {
        let is_fresh = |cache: &SchemaCache| cache.checked.is_some_and(|checked| now.duration_since(checked) < FRESH);
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner).clone();
        if is_fresh(&cache) {
            return cache.schemas;
        }
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        // Another request may have checked meanwhile.
        if !is_fresh(&cache) {
            if self.has_changed(&cache) {
                // Taken before reading: a change in between is found at the next check.
                cache.read_at = Some(self.stores().map(|store| store.collection().position()));
                cache.schemas = self.read().into();
            }
            cache.checked = (!cache.schemas.is_empty()).then_some(now);
        }
        Arc::clone(&cache.schemas)
    }

    fn has_changed(&self, cache: &SchemaCache) -> bool {
        let Some(read_at) = cache.read_at else {
            return true;
        };
        let mut stores = self.stores().into_iter().zip(read_at);
        stores.any(|(store, read_at)| store.collection().has_changed(read_at, Revision(u64::MAX)))
    }

    fn stores(&self) -> [&ResourceStore; 2] {
        [&self.schemas, &self.levels]
    }

    fn read(&self) -> Vec<Schema> {
        let levels = self.levels.all::<PriorityLevelConfiguration>();
        let mut schemas = self.schemas.all::<FlowSchema>();
        schemas.sort_by(|left, right| {
            let order = |schema: &FlowSchema| (schema.spec.matching_precedence, schema.metadata.name.clone());
            order(left).cmp(&order(right))
        });
        let schema = |schema: FlowSchema| {
            let wanted = &schema.spec.priority_level_configuration.name;
            let level = levels.iter().find(|level| level.metadata.name == *wanted)?;
            Some(Schema {
                flow: Flow {
                    schema: HeaderValue::try_from(&schema.metadata.uid).ok()?,
                    level: HeaderValue::try_from(&level.metadata.uid).ok()?,
                },
                rules: schema.spec.rules,
            })
        };
        schemas.into_iter().filter_map(schema).collect()
    }
}

impl Flows for StoredFlows {
    fn of(&self, user: &UserInfo, info: &RequestInfo) -> Option<Flow> {
        let schemas = self.schemas(Instant::now());
        let fits = |schema: &&Schema| schema.rules.iter().any(|rule| is_about(rule, user, info));
        schemas.iter().find(fits).map(|schema| schema.flow.clone())
    }
}

fn is_about(rule: &PolicyRulesWithSubjects, user: &UserInfo, info: &RequestInfo) -> bool {
    if !rule.subjects.iter().any(|subject| is_by(subject, user)) {
        return false;
    }
    match info.is_resource() {
        true => rule.resource_rules.iter().any(|rule| is_of_resource(rule, info)),
        false => rule.non_resource_rules.iter().any(|rule| is_of_path(rule, info)),
    }
}

fn is_by(subject: &Subject, user: &UserInfo) -> bool {
    let Subject {
        user: one,
        group,
        service_account: account,
        ..
    } = subject;
    let account = account.as_ref().is_some_and(|account| {
        let name = user.name.strip_prefix("system:serviceaccount:");
        let parts = name.and_then(|name| name.split_once(':'));
        parts.is_some_and(|(namespace, name)| {
            namespace == account.namespace && [ALL, name].contains(&account.name.as_str())
        })
    });
    account
        || one
            .as_ref()
            .is_some_and(|one| [ALL, &user.name].contains(&one.name.as_str()))
        || group
            .as_ref()
            .is_some_and(|group| group.name == ALL || user.is_in(&group.name))
}

fn is_of_resource(rule: &ResourcePolicyRule, info: &RequestInfo) -> bool {
    let resource = match info.subresource() {
        "" => info.resource().to_owned(),
        below => format!("{}/{below}", info.resource()),
    };
    let place = match info.namespace() {
        "" => rule.cluster_scope,
        namespace => names(&rule.namespaces, namespace),
    };
    place
        && names(&rule.verbs, &info.verb_text())
        && names(&rule.api_groups, info.group())
        && names(&rule.resources, &resource)
}

fn is_of_path(rule: &NonResourcePolicyRule, info: &RequestInfo) -> bool {
    let fits = |url: &String| match url.strip_suffix('*') {
        Some(start) => info.path().starts_with(start),
        None => url == info.path(),
    };
    names(&rule.verbs, &info.verb_text()) && rule.non_resource_urls.iter().any(fits)
}

fn names(list: &[String], name: &str) -> bool {
    list.iter().any(|cache| cache == ALL || cache == name)
}

#[cfg(test)]
mod tests {
    use http::Method;
    use planesmith_machinery::json::{self, Strictness};
    use planesmith_machinery::scheme::Scheme;
    use planesmith_store::{Draft, Expect, MemoryLog, Op, Row, Storage, StorageOptions};
    use serde_json::json;

    use super::*;

    async fn write(store: &ResourceStore, name: &str, spec: &serde_json::Value) {
        let kind = store.facts();
        let document = json!({"kind": kind.kind, "apiVersion": kind.api_version, "spec": spec,
            "metadata": {"name": name, "uid": format!("uid-of-{name}"), "resourceVersion": ""}});
        let bytes = document.to_string().into_bytes();
        let gap = document.to_string().find(r#""resourceVersion":"""#).unwrap() + r#""resourceVersion":""#.len();
        let op = Op::Put {
            key: store.key("", name).unwrap().into(),
            draft: Draft::new(bytes, gap),
            row: Row::default(),
            expect: Expect::Any,
            ttl: None,
        };
        store.collection().write(op).await.unwrap();
    }

    #[tokio::test]
    async fn schemas_are_read_again_only_when_they_changed() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let flows = StoredFlows {
            schemas: Arc::new(ResourceStore::with_versions(
                &storage,
                FlowSchema::RESOURCE,
                &Scheme::new(),
            )),
            levels: Arc::new(ResourceStore::with_versions(
                &storage,
                PriorityLevelConfiguration::RESOURCE,
                &Scheme::new(),
            )),
            cache: RwLock::default(),
        };
        let begin = Instant::now();
        assert!(flows.schemas(begin).is_empty());
        write(&flows.levels, "high", &json!({})).await;
        write(
            &flows.schemas,
            "one",
            &json!({"priorityLevelConfiguration": {"name": "high"}}),
        )
        .await;
        // While there are none, a new one takes effect at once.
        let first = flows.schemas(begin);
        assert_eq!(first.len(), 1);
        let later = flows.schemas(begin + 5 * FRESH);
        assert!(Arc::ptr_eq(&first, &later), "nothing changed");
        write(
            &flows.schemas,
            "two",
            &json!({"priorityLevelConfiguration": {"name": "high"}}),
        )
        .await;
        assert_eq!(flows.schemas(begin + 5 * FRESH + FRESH / 2).len(), 1);
        assert_eq!(flows.schemas(begin + 7 * FRESH).len(), 2);
        write(&flows.levels, "high", &json!({"type": "Exempt"})).await;
        let before = flows.schemas(begin + 7 * FRESH);
        assert!(!Arc::ptr_eq(&before, &flows.schemas(begin + 9 * FRESH)), "levels count");
    }

    fn rule(document: &serde_json::Value) -> PolicyRulesWithSubjects {
        let mut rule = PolicyRulesWithSubjects::default();
        json::decode(document.to_string().as_bytes(), &mut rule, Strictness::Strict).unwrap();
        rule
    }

    fn user(name: &str) -> UserInfo {
        UserInfo {
            name: name.to_owned(),
            groups: vec!["dev".to_owned()],
            ..UserInfo::default()
        }
    }

    #[track_caller]
    fn check(rule: &PolicyRulesWithSubjects, name: &str, path: &str, expected: bool) {
        let info = RequestInfo::new(&Method::GET, &path.parse().unwrap());
        assert_eq!(is_about(rule, &user(name), &info), expected, "{name} {path}");
    }

    #[test]
    fn rules_are_about_subjects_and_what_they_ask_for() {
        let rule = rule(&json!({
            "subjects": [
                {"kind": "User", "user": {"name": "ann"}},
                {"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "*"}},
            ],
            "resourceRules": [{
                "verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments", "deployments/status"], "namespaces": ["n"],
            }],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/healthz", "/livez/*"]}],
        }));
        for (name, path, expected) in [
            ("ann", "/apis/apps/v1/namespaces/n/deployments/a", true),
            ("ann", "/apis/apps/v1/namespaces/n/deployments/a/status", true),
            ("ann", "/apis/apps/v1/namespaces/n/deployments/a/scale", false),
            ("ann", "/apis/apps/v1/namespaces/n/deployments", false),
            ("ann", "/apis/apps/v1/namespaces/m/deployments/a", false),
            ("ann", "/healthz", true),
            ("ann", "/livez/ping", true),
            ("ann", "/readyz", false),
            ("bob", "/healthz", false),
            ("system:serviceaccount:n:any", "/healthz", true),
            ("system:serviceaccount:m:any", "/healthz", false),
        ] {
            check(&rule, name, path, expected);
        }
    }

    #[test]
    fn the_whole_cluster_is_a_place_of_its_own() {
        let rule = rule(&json!({
            "subjects": [{"kind": "Group", "group": {"name": "dev"}}],
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": true}],
        }));
        check(&rule, "ann", "/api/v1/nodes", true);
        check(&rule, "ann", "/api/v1/namespaces/n/pods", false);
    }
}
