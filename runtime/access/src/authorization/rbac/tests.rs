use std::slice;

use super::*;
use crate::authorization::Target;
use crate::user::UserInfo;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn rule(verbs: &[&str], groups: &[&str], resources: &[&str], names: &[&str]) -> Rule {
    Rule {
        verbs: texts(verbs),
        groups: texts(groups),
        resources: texts(resources),
        names: texts(names),
        paths: Vec::new(),
    }
}

fn path_rule(verbs: &[&str], paths: &[&str]) -> Rule {
    Rule {
        verbs: texts(verbs),
        paths: texts(paths),
        ..Rule::default()
    }
}

fn user(name: &str, groups: &[&str]) -> UserInfo {
    UserInfo {
        name: name.to_owned(),
        groups: texts(groups),
        ..UserInfo::default()
    }
}

fn subject(kind: SubjectKind, name: &str) -> Subject {
    Subject {
        kind,
        name: name.to_owned(),
    }
}

fn binding(namespace: &str, name: &str, role: (RoleKind, &str), subjects: Vec<Subject>) -> Binding {
    Binding {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        role: RoleRef {
            kind: role.0,
            name: role.1.to_owned(),
        },
        subjects,
    }
}

/// A target such as `pods`, `pods/log`, `apps:deployments` or `/healthz`, of a namespace and a name.
fn target<'a>(text: &'a str, namespace: &'a str, name: &'a str) -> Target<'a> {
    if text.starts_with('/') {
        return Target::Path(text);
    }
    let (group, text) = text.split_once(':').unwrap_or(("", text));
    let (resource, subresource) = text.split_once('/').unwrap_or((text, ""));
    Target::Resource {
        group,
        version: "v1",
        resource,
        subresource,
        namespace,
        name,
    }
}

fn find(policy: &Policy, user: &UserInfo, verb: &str, target: &Target<'_>) -> Option<String> {
    let grant = policy.find(user, &Action::new(verb, target));
    grant.map(|grant| grant.to_string())
}

#[track_caller]
fn check_rule(rule: &Rule, verb: &str, target: &Target<'_>, expected: bool) {
    let action = Action::new(verb, target);
    assert_eq!(rule.permits(&action), expected, "{verb} {target:?}");
    let index = permissions::Permissions::of(std::iter::once((0, rule)));
    assert_eq!(index.find(&action).is_some(), expected, "indexed: {verb} {target:?}");
}

#[test]
fn rules_are_about_verbs_groups_resources_and_names() {
    let one = rule(&["get", "list"], &["", "apps"], &["pods", "*/scale", "pods/log"], &[]);
    for (verb, text, expected) in [
        ("get", "pods", true),
        ("watch", "pods", false),
        ("get", "apps:pods", true),
        ("get", "batch:pods", false),
        ("get", "pods/log", true),
        ("get", "pods/status", false),
        ("get", "apps:deployments/scale", true),
        ("get", "apps:deployments", false),
        ("get", "/pods", false),
    ] {
        check_rule(&one, verb, &target(text, "n", "x"), expected);
    }
    // A resource does not stand for its subresources, a star does.
    check_rule(
        &rule(&["*"], &["*"], &["pods"], &[]),
        "get",
        &target("pods/log", "n", "x"),
        false,
    );
    check_rule(
        &rule(&["*"], &["*"], &["pods/*"], &[]),
        "get",
        &target("pods/log", "n", "x"),
        false,
    );
    check_rule(
        &rule(&["*"], &["*"], &["*"], &[]),
        "get",
        &target("pods/log", "n", "x"),
        true,
    );
    // A rule with names is not about collections.
    let named = rule(&["get", "list"], &[""], &["secrets"], &["a", "b"]);
    for (name, expected) in [("a", true), ("b", true), ("c", false), ("", false)] {
        check_rule(&named, "list", &target("secrets", "n", name), expected);
    }
}

