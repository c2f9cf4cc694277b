//! Measures decisions by roles with 10,000 bindings: `cargo run --release -p planesmith-access --example decisions`.
//!
//! The budgets are 2 us for a common decision and 20 us for the worst one.
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

use std::hint::black_box;
use std::time::Instant;

use planesmith_access::authorization::Target;
use planesmith_access::authorization::rbac::{
    Action, Binding, Policy, Role, RoleKind, RoleRef, Rule, Subject, SubjectKind,
};
use planesmith_access::user::UserInfo;

const BINDINGS: usize = 10_000;
const ROUNDS: u32 = 100_000;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// The size of the role `edit`: forty rules about four resources each.
fn rules() -> Vec<Rule> {
    let rule = |number: usize| Rule {
        verbs: texts(&["create", "delete", "get", "list", "patch", "update", "watch"]),
        groups: vec![format!("group{number}.example.com")],
        resources: (0..4).map(|part| format!("resources{part}")).collect(),
        ..Rule::default()
    };
    (0..40).map(rule).collect()
}

fn subject(kind: SubjectKind, name: &str) -> Subject {
    let name = name.to_owned();
    Subject { kind, name }
}

fn bind(policy: &mut Policy, namespace: &str, name: &str, role: &str, subject: Subject) {
    policy.set_binding(Binding {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        role: RoleRef {
            kind: RoleKind::ClusterRole,
            name: role.to_owned(),
        },
        subjects: vec![subject],
    });
}

/// 10,000 users with a binding each, in 100 namespaces; one user with 10,000 roles in the whole cluster.
fn policy() -> Policy {
    let mut policy = Policy::default();
    policy.set_role(Role::new("", "edit", rules()));
    for number in 0..BINDINGS {
        let (namespace, name) = (format!("n{}", number % 100), format!("b{number}"));
        let user = subject(SubjectKind::User, &format!("user{number}"));
        bind(&mut policy, &namespace, &name, "edit", user);
        let role = format!("r{number}");
        let rule = Rule {
            verbs: texts(&["get"]),
            groups: texts(&["example.com"]),
            resources: vec![format!("things{number}")],
            ..Rule::default()
        };
        policy.set_role(Role::new("", &role, vec![rule]));
        bind(&mut policy, "", &name, &role, subject(SubjectKind::User, "collector"));
    }
    bind(&mut policy, "", "dev", "edit", subject(SubjectKind::Group, "dev"));
    policy
}

fn measure(what: &str, policy: &Policy, user: &UserInfo, (group, resource, namespace): (&str, &str, &str)) {
    let target = Target::Resource {
        group,
        version: "v1",
        resource,
        subresource: "",
        namespace,
        name: "x",
    };
    let decide = || {
        policy
            .find(black_box(user), &Action::new("get", black_box(&target)))
            .is_some()
    };
    // The first decision of a subject with many roles indexes them.
    let first = Instant::now();
    let allowed = decide();
    let first = first.elapsed();
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        black_box(decide());
    }
    let each = begin.elapsed() / ROUNDS;
    println!("{what}: allowed {allowed}, {each:?} each, the first {first:?}");
}

fn main() {
    let begin = Instant::now();
    let policy = policy();
    println!("{} bindings indexed in {:?}", 2 * BINDINGS + 1, begin.elapsed());
    let user = |name: &str, groups: &[&str]| UserInfo {
        name: name.to_owned(),
        groups: texts(groups),
        ..UserInfo::default()
    };
    let ann = user("user4242", &["people", "system:authenticated"]);
    measure(
        "own binding, last rule",
        &policy,
        &ann,
        ("group39.example.com", "resources3", "n42"),
    );
    measure("refused", &policy, &ann, ("group39.example.com", "resources3", "n43"));
    let bob = user("bob", &["people", "dev", "system:authenticated"]);
    measure("by a group", &policy, &bob, ("group0.example.com", "resources0", "n1"));
    let collector = user("collector", &["system:authenticated"]);
    measure(
        "10,000 roles, the last one",
        &policy,
        &collector,
        ("example.com", "things9999", "n1"),
    );
    measure(
        "10,000 roles, refused",
        &policy,
        &collector,
        ("example.com", "nothing", "n1"),
    );
    let many: Vec<String> = (0..100).map(|number| format!("group{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    measure(
        "100 groups, refused",
        &policy,
        &user("carol", &many),
        ("", "pods", "n1"),
    );
    let mut changed = policy.clone();
    let begin = Instant::now();
    for number in 0..1000 {
        let before = changed.clone();
        let user = subject(SubjectKind::User, "new");
        bind(&mut changed, "n1", &format!("new{number}"), "edit", user);
        drop(black_box(before));
    }
    println!("a change of a published policy: {:?}", begin.elapsed() / 1000);
}
