use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use planesmith_machinery::resource::Scope;
use serde_json::Value;
use tower::ServiceExt;

use super::{Discovery, GroupDirectory, Groups, RemoteVersion, ServedResource, SharedTable, VersionPriority};
use crate::discovery::{GroupRegistry, ListedGroup, ListedGroups, RemoteResources, ServedKind, ServedSubresource};
use crate::request::{Context, Verb};
use crate::routes::{ResourceHandler, RouteTable, Routes};

struct Silent(ServedResource);

/// Registered groups, in order.
struct Registered(Vec<ListedGroup>);

impl GroupRegistry for Registered {
    fn groups(&self) -> Vec<ListedGroup> {
        self.0.clone()
    }

    fn lists(&self, group: &str, _version: &str) -> bool {
        self.0.iter().any(|listed| listed.name == group)
    }
}

impl ResourceHandler for Silent {
    fn facts(&self) -> &ServedResource {
        &self.0
    }

    fn serve(self: Arc<Self>, _: Context, _: Request<Body>) -> BoxFuture<'static, Response> {
        Box::pin(async { Response::default() })
    }
}

fn kind(group: &'static str, version: &'static str, kind: &'static str) -> ServedKind {
    ServedKind {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
    }
}

/// A table with one namespaced resource for each `group/version/plural/Kind`.
fn table(names: &[&'static str]) -> RouteTable {
    let mut routes = Routes::new();
    for name in names {
        let [group, version, plural, name] = name.split('/').collect::<Vec<_>>()[..] else {
            panic!("{name}")
        };
        let scale = ServedSubresource {
            name: "scale".into(),
            kind: Some(kind("autoscaling", "v1", "Scale")),
            verbs: vec![Verb::Get, Verb::Patch, Verb::Update],
            open_ended: false,
        };
        routes.add(Arc::new(Silent(ServedResource {
            group: group.into(),
            version: version.into(),
            plural: plural.into(),
            singular: "single".into(),
            kind: name.into(),
            short_names: vec!["s".into()],
            categories: vec![],
            scope: Scope::Namespaced,
            verbs: Verb::STORED.to_vec(),
            hidden_verbs: Vec::new(),
            is_custom: false,
            stored_as: Some(kind(group, version, name)),
            subresources: if plural == "deployments" { vec![scale] } else { vec![] },
        })));
    }
    routes.build()
}

fn shared(names: &[&'static str]) -> SharedTable {
    SharedTable::new(table(names))
}

fn discovery(tables: &[SharedTable]) -> Router {
    with_directory(tables, GroupDirectory::default())
}

fn with_directory(tables: &[SharedTable], directory: GroupDirectory) -> Router {
    let priorities = [VersionPriority {
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        group_priority: 2000,
        version_priority: 15,
    }];
    let address = "192.0.2.1:6443".to_owned();
    let discovery = Arc::new(Discovery::new(tables.to_vec(), directory, &priorities, address));
    let groups = Arc::clone(&discovery);
    let group = move |request: Request<Body>| async move {
        let document = groups.group(request.uri().path()).unwrap();
        document.answer(&request.into_parts().0)
    };
    discovery.router().fallback(group)
}

const ALL: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

async fn get(router: &Router, path: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router
        .clone()
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    let (head, body) = response.into_parts();
    (
        head.status,
        head.headers,
        body.collect().await.unwrap().to_bytes().to_vec(),
    )
}

async fn json(router: &Router, path: &str) -> Value {
    serde_json::from_slice(&get(router, path, &[]).await.2).unwrap()
}

fn texts<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|item| item[field].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn groups_stand_in_order_and_versions_best_first() {
    let core = shared(&[
        "/v1/configmaps/ConfigMap",
        "autoscaling/v1/hpas/Hpa",
        "autoscaling/v2/hpas/Hpa",
        "apps/v1/a/A",
    ]);
    let custom = shared(&[
        "zoo.example.com/v1alpha1/a/A",
        "zoo.example.com/v1/a/A",
        "ant.example.com/v1/a/A",
    ]);
    let router = discovery(&[core, custom]);
    let groups = json(&router, "/apis").await;
    assert_eq!(
        texts(&groups["groups"], "name"),
        ["apps", "ant.example.com", "autoscaling", "zoo.example.com"]
    );
    assert!(groups["groups"][0].get("kind").is_none(), "{groups}");
    let group = json(&router, "/apis/zoo.example.com/").await;
    assert_eq!(texts(&group["versions"], "version"), ["v1", "v1alpha1"]);
    assert_eq!(group["preferredVersion"]["groupVersion"], "zoo.example.com/v1");
    let core = json(&router, "/api/").await;
    let expected = r#"{"kind":"APIVersions","serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"192.0.2.1:6443"}],"versions":["v1"]}"#;
    assert_eq!(core.to_string(), expected);
}

#[tokio::test]
async fn registered_groups_order_the_plain_list_and_add_other_servers() {
    let directory = GroupDirectory::default();
    let router = with_directory(&[shared(&["apps/v1/a/A", "zoo.example.com/v1/a/A"])], directory.clone());
    let listed = |name: &str, versions: &[&str]| ListedGroup {
        name: name.to_owned(),
        versions: versions.iter().map(ToString::to_string).collect(),
    };
    directory.store(Groups {
        listed: Some(ListedGroups::new(Arc::new(Registered(vec![
            listed("far.example.com", &["v2", "v1"]),
            listed("apps", &["v1"]),
        ])))),
        remote: Arc::new([RemoteVersion {
            priority: VersionPriority {
                group: "far.example.com".to_owned(),
                version: "v1".to_owned(),
                group_priority: 1500,
                version_priority: 1,
            },
            resources: Arc::new(RemoteResources::default()),
            is_current: false,
        }]),
    });
    let groups = json(&router, "/apis").await;
    assert_eq!(texts(&groups["groups"], "name"), ["far.example.com", "apps"]);
    assert_eq!(groups["groups"][0]["preferredVersion"]["version"], "v2");
    let unlisted = json(&router, "/apis/zoo.example.com").await;
    assert_eq!(texts(&unlisted["versions"], "version"), ["v1"]);
    let (_, _, all) = get(&router, "/apis", &[("accept", ALL)]).await;
    let all: Value = serde_json::from_slice(&all).unwrap();
    let names: Vec<_> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["metadata"]["name"])
        .collect();
    assert_eq!(names, ["apps", "far.example.com", "zoo.example.com"]);
    assert_eq!(all["items"][1]["versions"][0]["freshness"], "Stale");
}

#[tokio::test]
async fn a_swapped_table_shows_at_once() {
    let table_of_custom = shared(&[]);
    let router = discovery(&[shared(&["apps/v1/a/A"]), table_of_custom.clone()]);
    let (_, before, _) = get(&router, "/apis", &[("accept", ALL)]).await;
    table_of_custom.store(Arc::new(table(&["zoo.example.com/v1/a/A"])));
    assert_eq!(
        texts(&json(&router, "/apis").await["groups"], "name"),
        ["apps", "zoo.example.com"]
    );
    let (_, after, _) = get(&router, "/apis", &[("accept", ALL)]).await;
    assert_ne!(before["etag"], after["etag"]);
}

#[tokio::test]
async fn everything_at_once_has_a_tag_that_is_compared_to_the_letter() {
    let router = discovery(&[shared(&["/v1/configmaps/ConfigMap", "apps/v1/deployments/Deployment"])]);
    let (code, headers, body) = get(&router, "/apis", &[("accept", &format!("{ALL},application/json"))]).await;
    assert_eq!((code, headers["content-type"].to_str().unwrap()), (StatusCode::OK, ALL));
    assert_eq!(
        (&headers["vary"], &headers["cache-control"]),
        (&"Accept".parse().unwrap(), &"public".parse().unwrap())
    );
    let expected = concat!(
        r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"apps"},"#,
        r#""versions":[{"version":"v1","resources":[{"resource":"deployments","responseKind":{"group":"","version":"","kind":"Deployment"},"#,
        r#""scope":"Namespaced","singularResource":"single","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"#,
        r#""shortNames":["s"],"subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"#,
        r#""verbs":["get","patch","update"]}]}],"freshness":"Current"}]}]}"#,
        "\n"
    );
    assert_eq!(String::from_utf8_lossy(&body), expected);
    let tag = headers["etag"].to_str().unwrap().to_owned();
    let (code, headers, body) = get(&router, "/apis", &[("accept", ALL), ("if-none-match", &tag)]).await;
    assert_eq!((code, body.len()), (StatusCode::NOT_MODIFIED, 0));
    assert_eq!(
        (&headers["etag"], &headers["vary"]),
        (&tag.parse().unwrap(), &"Accept".parse().unwrap())
    );
    for other in [format!("W/{tag}"), "*".to_owned(), format!("{tag}, \"a\"")] {
        let (code, _, _) = get(&router, "/apis", &[("accept", ALL), ("if-none-match", &other)]).await;
        assert_eq!(code, StatusCode::OK, "{other}");
    }
}

