use planesmith_access::authorization::Target;
use planesmith_access::authorization::rbac::Action;
use planesmith_access::user::UserInfo;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_store::{Draft, Expect, MemoryLog, Op, Row, StorageOptions};
use serde_json::{Value, json};

use super::*;

/// A store of roles and bindings, and the policy of both.
struct Cluster {
    storage: Storage,
    scheme: Scheme,
    policy: Arc<StoredPolicy>,
}

impl Cluster {
    fn new() -> Self {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let mut scheme = Scheme::new();
        scheme.add::<ClusterRole>();
        scheme.add::<Role>();
        scheme.add::<ClusterRoleBinding>();
        scheme.add::<RoleBinding>();
        let policy = Arc::new(StoredPolicy::open(&storage, &scheme));
        Self {
            storage,
            scheme,
            policy,
        }
    }

    fn store(&self, facts: &ResourceFacts) -> ResourceStore {
        ResourceStore::with_versions(&self.storage, facts, &self.scheme)
    }

    async fn put(&self, facts: &ResourceFacts, (namespace, name): (&str, &str), rest: &Value) {
        let mut object = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": facts.kind,
            "metadata": {"name": name, "namespace": namespace, "resourceVersion": ""}});
        for (member, value) in rest.as_object().unwrap() {
            object[member] = value.clone();
        }
        let text = object.to_string();
        let gap = text.find(r#""resourceVersion":"""#).unwrap() + r#""resourceVersion":""#.len();
        let store = self.store(facts);
        let op = Op::Put {
            key: store.key(namespace, name).unwrap().into(),
            draft: Draft::new(text.into_bytes(), gap),
            row: Row::default(),
            expect: Expect::Any,
            ttl: None,
        };
        assert!(store.write(op).await.unwrap());
    }

    async fn delete(&self, facts: &ResourceFacts, namespace: &str, name: &str) {
        let store = self.store(facts);
        let op = Op::Delete {
            key: store.key(namespace, name).unwrap().into(),
            expect: Expect::Any,
            last: None,
        };
        assert!(store.write(op).await.unwrap());
    }

    fn may_list(&self, user: &str, namespace: &str, resource: &str) -> bool {
        let user = UserInfo {
            name: user.to_owned(),
            ..UserInfo::default()
        };
        let target = Target::Resource {
            group: "",
            version: "v1",
            resource,
            subresource: "",
            namespace,
            name: "",
        };
        self.policy
            .current()
            .policy()
            .find(&user, &Action::new("list", &target))
            .is_some()
    }
}

fn rules(resource: &str) -> Value {
    json!({"rules": [{"verbs": ["list"], "apiGroups": [""], "resources": [resource]}]})
}

fn grant(kind: &str, role: &str, user: &str) -> Value {
    json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    })
}

#[tokio::test]
async fn an_acknowledged_write_is_seen_by_the_next_decision() {
    let cluster = Cluster::new();
    cluster.put(Role::RESOURCE, ("n", "r"), &rules("pods")).await;
    cluster
        .put(RoleBinding::RESOURCE, ("n", "b"), &grant("Role", "r", "ann"))
        .await;
    assert!(cluster.may_list("ann", "n", "pods"));
    assert!(!cluster.may_list("ann", "m", "pods"));
    for round in 0..100 {
        let [is, was] = if round % 2 == 0 {
            ["secrets", "pods"]
        } else {
            ["pods", "secrets"]
        };
        cluster.put(Role::RESOURCE, ("n", "r"), &rules(is)).await;
        assert!(cluster.may_list("ann", "n", is) && !cluster.may_list("ann", "n", was));
    }
    cluster.delete(RoleBinding::RESOURCE, "n", "b").await;
    assert!(!cluster.may_list("ann", "n", "pods"));
    cluster.put(ClusterRole::RESOURCE, ("", "r"), &rules("nodes")).await;
    let everywhere = grant("ClusterRole", "r", "ann");
    cluster.put(ClusterRoleBinding::RESOURCE, ("", "b"), &everywhere).await;
    assert!(cluster.may_list("ann", "", "nodes") && cluster.may_list("ann", "any", "nodes"));
    cluster.delete(ClusterRole::RESOURCE, "", "r").await;
    assert!(!cluster.may_list("ann", "", "nodes"));
}

#[tokio::test]
async fn a_start_reads_what_is_stored() {
    let cluster = Cluster::new();
    cluster.put(Role::RESOURCE, ("n", "r"), &rules("pods")).await;
    cluster
        .put(RoleBinding::RESOURCE, ("n", "b"), &grant("Role", "r", "ann"))
        .await;
    let again = Cluster {
        policy: Arc::new(StoredPolicy::open(&cluster.storage, &cluster.scheme)),
        storage: cluster.storage.clone(),
        scheme: Scheme::new(),
    };
    assert!(again.may_list("ann", "n", "pods"));
}

#[tokio::test]
async fn many_writes_between_two_decisions_are_all_seen() {
    let cluster = Cluster::new();
    for number in 0..700 {
        let name = format!("b{number}");
        let user = format!("u{number}");
        cluster
            .put(RoleBinding::RESOURCE, ("n", &name), &grant("Role", "r", &user))
            .await;
    }
    cluster.put(Role::RESOURCE, ("n", "r"), &rules("pods")).await;
    assert!((0..700).all(|number| cluster.may_list(&format!("u{number}"), "n", "pods")));
}
