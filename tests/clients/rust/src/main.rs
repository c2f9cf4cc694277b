//! The operations of a controller written with `kube`, against the server in the kubeconfig.
//!
//! Prints one line for each part that succeeds, and exits at the first failure.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{Controller, WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;

/// The time limit of every step.
const TIMEOUT: Duration = Duration::from_secs(240);

const SELECTOR: &str = "client=rust";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let client = Client::try_default().await?;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let parts = async {
        create(&maps).await.context("create")?;
        list_and_watch(&maps).await.context("list+watch")?;
        update_after_conflict(&maps).await.context("update conflict")?;
        apply(&maps).await.context("apply")?;
        lead(&Api::default_namespaced(client)).await.context("leader election")?;
        control(&maps).await.context("controller")
    };
    tokio::time::timeout(TIMEOUT, parts).await?
}

fn say(part: &str) {
    println!("{part}");
}

fn config_map(name: &str, color: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some([("client".to_owned(), "rust".to_owned())].into()),
            ..ObjectMeta::default()
        },
        data: Some([("color".to_owned(), color.to_owned())].into()),
        ..ConfigMap::default()
    }
}

/// Returns the status code of a refused request.
fn code<T>(result: kube::Result<T>) -> Result<u16> {
    match result {
        Ok(_) => bail!("it was not refused"),
        Err(kube::Error::Api(status)) => Ok(status.code),
        Err(error) => Err(error.into()),
    }
}

async fn create(maps: &Api<ConfigMap>) -> Result<()> {
    let params = PostParams::default();
    let made = maps.create(&params, &config_map("made", "red")).await?;
    ensure!(made.uid().is_some());
    ensure!(code(maps.create(&params, &config_map("made", "red")).await)? == 409);
    say("create");
    Ok(())
}

/// Every object arrives exactly once: in the list, or in the watch that starts at the list's revision.
async fn list_and_watch(maps: &Api<ConfigMap>) -> Result<()> {
    let listed = maps.list(&ListParams::default().labels(SELECTOR)).await?;
    ensure!(listed.iter().map(ResourceExt::name_any).eq(["made"]));
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let mut events = watcher(maps.clone(), config.labels(SELECTOR)).default_backoff().boxed();
        let mut seen = Vec::new();
        loop {
            match events.next().await.context("the watch ended")?? {
                watcher::Event::Init => {}
                watcher::Event::InitApply(object) => seen.push(format!("there {}", object.name_any())),
                watcher::Event::InitDone => {
                    maps.create(&PostParams::default(), &config_map("later", "red")).await?;
                    maps.replace("later", &PostParams::default(), &config_map("later", "blue"))
                        .await?;
                    maps.delete("later", &DeleteParams::default()).await?;
                }
                watcher::Event::Apply(object) => seen.push(format!("put {}", object.name_any())),
                watcher::Event::Delete(object) => {
                    seen.push(format!("gone {}", object.name_any()));
                    break;
                }
            }
        }
        ensure!(seen == ["there made", "put later", "put later", "gone later"], "{seen:?}");
    }
    say("list+watch");
    Ok(())
}

async fn update_after_conflict(maps: &Api<ConfigMap>) -> Result<()> {
    let params = PostParams::default();
    let mut stale = maps.get("made").await?;
    let patch = json!({"data": {"size": "large"}});
    maps.patch("made", &PatchParams::default(), &Patch::Merge(patch)).await?;
    paint(&mut stale);
    ensure!(code(maps.replace("made", &params, &stale).await)? == 409);
    let mut fresh = maps.get("made").await?;
    paint(&mut fresh);
    let updated = maps.replace("made", &params, &fresh).await?;
    ensure!(updated.data == data(&[("color", "green"), ("size", "large")]));
    say("update conflict");
    Ok(())
}

fn paint(map: &mut ConfigMap) {
    map.data.get_or_insert_default().insert("color".to_owned(), "green".to_owned());
}