#[test]
fn paths_match_exactly_or_by_a_star_at_the_end() {
    let rule = path_rule(&["get"], &["/healthz", "/api/*", "/metrics*"]);
    for (verb, path, expected) in [
        ("get", "/healthz", true),
        ("get", "/healthz/ping", false),
        ("post", "/healthz", false),
        ("get", "/api/v1", true),
        ("get", "/api", false),
        ("get", "/metrics/slis", true),
    ] {
        check_rule(&rule, verb, &Target::Path(path), expected);
    }
    check_rule(&path_rule(&["*"], &["*"]), "put", &Target::Path("/any"), true);
    check_rule(&rule, "get", &target("healthz", "", ""), false);
}

fn example() -> Policy {
    let mut policy = Policy::default();
    policy.set_role(Role::new("", "viewer", vec![rule(&["get"], &[""], &["pods"], &[])]));
    policy.set_role(Role::new("n", "editor", vec![rule(&["update"], &[""], &["pods"], &[])]));
    policy.set_binding(binding(
        "",
        "everywhere",
        (RoleKind::ClusterRole, "viewer"),
        vec![
            subject(SubjectKind::Group, "dev"),
            subject(SubjectKind::ServiceAccount(String::new()), "lost"),
        ],
    ));
    policy.set_binding(binding(
        "n",
        "here",
        (RoleKind::Role, "editor"),
        vec![
            subject(SubjectKind::User, "alice"),
            subject(SubjectKind::ServiceAccount(String::new()), "builder"),
            subject(SubjectKind::ServiceAccount("other".to_owned()), "builder"),
        ],
    ));
    policy
}

