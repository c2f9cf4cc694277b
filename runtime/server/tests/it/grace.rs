//! Deletion of objects with a grace period.

use std::sync::{Arc, Mutex, OnceLock};

use planesmith_access::admission::{AdmissionFuture, Attributes, Chain, Objects, Operation, Phase, Plugin};
use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::ApiError;
use planesmith_machinery::strategy::StrategyExtensions;
use planesmith_server::stores::Stores;
use planesmith_store::{Draft, Expect, MemoryLog, Op, Storage, StorageOptions};
use serde_json::{Value, json};

use crate::harness::Server;

const JOBS: &str = "/apis/test.example.com/v1/jobs";

/// A kind with a grace period.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "test.example.com",
    version = "v1",
    kind = "Job",
    cluster,
    returns_deleted,
    strategy_extensions
)]
struct Job {
    metadata: ObjectMeta,
}

impl StrategyExtensions for Job {
    fn grace_period(&self, requested: Option<i64>) -> Option<i64> {
        Some(requested.unwrap_or(30))
    }
}

/// An event between the mark and the removal of an object, while the plugins decide for the second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    Nothing,
    /// Another client removes the object.
    Removed,
    /// Another client removes the object, and creates one with the same name.
    Replaced,
    /// Another client changes the object.
    Changed,
    /// The plugin refuses.
    Refused,
}

/// An admission plugin: records if the objects that it sees are marked.
struct Witness {
    meanwhile: Meanwhile,
    calls: Mutex<Vec<bool>>,
    stores: OnceLock<Stores>,
}

impl Witness {
    async fn act(&self, object: &Job) {
        let store = self.stores.get().expect("set").resource(Job::RESOURCE);
        let key: Arc<str> = store.key("", "j").expect("a key").into();
        let write = async |op| drop(store.collection().write(op).await.expect("it is written"));
        let put = |metadata: ObjectMeta| {
            let encoded = planesmith_machinery::json::encode_for_storage(&Job { metadata });
            Op::Put {
                key: Arc::clone(&key),
                draft: Draft::new(encoded.bytes, encoded.gap),
                row: planesmith_server::stores::row_of(object),
                expect: Expect::Any,
                ttl: None,
            }
        };
        if matches!(self.meanwhile, Meanwhile::Removed | Meanwhile::Replaced) {
            let remove = Op::Delete {
                key: Arc::clone(&key),
                expect: Expect::Present,
                last: None,
            };
            write(remove).await;
        }
        let mut metadata = object.metadata.clone();
        match self.meanwhile {
            Meanwhile::Replaced => {
                metadata.uid = "another".to_owned();
                write(put(metadata)).await;
            }
            Meanwhile::Changed => {
                metadata.labels.insert("changed".to_owned(), "1".to_owned());
                write(put(metadata)).await;
            }
            Meanwhile::Nothing | Meanwhile::Removed | Meanwhile::Refused => {}
        }
    }
}

impl Plugin for Witness {
    fn name(&self) -> &'static str {
        "Witness"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Delete && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, _: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        Box::pin(async {
            let object = objects.old.and_then(|old| old.downcast_ref::<Job>()).expect("a job");
            let count = {
                let mut calls = self.calls.lock().expect("no panic");
                calls.push(object.metadata.deletion_timestamp.is_some());
                calls.len()
            };
            if count == 2 {
                self.act(object).await;
                if self.meanwhile == Meanwhile::Refused {
                    return Err(ApiError::bad_request("it is kept"));
                }
            }
            Ok(())
        })
    }
}

/// Deletes a job without a grace period. Returns the code and the message of the answer, the calls of the plugin, and the job
/// that is left.
async fn delete(meanwhile: Meanwhile, options: &str) -> (u16, Value, Vec<bool>, Value) {
    let witness = Arc::new(Witness {
        meanwhile,
        calls: Mutex::default(),
        stores: OnceLock::new(),
    });
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens");
    let mut scheme = Scheme::new();
    scheme.add::<Job>();
    let admission = Chain::new(vec![Arc::clone(&witness) as Arc<dyn Plugin>]);
    let server = Server::admitting(storage, scheme, admission);
    drop(witness.stores.set(server.stores.clone()));
    server.create(JOBS, r#"{"metadata":{"name":"j"}}"#).await;
    let job = format!("{JOBS}/j");
    let answer = server.delete(&job, options).await;
    let left = server.get(&job).await;
    let left = match left.code {
        404 => Value::Null,
        _ => left.at("/metadata"),
    };
    let said = match answer.code {
        200 => answer.at("/kind"),
        _ => answer.at("/message"),
    };
    let calls = witness.calls.lock().expect("no panic").clone();
    (answer.code, said, calls, left)
}

#[tokio::test]
async fn plugins_decide_on_the_mark_and_on_the_removal() {
    let now = r#"{"gracePeriodSeconds":0}"#;
    let removed = |calls: &[bool]| (200, json!("Job"), calls.to_vec(), Value::Null);
    assert_eq!(delete(Meanwhile::Nothing, now).await, removed(&[false, true]));
    assert_eq!(
        delete(Meanwhile::Nothing, r#"{"gracePeriodSeconds":0,"dryRun":["All"]}"#)
            .await
            .2,
        [false]
    );
    let marked = delete(Meanwhile::Nothing, "").await;
    assert_eq!((marked.0, marked.2), (200, vec![false]));
    let (code, why, calls, left) = delete(Meanwhile::Refused, now).await;
    assert_eq!((code, why, calls), (400, json!("it is kept"), vec![false, true]));
    assert_eq!(left["deletionGracePeriodSeconds"], 0);
}

#[tokio::test]
async fn others_may_remove_or_change_a_marked_object_before_its_removal() {
    let now = r#"{"gracePeriodSeconds":0}"#;
    let removed = |calls: &[bool]| (200, json!("Job"), calls.to_vec(), Value::Null);
    assert_eq!(delete(Meanwhile::Removed, now).await, removed(&[false, true]));
    assert_eq!(delete(Meanwhile::Changed, now).await, removed(&[false, true, true]));
    let (code, _, calls, left) = delete(Meanwhile::Replaced, now).await;
    assert_eq!(
        (code, calls, left["uid"].clone()),
        (200, vec![false, true], json!("another"))
    );
}

#[tokio::test]
async fn a_precondition_of_the_version_covers_the_mark_and_the_removal() {
    let options = r#"{"gracePeriodSeconds":0,"preconditions":{"resourceVersion":"1"}}"#;
    assert_eq!(delete(Meanwhile::Nothing, options).await.0, 200);
    let (code, why, ..) = delete(Meanwhile::Changed, options).await;
    assert_eq!(code, 409, "{why}");
}
