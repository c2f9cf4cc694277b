//! Owners on one server with dependents on the other.

use http::Method;
use planesmith_e2e::{Connection, Watch};
use serde_json::{Value, json};

use super::pair::{ORDERS, Pair, TIMEOUT, create, next, order};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The number of dependents that one owner orphans.
const ORPHANS: usize = 40;

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

/// Returns the object with `owner` as its only owner.
fn owned_by(mut object: Value, owner: &Value) -> Value {
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": true,
    }]);
    object
}

async fn delete(front: &Connection, (collection, name): (&str, &str), policy: &str) {
    let path = format!("{collection}/{name}");
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
    let answer = front.call(Method::DELETE, &path, options.to_string()).await.unwrap();
    answer.expect(200).unwrap();
}

/// A watch of one object, opened before the change.
struct Sight {
    watch: Watch,
    name: &'static str,
}

impl Sight {
    async fn of(front: &Connection, collection: &str, name: &'static str) -> Self {
        let watch = front.watch(&format!("{collection}?watch=1")).await.unwrap();
        Self { watch, name }
    }

    /// Waits for a matching event of the object.
    async fn of_change(mut self, is_wanted: impl Fn(&Value) -> bool) {
        let seen = async {
            loop {
                let event = next(&mut self.watch).await;
                if event["object"]["metadata"]["name"] == self.name && is_wanted(&event) {
                    return;
                }
            }
        };
        let seen = tokio::time::timeout(TIMEOUT, seen).await;
        seen.unwrap_or_else(|_| panic!("{} does not change as it should", self.name));
    }
}

fn is_deleted(event: &Value) -> bool {
    event["type"] == "DELETED"
}

#[tokio::test]
async fn dependents_there_of_an_object_here_are_deleted() {
    let (pair, _behind) = Pair::start().await;
    let front = pair.connect().await;
    let owner = create(&front, CONFIG_MAPS, &config_map("owner")).await;
    create(&front, ORDERS, &owned_by(order("belongs"), &owner)).await;
    create(&front, ORDERS, &order("free")).await;
    let sight = Sight::of(&front, ORDERS, "belongs").await;
    delete(&front, (CONFIG_MAPS, "owner"), "Background").await;
    sight.of_change(is_deleted).await;
    front.get(&format!("{ORDERS}/free")).await.unwrap().expect(200).unwrap();
}

#[tokio::test]
async fn dependents_here_of_an_object_there_are_deleted() {
    let (pair, _behind) = Pair::start().await;
    let front = pair.connect().await;
    let owner = create(&front, ORDERS, &order("owner")).await;
    create(&front, CONFIG_MAPS, &owned_by(config_map("belongs"), &owner)).await;
    let mut absent = owner.clone();
    absent["metadata"]["uid"] = json!("0d9d2c6f-96a5-4a8f-a1a3-0e5f0a3c0000");
    let sight = Sight::of(&front, CONFIG_MAPS, "stray").await;
    let stray = owned_by(config_map("stray"), &absent);
    create(&front, CONFIG_MAPS, &stray).await;
    sight.of_change(is_deleted).await;
    front
        .get(&format!("{CONFIG_MAPS}/belongs"))
        .await
        .unwrap()
        .expect(200)
        .unwrap();
    let sight = Sight::of(&front, CONFIG_MAPS, "belongs").await;
    delete(&front, (ORDERS, "owner"), "Background").await;
    sight.of_change(is_deleted).await;
}

#[tokio::test]
async fn an_owner_waits_for_what_it_has_on_the_other_server() {
    let (pair, _behind) = Pair::start().await;
    let front = pair.connect().await;
    let owner = create(&front, CONFIG_MAPS, &config_map("owner")).await;
    let mut held = owned_by(order("held"), &owner);
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&front, ORDERS, &held).await;
    // Once a later object is collected, the garbage collector's graph contains the order.
    let mut absent = owner.clone();
    absent["metadata"]["uid"] = json!("0d9d2c6f-96a5-4a8f-a1a3-0e5f0a3c0000");
    let sight = Sight::of(&front, ORDERS, "stray").await;
    create(&front, ORDERS, &owned_by(order("stray"), &absent)).await;
    sight.of_change(is_deleted).await;

    let is_ending = |event: &Value| event["object"]["metadata"]["deletionTimestamp"].is_string();
    let sight = Sight::of(&front, ORDERS, "held").await;
    delete(&front, (CONFIG_MAPS, "owner"), "Foreground").await;
    sight.of_change(is_ending).await;
    let owner = front.get_json(&format!("{CONFIG_MAPS}/owner")).await.unwrap();
    assert_eq!(owner["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let sight = Sight::of(&front, CONFIG_MAPS, "owner").await;
    let release = json!({"metadata": {"finalizers": null}}).to_string();
    let request = front
        .request(Method::PATCH, &format!("{ORDERS}/held"))
        .header("content-type", "application/merge-patch+json")
        .body(bytes::Bytes::from(release).into())
        .unwrap();
    front.finish(request).await.unwrap().expect(200).unwrap();
    sight.of_change(is_deleted).await;
}

#[tokio::test]
async fn orphans_on_the_other_server_stay() {
    let (pair, _behind) = Pair::start().await;
    let front = pair.connect().await;
    let owner = create(&front, ORDERS, &order("owner")).await;
    let mut watch = front.watch(&format!("{CONFIG_MAPS}?watch=1")).await.unwrap();
    // Many, the last of which were created just before the deletion.
    for number in 0..ORPHANS {
        let orphan = config_map(&format!("orphan-{number}"));
        create(&front, CONFIG_MAPS, &owned_by(orphan, &owner)).await;
    }
    delete(&front, (ORDERS, "owner"), "Orphan").await;
    let mut freed = 0;
    let all_freed = async {
        while freed < ORPHANS {
            let event = next(&mut watch).await;
            let metadata = &event["object"]["metadata"];
            if metadata["name"].as_str().unwrap().starts_with("orphan-") {
                assert_ne!(event["type"], "DELETED", "{event}");
                freed += usize::from(event["type"] == "MODIFIED" && metadata["ownerReferences"].is_null());
            }
        }
    };
    let all_freed = tokio::time::timeout(TIMEOUT, all_freed).await;
    assert!(all_freed.is_ok(), "{freed} of {ORPHANS} are free");
}
