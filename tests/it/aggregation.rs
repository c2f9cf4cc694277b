//! A server with a custom group behind a server with all built-in groups.

mod fake;
mod ownership;
mod pair;
mod transports;

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use planesmith_e2e::Connection;
use serde_json::{Value, json};

use self::pair::{NAMESPACES, ORDERS, Pair, TIMEOUT, create, next, order};
use crate::transcript::{has_kubectl, run};

const ALL_GROUPS: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The time limit for an unavailable server to become available again. The front server probes unavailable servers every
/// second, and available ones every ten.
const BACK_WITHIN: Duration = Duration::from_secs(8);

async fn all_groups(connection: &Connection) -> Value {
    let request = connection.request(Method::GET, "/apis").header("accept", ALL_GROUPS);
    let request = request.body(Bytes::new().into()).unwrap();
    connection.finish(request).await.unwrap().json().unwrap()
}

/// Returns the entry of aggregated discovery for a version of the shop.
fn shop<'d>(groups: &'d Value, version: &str) -> &'d Value {
    let groups = groups["items"].as_array().unwrap();
    let shop = groups
        .iter()
        .find(|group| group["metadata"]["name"] == "shop.example.com");
    let versions = shop.expect("the group is listed")["versions"].as_array().unwrap();
    let version = versions.iter().find(|known| known["version"] == version);
    version.expect("the version is listed")
}

#[tokio::test]
async fn objects_of_the_server_behind_are_used_through_the_one_in_front() {
    let (pair, _behind) = Pair::start().await;
    let front = pair.connect().await;
    let mut watch = front.watch(&format!("{ORDERS}?watch=1")).await.unwrap();
    let made = create(&front, ORDERS, &order("first")).await;
    assert_eq!(
        made["spec"]["priority"], "Normal",
        "defaults are those of the server behind"
    );
    let event = tokio::time::timeout(TIMEOUT, next(&mut watch)).await.unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["metadata"]["name"]),
        (&json!("ADDED"), &json!("first"))
    );

    let older = ORDERS.replace("/v1/", "/v1alpha1/");
    let older = front.get(&format!("{older}/first")).await.unwrap().expect(200).unwrap();
    assert_eq!(older.json().unwrap()["apiVersion"], "shop.example.com/v1alpha1");

    let groups = all_groups(&front).await;
    let version = shop(&groups, "v1");
    assert_eq!(version["freshness"], "Current");
    assert!(
        version["resources"]
            .as_array()
            .is_some_and(|resources| !resources.is_empty())
    );
    let documents = front.get("/openapi/v3").await.unwrap().json().unwrap();
    assert!(
        documents["paths"]["apis/shop.example.com/v1"].is_object(),
        "{documents}"
    );
    let plain = front.get("/apis/shop.example.com").await.unwrap().json().unwrap();
    assert_eq!(plain["preferredVersion"]["version"], "v1");
}

#[tokio::test]
async fn kubectl_sees_one_server() {
    if !has_kubectl() {
        return planesmith_e2e::skip::skip("kubectl", "no kubectl is on PATH");
    }
    let (pair, _behind) = Pair::start().await;
    let home = &pair.front_home;
    std::fs::write(home.path().join("order.json"), order("typed").to_string()).unwrap();
    for (script, expected) in [
        ("kubectl apply -f order.json", "order.shop.example.com/typed created"),
        (
            "kubectl apply --server-side --force-conflicts -f order.json",
            "serverside-applied",
        ),
        ("kubectl get orders", "typed"),
        ("kubectl get ord typed -o jsonpath={.spec.currency}", "EUR"),
        ("kubectl explain order.spec", "customer"),
        ("kubectl api-resources --api-group=shop.example.com", "orders"),
        ("kubectl get apiservice v1.shop.example.com", "default/shop"),
        ("kubectl delete order typed", "deleted"),
    ] {
        let (output, status) = run(home, script, &[]).await;
        assert!(status == 0 && output.contains(expected), "{script}: {output}");
    }
}