#[test]
fn subjects_have_the_roles_of_their_bindings() {
    let policy = example();
    let pod = target("pods", "n", "p");
    let found = |name, groups: &[&str], verb| find(&policy, &user(name, groups), verb, &pod);
    assert_eq!(
        found("bob", &["dev"], "get").as_deref(),
        Some(r#"ClusterRoleBinding "everywhere" of ClusterRole "viewer" to Group "dev""#)
    );
    assert_eq!(
        found("alice", &[], "update").as_deref(),
        Some(r#"RoleBinding "here/n" of Role "editor" to User "alice""#)
    );
    assert_eq!(
        found("system:serviceaccount:n:builder", &[], "update").as_deref(),
        Some(r#"RoleBinding "here/n" of Role "editor" to ServiceAccount "builder/n""#)
    );
    assert_eq!(
        found("system:serviceaccount:other:builder", &[], "update").as_deref(),
        Some(r#"RoleBinding "here/n" of Role "editor" to ServiceAccount "builder/other""#)
    );
    assert_eq!(found("alice", &[], "get"), None);
    // A group is not a user of the same name, and a user not a group.
    assert_eq!(found("dev", &[], "get"), None);
    assert_eq!(found("bob", &["alice"], "update"), None);
    // A service account without a namespace, in the whole cluster, is no user.
    assert_eq!(found("system:serviceaccount::lost", &[], "get"), None);
    let elsewhere = target("pods", "m", "p");
    assert_eq!(find(&policy, &user("alice", &[]), "update", &elsewhere), None);
    let everywhere = target("pods", "", "");
    assert_eq!(find(&policy, &user("alice", &[]), "update", &everywhere), None);
    assert!(find(&policy, &user("bob", &["dev"]), "get", &everywhere).is_some());
}

#[test]
fn changes_take_effect_and_former_states_stay() {
    let mut policy = example();
    let (alice, pod) = (user("alice", &[]), target("pods", "n", "p"));
    let before = policy.clone();
    policy.remove_role("n", "editor");
    assert_eq!(find(&policy, &alice, "update", &pod), None);
    assert_eq!(
        policy.problems(&alice, "n"),
        [r#"role.rbac.authorization.k8s.io "editor" not found"#]
    );
    assert!(find(&before, &alice, "update", &pod).is_some());
    policy.set_role(Role::new("n", "editor", vec![rule(&["delete"], &[""], &["pods"], &[])]));
    assert!(find(&policy, &alice, "delete", &pod).is_some());
    let carol = vec![subject(SubjectKind::User, "carol")];
    policy.set_binding(binding("n", "here", (RoleKind::Role, "editor"), carol));
    assert_eq!(find(&policy, &alice, "delete", &pod), None);
    assert!(find(&policy, &user("carol", &[]), "delete", &pod).is_some());
    policy.remove_binding("n", "here");
    policy.remove_binding("n", "here");
    assert_eq!(find(&policy, &user("carol", &[]), "delete", &pod), None);
    assert!(policy.grants(&user("carol", &[]), "n").is_empty());
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn some<'t>(&mut self, of: &[&'t str]) -> Vec<&'t str> {
        let count = 1 + self.below(2);
        (0..count).map(|_| of[self.below(of.len())]).collect()
    }
}

const VERBS: [&str; 4] = ["get", "list", "delete", "*"];
const GROUPS: [&str; 4] = ["", "apps", "batch", "*"];
const RESOURCES: [&str; 6] = ["pods", "pods/log", "*/log", "jobs", "jobs/log", "*"];
const NAMES: [&str; 3] = ["a", "b", "c"];
const NAMESPACES: [&str; 3] = ["", "n", "m"];
const USERS: [&str; 3] = ["u", "v", "system:serviceaccount:n:s"];

fn random_rule(numbers: &mut Numbers) -> Rule {
    let names = if numbers.below(3) == 0 {
        numbers.some(&NAMES)
    } else {
        Vec::new()
    };
    let (verbs, groups) = (numbers.some(&VERBS), numbers.some(&GROUPS));
    rule(&verbs, &groups, &numbers.some(&RESOURCES), &names)
}

/// The decision as a scan of everything makes it.
fn scanned(bindings: &[Binding], roles: &[(String, String, Vec<Rule>)], user: &UserInfo, action: &Action<'_>) -> bool {
    let has = |binding: &Binding| {
        binding.subjects.iter().any(|subject| match &subject.kind {
            SubjectKind::User => user.name == subject.name,
            SubjectKind::Group => user.is_in(&subject.name),
            SubjectKind::ServiceAccount(own) => {
                let namespace = if own.is_empty() { &binding.namespace } else { own };
                !namespace.is_empty() && user.name == format!("system:serviceaccount:{namespace}:{}", subject.name)
            }
        })
    };
    let applying = bindings
        .iter()
        .filter(|binding| (binding.namespace.is_empty() || binding.namespace == action.namespace) && has(binding));
    let rules = applying.flat_map(|binding| {
        let namespace = match binding.role.kind {
            RoleKind::Role => binding.namespace.as_str(),
            _ => "",
        };
        let role = roles
            .iter()
            .find(|(of, name, _)| of == namespace && *name == binding.role.name);
        role.into_iter().flat_map(|(_, _, rules)| rules)
    });
    rules.into_iter().any(|rule| rule.permits(action))
}

#[test]
fn the_index_decides_as_a_scan_does() {
    let mut numbers = Numbers(7);
    for round in 0..40 {
        let mut policy = Policy::default();
        let mut roles: Vec<(String, String, Vec<Rule>)> = Vec::new();
        let mut bindings: Vec<Binding> = Vec::new();
        // In later rounds a subject has so many roles that their permissions are merged.
        let size = 4 + 2 * round;
        for index in 0..size {
            let namespace = NAMESPACES[numbers.below(3)];
            let rules: Vec<Rule> = (0..numbers.below(3)).map(|_| random_rule(&mut numbers)).collect();
            let name = format!("r{}", index % 20);
            policy.set_role(Role::new(namespace, &name, rules.clone()));
            roles.retain(|(of, known, _)| of != namespace || *known != name);
            roles.push((namespace.to_owned(), name, rules));
            let namespace = NAMESPACES[numbers.below(3)];
            let kind = if namespace.is_empty() || numbers.below(2) == 0 {
                RoleKind::ClusterRole
            } else {
                RoleKind::Role
            };
            let subjects = vec![
                subject(SubjectKind::User, USERS[numbers.below(3)]),
                subject(SubjectKind::Group, ["g", "h"][numbers.below(2)]),
                subject(
                    SubjectKind::ServiceAccount(NAMESPACES[numbers.below(3)].to_owned()),
                    "s",
                ),
            ];
            let role = format!("r{}", numbers.below(20));
            let new = binding(namespace, &format!("b{}", index % 50), (kind, &role), subjects);
            bindings.retain(|known| known.namespace != new.namespace || known.name != new.name);
            if numbers.below(8) == 0 {
                policy.remove_binding(&new.namespace, &new.name);
            } else {
                policy.set_binding(new.clone());
                bindings.push(new);
            }
            for _ in 0..8 {
                let user = user(
                    USERS[numbers.below(3)],
                    &[["g", "h"][numbers.below(2)]][numbers.below(2)..],
                );
                let target = target(
                    ["pods", "apps:pods/log", "batch:jobs", "batch:jobs/log", "pods/log"][numbers.below(5)],
                    NAMESPACES[numbers.below(3)],
                    ["", "a", "b"][numbers.below(3)],
                );
                let action = Action::new(VERBS[numbers.below(3)], &target);
                let found = policy.find(&user, &action);
                let expected = scanned(&bindings, &roles, &user, &action);
                assert_eq!(found.is_some(), expected, "{action} by {user:?}");
                assert_eq!(
                    policy.explain(&user, &action).deciding().is_some(),
                    expected,
                    "{action} by {user:?}"
                );
            }
        }
    }
}

#[test]
fn a_rule_with_many_names_is_found_by_an_index() {
    let names: Vec<String> = (0..5000).map(|number| format!("n{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut policy = Policy::default();
    policy.set_role(Role::new(
        "",
        "large",
        vec![rule(&["get"], &[""], &["secrets"], &names)],
    ));
    let subjects = vec![subject(SubjectKind::User, "u")];
    policy.set_binding(binding("", "b", (RoleKind::ClusterRole, "large"), subjects));
    let found = |name| find(&policy, &user("u", &[]), "get", &target("secrets", "n", name)).is_some();
    assert!(found("n4999") && !found("n5000") && !found(""));
}

#[test]
fn a_subject_that_is_listed_twice_loses_the_role_at_once() {
    let mut policy = example();
    let twice = vec![subject(SubjectKind::User, "dan"), subject(SubjectKind::User, "dan")];
    policy.set_binding(binding("n", "twice", (RoleKind::Role, "editor"), twice));
    let (dan, pod) = (user("dan", &[]), target("pods", "n", "p"));
    assert!(find(&policy, &dan, "update", &pod).is_some());
    assert_eq!(policy.rules(&dan, "n").len(), 1);
    policy.remove_binding("n", "twice");
    assert_eq!(find(&policy, &dan, "update", &pod), None);
}

#[test]
fn granted_permissions_must_be_covered_by_single_rules() {
    let have = [
        rule(&["get", "list"], &[""], &["configmaps"], &[]),
        rule(&["get"], &[""], &["secrets"], &["known"]),
        rule(&["get"], &["apps"], &["*/scale"], &[]),
        path_rule(&["get"], &["/api/*"]),
    ];
    let alice = user("alice", &["dev", "system:authenticated"]);
    let check = |wanted: &[Rule]| escalation(&alice, &have, wanted, &[]);
    assert_eq!(check(&[rule(&["list"], &[""], &["configmaps"], &["x"])]), Ok(()));
    assert_eq!(check(&[rule(&["get"], &["apps"], &["deployments/scale"], &[])]), Ok(()));
    assert_eq!(check(&[path_rule(&["get"], &["/api/v1", "/api/*"])]), Ok(()));
    let start = "user \"alice\" (groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC permissions not \
                 currently held:\n";
    let refused = |wanted: &[Rule], listed: &str| {
        assert_eq!(check(wanted), Err(format!("{start}{listed}")));
    };
    refused(
        &[
            rule(&["get"], &[""], &["configmaps", "pods"], &[]),
            rule(&["watch", "delete"], &[""], &["nodes"], &[]),
        ],
        "{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"watch\" \"delete\"]}\n\
         {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}",
    );
    refused(
        &[rule(&["get"], &[""], &["secrets"], &["known", "unknown"])],
        "{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"unknown\"], Verbs:[\"get\"]}",
    );
    refused(
        &[rule(&["*"], &["*"], &["*"], &[]), path_rule(&["*"], &["*"])],
        "{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}",
    );
    let problems = [r#"role.rbac.authorization.k8s.io "nope" not found"#.to_owned()];
    let refused = escalation(&alice, &[], &[path_rule(&["get"], &["/a"])], &problems).unwrap_err();
    let expected = r#"; resolution errors: [roles.rbac.authorization.k8s.io "nope" not found]"#;
    assert!(refused.ends_with(expected), "{refused}");
}

#[test]
fn rules_with_very_many_combinations_are_compared_whole_only() {
    let names: Vec<String> = (0..60).map(|index| format!("n{index}")).collect();
    let huge = Rule {
        verbs: names.clone(),
        groups: names.clone(),
        resources: names.clone(),
        names: names.clone(),
        paths: Vec::new(),
    };
    let alice = user("alice", &[]);
    let all = [rule(&["*"], &["*"], &["*"], &[])];
    assert_eq!(escalation(&alice, &all, slice::from_ref(&huge), &[]), Ok(()));
    let refused = escalation(&alice, &[], &[huge], &[]).unwrap_err();
    assert!(refused.contains("more than 100000 combinations"), "{refused}");
}

#[test]
fn an_explanation_names_what_decides_and_what_is_missing() {
    let policy = example();
    let pod = target("pods", "n", "p");
    let explain = |name, verb| policy.explain(&user(name, &[]), &Action::new(verb, &pod)).to_string();
    assert_eq!(
        explain("alice", "update"),
        "permitted by RoleBinding \"here/n\" of Role \"editor\" to User \"alice\", rule {APIGroups:[\"\"], \
         Resources:[\"pods\"], Verbs:[\"update\"]}"
    );
    assert_eq!(
        explain("alice", "delete"),
        "none of 1 bindings of the user and their groups permits it; RoleBinding \"here/n\" of Role \"editor\" to User \
         \"alice\" has only {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"update\"]}"
    );
    let who = policy.who_can(&Action::new("update", &pod), false);
    let subjects: Vec<String> = who.iter().flat_map(Permitted::subjects).collect();
    assert_eq!(
        subjects,
        [
            "User \"alice\"",
            "ServiceAccount \"builder/n\"",
            "ServiceAccount \"builder/other\""
        ]
    );
    assert!(
        policy
            .who_can(&Action::new("update", &target("pods", "m", "")), false)
            .is_empty()
    );
    assert_eq!(
        policy
            .who_can(&Action::new("update", &target("pods", "", "")), true)
            .len(),
        1
    );
}

#[test]
fn cached_grants_do_not_outlive_a_change() {
    let mut policy = Policy::default();
    let ann = user("ann", &["dev"]);
    let [pod, other] = ["n", "m"].map(|namespace| target("pods", namespace, ""));
    let allowed = |policy: &Policy, target: &Target<'_>| policy.find(&ann, &Action::new("get", target)).is_some();
    assert!(!allowed(&policy, &pod));
    let role = || Role::new("n", "reader", vec![rule(&["get"], &[""], &["pods"], &[])]);
    policy.set_role(role());
    let group = subject(SubjectKind::Group, "dev");
    let readers = binding("n", "readers", (RoleKind::Role, "reader"), vec![group]);
    policy.set_binding(readers);
    for _ in 0..2 {
        assert!(
            allowed(&policy, &pod) && !allowed(&policy, &other),
            "in one namespace only"
        );
    }
    let before = policy.clone();
    policy.remove_role("n", "reader");
    assert!(
        allowed(&before, &pod) && !allowed(&policy, &pod),
        "the role was removed"
    );
    policy.set_role(role());
    assert!(allowed(&policy, &pod), "and is there again");
    policy.remove_binding("n", "readers");
    assert!(!allowed(&policy, &pod), "the binding was removed");
}