#[tokio::test]
async fn a_wildcard_may_name_everything_at_once() {
    let router = discovery(&[shared(&["/v1/configmaps/ConfigMap", "apps/v1/a/A"])]);
    let (any, of_applications) = (ALL.replace("application/json", "*/*"), ALL.replace("json", "*"));
    for (path, accept, expected) in [
        ("/api", &any, StatusCode::OK),
        ("/apis", &any, StatusCode::OK),
        ("/apis", &of_applications, StatusCode::OK),
        // Below `/api` a route has to produce a media type that the header names.
        ("/api", &of_applications, StatusCode::NOT_ACCEPTABLE),
    ] {
        let (code, headers, _) = get(&router, path, &[("accept", accept)]).await;
        assert_eq!(code, expected, "{path} {accept}");
        assert!(code != StatusCode::OK || headers["content-type"] == ALL);
    }
    let preferred = format!("{ALL};q=0.5, {}", ALL.replace("json", "yaml"));
    let (_, headers, _) = get(&router, "/apis", &[("accept", &preferred)]).await;
    assert_eq!(headers["content-type"], ALL.replace("json", "yaml"));
}

#[tokio::test]
async fn the_path_with_a_slash_has_the_plain_list() {
    let router = discovery(&[shared(&["apps/v1/a/A"])]);
    let (code, _, _) = get(&router, "/apis/", &[("accept", ALL)]).await;
    assert_eq!(code, StatusCode::NOT_ACCEPTABLE);
    let either = format!("{ALL},application/json");
    let (_, headers, _) = get(&router, "/apis/", &[("accept", &either)]).await;
    assert_eq!(headers["content-type"], "application/json");
}