#[tokio::test]
async fn a_dead_server_costs_its_own_group_and_comes_back() {
    let (pair, behind) = Pair::start().await;
    let front = pair.connect().await;
    create(&front, ORDERS, &order("kept")).await;
    behind.kill().await.unwrap();

    let answer = front.get(ORDERS).await.unwrap();
    assert_eq!(answer.status, 503, "{}", answer.excerpt());
    // Each version is probed separately.
    for version in ["v1", "v1alpha1"] {
        pair.wait_for(version, "False").await;
    }
    let answer = front.get(ORDERS).await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.excerpt()),
        (503, "service unavailable\n".to_owned())
    );
    let groups = all_groups(&front).await;
    assert_eq!(shop(&groups, "v1")["freshness"], "Stale");
    for path in [
        "/api/v1/pods",
        "/apis/apps/v1/deployments",
        "/apis",
        "/openapi/v2",
        "/readyz",
    ] {
        front.get(path).await.unwrap().expect(200).unwrap();
    }
    let events = namespace_comes_and_goes(&front, &[]).await;
    let conditions = events.iter().flat_map(|event| {
        let conditions = event["object"]["status"]["conditions"].as_array();
        conditions.cloned().unwrap_or_default()
    });
    let mut undiscovered = conditions.filter(|condition| condition["type"] == "NamespaceDeletionDiscoveryFailure");
    let undiscovered = undiscovered.next().expect("the dead server is named");
    assert_eq!(
        (&undiscovered["status"], &undiscovered["reason"]),
        (&json!("True"), &json!("DiscoveryFailed"))
    );
    let message = undiscovered["message"].as_str().unwrap();
    let expected = "shop.example.com/v1: stale GroupVersion discovery: shop.example.com/v1, \
                    shop.example.com/v1alpha1: stale GroupVersion discovery: shop.example.com/v1alpha1";
    assert!(message.ends_with(expected), "{message}");

    let start = pair.start_behind(&pair.behind).await;
    let since = Instant::now();
    pair.wait_for("v1", "True").await;
    let took = since.elapsed();
    front.get(&format!("{ORDERS}/kept")).await.unwrap().expect(200).unwrap();
    assert_eq!(shop(&all_groups(&front).await, "v1")["freshness"], "Current");
    assert!(took < BACK_WITHIN, "{took:?}");
    drop(start);
}

#[tokio::test]
async fn a_namespace_takes_along_what_other_servers_have_in_it() {
    let (pair, _behind) = Pair::start().await;
    let front = pair.connect().await;
    namespace_comes_and_goes(&front, &[order("left")]).await;
    let orders = front.get_json("/apis/shop.example.com/v1/orders").await.unwrap();
    assert_eq!(orders["items"], json!([]));
}

/// Creates a namespace with orders, deletes it, and waits until it is gone. Returns the events of its deletion.
async fn namespace_comes_and_goes(front: &Connection, orders: &[Value]) -> Vec<Value> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "passing"}});
    create(front, NAMESPACES, &namespace).await;
    for order in orders {
        create(front, &ORDERS.replace("default", "passing"), order).await;
    }
    let path = format!("{NAMESPACES}?watch=1&fieldSelector=metadata.name=passing");
    let mut watch = front.watch(&path).await.unwrap();
    let gone = front
        .call(Method::DELETE, &format!("{NAMESPACES}/passing"), "")
        .await
        .unwrap();
    gone.expect(200).unwrap();
    let deleted = async {
        let mut events = Vec::new();
        loop {
            let event = next(&mut watch).await;
            let is_last = event["type"] == "DELETED";
            events.push(event);
            if is_last {
                return events;
            }
        }
    };
    let events = tokio::time::timeout(TIMEOUT, deleted).await;
    events.expect("the namespace goes")
}
