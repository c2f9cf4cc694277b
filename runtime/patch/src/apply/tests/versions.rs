//! Managers that name their fields in another version.

use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::ApiError;

use super::*;

/// The content of an older version.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct OldSpec {
    /// Told apart by key.
    #[field(moved_to = "spec.labels")]
    tags: BTreeMap<String, String>,
    /// A number.
    replicas: Option<i32>,
}

/// An older version.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1beta1", kind = "Thing", storage_version = Thing)]
struct OldThing {
    /// Metadata.
    metadata: ObjectMeta,
    /// Content.
    spec: OldSpec,
}

fn scheme() -> Scheme {
    let mut scheme = Scheme::new();
    scheme.add::<Thing>().add::<OldThing>();
    scheme
}

fn step(live: &Thing, kind: &ResourceFacts, spec: &Value) -> Result<Thing, ApplyError> {
    let scheme = scheme();
    let live = planesmith_machinery::conversion::convert(live, kind);
    let document = json!({"apiVersion": kind.api_version, "kind": "Thing", "metadata": {"name": "x"}, "spec": spec});
    let outcome = apply(&*live, &document, &by("a"), false, &scheme)?;
    let mut new = kind.zero();
    planesmith_machinery::json::from_value(&outcome.document, &mut *new, Strictness::Lenient)
        .expect("a document of the kind");
    new.meta_mut().managed_fields = outcome.managed_fields;
    new.meta_mut().uid = "u".to_owned();
    let new =
        planesmith_machinery::conversion::convert(&*new, <Thing as planesmith_machinery::object::Resource>::RESOURCE);
    Ok(new.downcast_ref::<Thing>().expect("the storage version").clone())
}

#[test]
fn an_applier_can_move_to_another_version() {
    use planesmith_machinery::object::Resource as _;
    let live = step(
        &Thing::default(),
        OldThing::RESOURCE,
        &json!({"tags": {"x": "1", "y": "1"}}),
    )
    .expect("no conflict");
    assert_eq!(
        managers(&live),
        [r#"a Apply {"f:spec":{"f:tags":{"f:x":{},"f:y":{}}}}"#]
    );
    let live = step(&live, Thing::RESOURCE, &json!({"labels": {"y": "1"}})).expect("no conflict");
    assert_eq!(spec_of(&live), json!({"labels": {"y": "1"}}));
    assert_eq!(managers(&live), [r#"a Apply {"f:spec":{"f:labels":{"f:y":{}}}}"#]);
    assert_eq!(live.metadata.managed_fields[0].api_version, "test.example.com/v1");
}

#[test]
fn conflicts_are_found_across_versions() {
    use planesmith_machinery::object::Resource as _;
    let live = step(&Thing::default(), OldThing::RESOURCE, &json!({"tags": {"x": "1"}})).expect("no conflict");
    let document = document(&json!({"labels": {"x": "2"}}));
    let error = apply(&live, &document, &by("b"), false, &scheme()).expect_err("a conflict");
    assert_eq!(
        error.to_api_error("x").message(),
        "Apply failed with 1 conflict: conflict with \"a\": .spec.tags.x"
    );
}

/// Every version is there, but nothing can be converted: the converter does not answer.
struct Unreachable(Scheme);

impl Versions for Unreachable {
    fn convert(&self, _: &dyn Object, _: &str) -> ApiResult<Option<Box<dyn Object>>> {
        Err(ApiError::unnamed(500, "nobody answers"))
    }

    fn zero(&self, object: &dyn Object, api_version: &str) -> Option<Box<dyn Object>> {
        self.0.zero(object, api_version)
    }
}

#[test]
fn while_conversion_fails_nothing_is_applied_and_nothing_tracked() {
    use planesmith_machinery::object::Resource as _;
    let live = step(&Thing::default(), OldThing::RESOURCE, &json!({"tags": {"x": "1"}})).expect("no conflict");
    let versions = Unreachable(scheme());
    let document = document(&json!({"labels": {"y": "2"}}));
    let error = apply(&live, &document, &by("b"), false, &versions).expect_err("a failure");
    let why = "nobody answers";
    assert_eq!(error, ApplyError::Unversioned(why.to_owned()));
    assert_eq!(error.to_api_error("x").message(), why);
    let mut new = live.clone();
    new.spec.replicas = Some(2);
    let error = track_write(Some(&live), &mut new, &by("b"), &versions).expect_err("a failure");
    assert_eq!(error.message(), "nobody answers");
    assert_eq!(new.metadata.managed_fields, []);
}
