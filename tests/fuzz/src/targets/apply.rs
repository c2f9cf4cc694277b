//! Server-side apply.

use planesmith_machinery::environment::Environment;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::time::Time;
use planesmith_machinery::{defaulting, yaml};
use planesmith_patch::apply::{self, Sent};
use planesmith_patch::fields::{Ignored, PathElement, Set, compare};
use planesmith_patch::managers::{Tracking, Versions};

use crate::kinds::{choose, join, pieces, samples};

/// No conversion to other versions.
struct OneVersion;

impl Versions for OneVersion {
    fn convert(&self, _: &dyn Object, _: &str) -> ApiResult<Option<Box<dyn Object>>> {
        Ok(None)
    }

    fn zero(&self, _: &dyn Object, _: &str) -> Option<Box<dyn Object>> {
        None
    }
}

/// Two managers apply to an object. Applying the same again changes nothing, and no write changes fields of other owners
/// without force.
pub(crate) fn run(input: &[u8]) {
    let Some((kind, rest)) = choose(input) else { return };
    let Some((mode, [first, second])) = rest.split_first().and_then(|(mode, rest)| Some((mode, pieces(rest)?))) else {
        return;
    };
    let force = mode % 2 == 1;
    let Some(live) = applied(&*kind.zero(), "one", first, false) else {
        return;
    };
    if live.meta().managed_fields.is_empty() {
        // A manager that applies no fields owns none, and the existing fields are then attributed to an earlier writer.
        return;
    }
    if !keeps_keys(kind, first) || !keeps_keys(kind, second) {
        return;
    }
    let again = applied(&*live, "one", first, false);
    assert_eq!(again.as_deref().map(rendered), Some(rendered(&*live)), "once and twice");
    let Some(both) = applied(&*live, "two", second, force) else {
        return;
    };
    let again = applied(&*both, "two", second, false);
    assert_eq!(again.as_deref().map(rendered), Some(rendered(&*both)), "once and twice");
    if !force {
        let owners = |object: &dyn Object| {
            let mut entries = object.meta().managed_fields.iter();
            entries
                .find(|entry| entry.manager == "one")
                .map(|entry| format!("{:?}", entry.fields_v1))
        };
        assert_eq!(owners(&*live), owners(&*both), "nothing of others was taken");
        // An explicit zero of a defaulted field is stored as the default. Applying it again now conflicts with the other owner.
        let is_stored_as_said = applied(&*live, "three", first, false).is_some();
        assert!(
            !is_stored_as_said || applied(&*both, "one", first, false).is_some(),
            "nothing of others was changed"
        );
    }
}

fn by(manager: &str) -> Tracking<'_> {
    Tracking {
        manager,
        subresource: "",
        now: Time::from_second(100),
        resets: &[],
        sent_empty: None,
    }
}

/// Returns the result of applying `body` to `live` as `manager`, computed as by the server; `None` if it is refused.
fn applied(live: &dyn Object, manager: &str, body: &[u8], force: bool) -> Option<Box<dyn Object>> {
    let kind = live.resource();
    let sent = Sent::read(body).ok()?;
    sent.check(&kind.api_version, &kind.kind).ok()?;
    let applied = apply::apply(live, &sent.document, &by(manager), force, &OneVersion);
    let applied = applied.map_err(|error| error.to_api_error(&sent.subject())).ok()?;
    let mut object = kind.zero();
    json::from_value(&applied.document, &mut *object, Strictness::Lenient).ok()?;
    object.meta_mut().managed_fields = applied.managed_fields;
    "there".clone_into(&mut object.meta_mut().uid);
    defaulting::set_defaults(&mut *object, Environment::defaults());
    // The form in which the store returns it.
    let stored = json::to_vec(&*object);
    let mut object = kind.zero();
    json::decode(&stored, &mut *object, Strictness::Lenient).expect("what was written is read");
    Some(object)
}

/// True if list elements keep the keys given in `body`.
///
/// An element whose key is null, or empty where it has a default, is stored with another key. Applying it again adds another
/// element, in kube-apiserver, too, where validation refuses one of the results.
fn keeps_keys(kind: &ResourceFacts, body: &[u8]) -> bool {
    let zero = kind.zero();
    let Some(alone) = applied(&*zero, "alone", body, false) else {
        return true;
    };
    let stored = compare(&*zero, &*alone, &Ignored::NOTHING).added;
    let mut keeps = true;
    for entry in &alone.meta().managed_fields {
        let Some(fields) = &entry.fields_v1 else { continue };
        let fields = Set::from_json(fields.as_str().as_bytes()).expect("what was written is read");
        fields.each(&mut |path| {
            let path: Vec<_> = path.iter().map(|step| (*step).clone()).collect();
            let is_element = matches!(path.last(), Some(PathElement::Key(_) | PathElement::Value(_)));
            keeps = keeps && (!is_element || stored.contains(&path));
        });
    }
    keeps
}

fn rendered(object: &dyn Object) -> String {
    String::from_utf8_lossy(&json::to_vec(object)).into_owned()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let all = samples(|object| {
        let mut object = object.boxed();
        object.meta_mut().managed_fields.clear();
        object.meta_mut().uid.clear();
        json::to_vec(&*object)
    });
    for pair in all.chunks(2) {
        let [first, second] = pair else { continue };
        let (kind, first) = first.split_at(1);
        let small = yaml::from_json(&second[1..]).unwrap_or_default();
        for mode in [0, 1] {
            seeds.push([kind, &[mode], &join(&[first, &second[1..]])].concat());
            seeds.push([kind, &[mode], &join(&[first, &small])].concat());
            seeds.push([kind, &[mode], &join(&[first, first])].concat());
        }
    }
    let (one, two) = (
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"x"},"spec":{"ports":[{"port":80,"name":"a"},{"port":81,"protocol":"UDP"}],"selector":{"a":"b"},"externalIPs":["1.2.3.4"]}}"#,
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"x","finalizers":["a"]},"spec":{"ports":[{"port":82}],"type":"ClusterIP"}}"#,
    );
    seeds.push([&[1, 0], &join(&[one.as_bytes(), two.as_bytes()])[..]].concat());
    seeds.push([&[1, 1], &join(&[two.as_bytes(), one.as_bytes()])[..]].concat());
    seeds
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::samples;
    use planesmith_patch::managers::track_write;

    use super::*;
    use crate::kinds::KINDS;

    #[test]
    fn valid_objects_match_their_types() {
        let generator = samples::samples();
        for kind in KINDS {
            for seed in 0..20 {
                let Ok(mut object) = generator.sample(kind, seed) else {
                    continue;
                };
                object.meta_mut().managed_fields.clear();
                track_write(None, &mut *object, &by("one"), &OneVersion).expect("an object that can be tracked");
                "there".clone_into(&mut object.meta_mut().uid);
                let applied = serde_json::json!({"apiVersion": kind.api_version, "kind": kind.kind,
                                                 "metadata": {"labels": {"applied": "1"}}});
                let applied = apply::apply(&*object, &applied, &by("two"), true, &OneVersion);
                applied.expect("an object to which others can apply");
            }
        }
    }
}