fn data(pairs: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
    Some(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
}

/// Server-side apply by two managers.
async fn apply(maps: &Api<ConfigMap>) -> Result<()> {
    let send = |manager: &'static str, force: bool, data: serde_json::Value| async move {
        let params = PatchParams {
            force,
            ..PatchParams::apply(manager)
        };
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": data});
        maps.patch("applied", &params, &Patch::Apply(object)).await
    };
    send("one", false, json!({"a": "1", "b": "1"})).await?;
    send("two", false, json!({"c": "2"})).await?;
    ensure!(code(send("two", false, json!({"a": "2", "c": "2"})).await)? == 409);
    let taken = send("two", true, json!({"a": "2", "c": "2"})).await?;
    ensure!(taken.data == data(&[("a", "2"), ("b", "1"), ("c", "2")]));
    let left = send("one", false, json!({})).await?;
    ensure!(left.data == data(&[("a", "2"), ("c", "2")]));
    say("apply");
    Ok(())
}

/// A leader election on a lease: the first writer leads until it releases the lease.
async fn lead(leases: &Api<Lease>) -> Result<()> {
    let params = PostParams::default();
    let lease = Lease {
        metadata: ObjectMeta {
            name: Some("leader".to_owned()),
            ..ObjectMeta::default()
        },
        spec: Some(held_by("one")),
    };
    let made = leases.create(&params, &lease).await?;
    let take = |lease: &Lease, identity: &str| Lease {
        spec: Some(held_by(identity)),
        ..lease.clone()
    };
    let renewed = leases.replace("leader", &params, &take(&made, "two")).await?;
    ensure!(code(leases.replace("leader", &params, &take(&made, "one")).await)? == 409);
    let (two, three) = (take(&renewed, "one"), take(&renewed, "three"));
    let (first, second) = futures_util::future::join(
        leases.replace("leader", &params, &two),
        leases.replace("leader", &params, &three),
    )
    .await;
    ensure!(first.is_ok() != second.is_ok(), "one of two candidates leads");
    say("leader election");
    Ok(())
}

fn held_by(identity: &str) -> LeaseSpec {
    LeaseSpec {
        holder_identity: Some(identity.to_owned()),
        lease_duration_seconds: Some(15),
        ..LeaseSpec::default()
    }
}

/// A controller that creates a child for every parent; the child is deleted with its parent.
async fn control(maps: &Api<ConfigMap>) -> Result<()> {
    let selected = watcher::Config::default().labels("role=parent");
    let controller = Controller::new(maps.clone(), selected)
        .owns(maps.clone(), watcher::Config::default().labels("role=child"))
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), Arc::new(maps.clone()))
        .for_each(|_| std::future::ready(()));
    let script = async {
        let mut parent = config_map("parent", "red");
        parent.metadata.labels = Some([("role".to_owned(), "parent".to_owned())].into());
        maps.create(&PostParams::default(), &parent).await?;
        await_condition(maps.clone(), "child", |child: Option<&ConfigMap>| child.is_some()).await?;
        let uid = maps.get("child").await?.uid().context("a child has a uid")?;
        maps.delete("parent", &DeleteParams::default()).await?;
        await_condition(maps.clone(), "child", conditions::is_deleted(&uid)).await?;
        say("controller");
        anyhow::Ok(())
    };
    tokio::select! {
        () = controller => bail!("the controller ended"),
        result = script => result,
    }
}

async fn reconcile(parent: Arc<ConfigMap>, maps: Arc<Api<ConfigMap>>) -> kube::Result<Action> {
    let owner = parent.controller_owner_ref(&()).into_iter().collect::<Vec<_>>();
    let child = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "child", "labels": {"role": "child"}, "ownerReferences": owner},
    });
    let params = PatchParams::apply("controller").force();
    maps.patch("child", &params, &Patch::Apply(child)).await?;
    Ok(Action::await_change())
}
