use futures_util::FutureExt;
use planesmith_access::authorization::{Attributes, AuthorizationOutcome, Target};
use planesmith_access::user::{PRIVILEGED_GROUP, UserInfo};

use super::*;
use crate::request::RequestInfo;

/// Allows the listed requests: a verb, and resource and name or a path.
#[derive(Debug)]
struct Only(&'static [&'static str]);

impl Authorizer for Only {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        let what = match attributes.target {
            Target::Path(path) => path.to_owned(),
            Target::Resource {
                resource,
                subresource,
                name,
                ..
            } => {
                let parts = [resource, subresource, name]
                    .into_iter()
                    .filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join("/")
            }
        };
        let action = format!("{} {what}", attributes.verb);
        match self.0.contains(&"*") || self.0.contains(&action.as_str()) {
            true => AuthorizationOutcome::ALLOW,
            false => AuthorizationOutcome::NO_OPINION,
        }
    }
}

/// The user that alice becomes at `/apis` with the headers, or the refusal.
fn taken_for(allowed: &'static [&'static str], headers: &[(&'static str, &str)]) -> String {
    impersonated(true, allowed, headers)
}

/// The same, with or without the constrained modes.
fn impersonated(is_constrained: bool, allowed: &'static [&'static str], headers: &[(&'static str, &str)]) -> String {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    let alice = UserInfo {
        name: "alice".to_owned(),
        ..UserInfo::default()
    };
    let info = RequestInfo::new(&http::Method::GET, &"/apis".parse().unwrap());
    let asking = Impersonator {
        user: &alice,
        info: &info,
        is_constrained,
    };
    let modes = Modes::new(Arc::new(Only(allowed)));
    let user = wanted(&map).and_then(|wanted| match wanted {
        None => Ok(alice.clone()),
        Some(wanted) => {
            let user = modes.impersonate(&asking, &wanted).now_or_never();
            let user = user.expect("a local authorizer decides at once");
            user.map(|(user, _)| user)
        }
    });
    match user {
        Ok(user) => format!("{} {:?} {:?} {:?}", user.name, user.uid, user.groups, user.extra),
        Err(error) => error.message().to_owned(),
    }
}

#[test]
fn headers_describe_a_user() {
    let headers = [
        ("impersonate-user", "carol"),
        ("impersonate-uid", "42"),
        ("impersonate-group", "a"),
        ("impersonate-group", "b"),
        ("impersonate-extra-scopes", "view"),
        ("impersonate-extra-example.com%2fx", "y"),
    ];
    let carol = r#"carol "42" ["a", "b", "system:authenticated"] {"example.com/x": ["y"], "scopes": ["view"]}"#;
    assert_eq!(taken_for(&["*"], &headers), carol);
    assert_eq!(taken_for(&["*"], &[]), r#"alice "" [] {}"#);
    assert_eq!(taken_for(&["*"], &[("impersonate-user", "")]), r#"alice "" [] {}"#);
}

#[test]
fn groups_come_with_names() {
    for (name, groups) in [
        ("system:anonymous", r#"["system:unauthenticated"]"#),
        (
            "system:serviceaccount:ns:bot",
            r#"["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"]"#,
        ),
        ("system:node:n", r#"["system:nodes", "system:authenticated"]"#),
    ] {
        let user = taken_for(&["*"], &[("impersonate-user", name)]);
        assert_eq!(user, format!("{name} \"\" {groups} {{}}"));
    }
}

#[test]
fn impersonation_of_a_user_needs_a_name() {
    let refused = taken_for(&["*"], &[("impersonate-group", "a"), ("impersonate-extra-x", "y")]);
    assert_eq!(
        refused,
        "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"a\"}, \
         Extra:map[string][]string{\"x\":[]string{\"y\"}}} without impersonating a user name"
    );
}

#[test]
fn a_narrow_way_needs_two_permissions() {
    const ON: &str = "impersonate-on:user-info:get /apis";
    const AS: &str = "impersonate:user-info users/carol";
    let carol = [("impersonate-user", "carol")];
    assert!(taken_for(&[ON, AS], &carol).starts_with("carol"));
    assert_eq!(
        taken_for(&[AS], &carol),
        "forbidden: User \"alice\" cannot impersonate-on:user-info:get path \"/apis\""
    );
    assert_eq!(
        taken_for(&[ON], &carol),
        "users.authentication.k8s.io \"carol\" is forbidden: User \"alice\" cannot impersonate:user-info resource \"users\" in \
         API group \"authentication.k8s.io\" at the cluster scope"
    );
}

#[test]
fn the_older_way_needs_one_permission_for_each_part() {
    const USER: &str = "impersonate users/carol";
    let group = |name: &'static str| [("impersonate-user", "carol"), ("impersonate-group", name)];
    assert!(taken_for(&[USER], &group("x")[..1]).starts_with("carol"));
    assert!(taken_for(&[USER, "impersonate groups/x"], &group("x")).starts_with("carol"));
    assert!(!taken_for(&[USER], &group("x")).starts_with("carol"));
    let masters = group(PRIVILEGED_GROUP);
    assert!(taken_for(&["*"], &masters).contains("system:masters"));
}

#[test]
fn a_narrow_way_takes_only_keys_behind_a_domain() {
    const ALLOWED: &[&str] = &[
        "impersonate-on:user-info:get /apis",
        "impersonate:user-info users/carol",
        "impersonate:user-info userextras/scopes/admin",
        "impersonate:user-info userextras/acme.io/x/admin",
        "impersonate:user-info userextras/acme.io/X/admin",
    ];
    let with = |extra: &'static str| taken_for(ALLOWED, &[("impersonate-user", "carol"), (extra, "admin")]);
    assert!(with("impersonate-extra-acme.io%2fx").starts_with("carol"));
    let refused = "userextras.authentication.k8s.io is forbidden: User \"alice\" cannot impersonate:user-info resource \
                   \"userextras\" in API group \"authentication.k8s.io\" at the cluster scope: impersonating";
    assert_eq!(
        with("impersonate-extra-scopes"),
        format!(
            "{refused} an invalid key in extra is not allowed: extra.key: Invalid value: \"scopes\": must be a \
             domain-prefixed path (such as \"acme.io/foo\")"
        )
    );
    assert_eq!(
        with("impersonate-extra-acme.io%2f%58"),
        format!("{refused} a non-lowercase key in extra is not allowed: \"acme.io/X\"")
    );
}

#[test]
fn a_key_with_a_bad_escape_stays_as_it_is() {
    for key in ["%zz%2f", "a%2", "%", "%ff"] {
        assert_eq!(decoded(key), key);
    }
    assert_eq!(decoded("a%2fb%25"), "a/b%");
}

#[test]
fn without_the_feature_only_the_legacy_mode_is_tried() {
    const ON: &str = "impersonate-on:user-info:get /apis";
    const AS: &str = "impersonate:user-info users/carol";
    let carol = [("impersonate-user", "carol")];
    assert!(impersonated(true, &[ON, AS], &carol).starts_with("carol"));
    assert_eq!(
        impersonated(false, &[ON, AS], &carol),
        "users \"carol\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope"
    );
    assert!(impersonated(false, &["impersonate users/carol"], &carol).starts_with("carol"));
}