#[tokio::test]
async fn older_forms_fall_back_to_the_plain_list() {
    let router = discovery(&[shared(&["apps/v1/a/A"])]);
    let older = ALL.replace("v2", "v2beta1") + ",application/json";
    let (_, headers, _) = get(&router, "/apis", &[("accept", &older)]).await;
    assert_eq!(headers["content-type"], "application/json");
}

#[tokio::test]
async fn protobuf_of_everything_starts_as_recorded() {
    let router = discovery(&[shared(&["apps/v1/a/A"])]);
    let wanted = ALL.replace("json", "vnd.kubernetes.protobuf");
    let (_, headers, body) = get(&router, "/apis", &[("accept", &wanted)]).await;
    assert_eq!(headers["content-type"], wanted);
    assert_eq!(body[..8], [0x6b, 0x38, 0x73, 0x00, 0x0a, 0x2f, 0x0a, 0x16]);
}

#[test]
fn the_list_of_a_version_names_subresources_and_stored_versions() {
    let check = |name, group: &str, expected: &str| {
        let table = table(&[name]);
        let served: Vec<_> = table.versions().flat_map(|(_, _, resources)| resources).collect();
        let document = crate::discovery::resource_list(group, "v1", &served);
        assert_eq!(String::from_utf8_lossy(document.json()).trim_end(), expected);
    };
    check(
        "/v1/configmaps/ConfigMap",
        "",
        concat!(
            r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"single","namespaced":true,"#,
            r#""kind":"ConfigMap","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"#,
            r#""shortNames":["s"],"storageVersionHash":"qFsyl6wFWjQ="}]}"#
        ),
    );
    check(
        "apps/v1/deployments/Deployment",
        "apps",
        concat!(
            r#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[{"name":"deployments","singularName":"single","namespaced":true,"#,
            r#""kind":"Deployment","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"#,
            r#""shortNames":["s"],"storageVersionHash":"8aSe+NMegvE="},{"name":"deployments/scale","singularName":"","namespaced":true,"#,
            r#""group":"autoscaling","version":"v1","kind":"Scale","verbs":["get","patch","update"]}]}"#
        ),
    );
}
