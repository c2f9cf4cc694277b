//! Rules of kinds for their metadata, each reported once.

use std::collections::BTreeMap;

use planesmith_api_defs::certificates::v1::CertificateSigningRequest;
use planesmith_api_defs::certificates::v1beta1::{ClusterTrustBundle, PodCertificateRequest};
use planesmith_api_defs::coordination::v1::Lease;
use planesmith_api_defs::core::v1::{ConfigMap, Event, LimitRange, PersistentVolume, PersistentVolumeClaim, Service};
use planesmith_api_defs::discovery::v1::EndpointSlice;
use planesmith_api_defs::events;
use planesmith_api_defs::networking::v1::{IPAddress, NetworkPolicy, ServiceCIDR};
use planesmith_api_defs::policy::v1::PodDisruptionBudget;
use planesmith_machinery::conversion::convert;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::resource::{ResourceFacts, Scope};
use planesmith_machinery::strategy::Context;
use planesmith_machinery::validation;

/// Returns the number of errors at `field`.
fn check_create(object: &dyn Object) -> FieldErrors {
    check_create_as_sent(object, object.resource())
}

fn check_create_as_sent(object: &dyn Object, sent: &ResourceFacts) -> FieldErrors {
    validation::check_create_as_sent(object, sent, &Context::default())
}

fn check_update_as_sent(new: &dyn Object, old: &dyn Object, sent: &ResourceFacts) -> FieldErrors {
    validation::check_update_as_sent(new, old, sent, &Context::default())
}

fn count(errors: &FieldErrors, field: &str) -> usize {
    errors.as_slice().iter().filter(|error| error.field == field).count()
}

/// Returns an object with a name and the fields that an update needs.
fn minimal<R: Resource>() -> R {
    let mut object = R::default();
    let meta = object.meta_mut();
    meta.name = "a".to_owned();
    meta.resource_version = "1".to_owned();
    if R::RESOURCE.scope == Scope::Namespaced {
        meta.namespace = "n".to_owned();
    }
    object
}

fn with_name<R: Resource>(name: &str) -> usize {
    let mut object = minimal::<R>();
    name.clone_into(&mut object.meta_mut().name);
    count(&check_create(&object), "metadata.name")
}

/// Returns the number of errors that an update in the version `sent` reports for an illegal label.
fn with_label<R: Resource>(sent: &ResourceFacts) -> usize {
    let errors = check_update_as_sent(&labelled::<R>(), &minimal::<R>(), sent);
    count(&errors, "metadata.labels")
}

/// Returns a minimal object with an illegal label.
fn labelled<R: Resource>() -> R {
    let mut object = minimal::<R>();
    object.meta_mut().labels = BTreeMap::from([("a b".to_owned(), String::new())]);
    object
}

#[test]
fn names_are_what_the_kind_says() {
    assert_eq!(with_name::<ConfigMap>("No_Name"), 1);
    assert_eq!(with_name::<PodDisruptionBudget>("No_Name"), 0);
    assert_eq!(with_name::<Event>("No_Name"), 0);
    assert_eq!(
        with_name::<IPAddress>("a/b"),
        1,
        "what no path can have is not said besides"
    );
    assert_eq!(with_name::<IPAddress>("10.0.0.1"), 0);
    let mut event = minimal::<Event>();
    event.metadata.name = "No_Name".to_owned();
    let errors = check_create_as_sent(&event, events::v1::Event::RESOURCE);
    assert_eq!(count(&errors, "metadata.name"), 1, "newer clients choose better names");
}

#[test]
fn finalizers_of_some_kinds_need_no_domain() {
    let mut map = minimal::<ConfigMap>();
    map.metadata.finalizers = vec!["plain".to_owned()];
    assert_eq!(count(&check_create(&map), "metadata.finalizers[0]"), 1);
    let update = check_update_as_sent(&map, &minimal::<ConfigMap>(), ConfigMap::RESOURCE);
    assert_eq!(
        count(&update, "metadata.finalizers[0]"),
        2,
        "once by itself, and once as a change"
    );
    let mut lease = minimal::<Lease>();
    lease.metadata.finalizers = vec!["plain".to_owned()];
    assert_eq!(count(&check_create(&lease), "metadata.finalizers[0]"), 0);
}

#[test]
fn updates_look_at_metadata_as_often_as_kube_apiserver() {
    assert_eq!(with_label::<ConfigMap>(ConfigMap::RESOURCE), 4);
    assert_eq!(
        with_label::<CertificateSigningRequest>(CertificateSigningRequest::RESOURCE),
        4
    );
    assert_eq!(with_label::<ClusterTrustBundle>(ClusterTrustBundle::RESOURCE), 4);
    assert_eq!(with_label::<EndpointSlice>(EndpointSlice::RESOURCE), 3);
    assert_eq!(with_label::<LimitRange>(LimitRange::RESOURCE), 3);
    assert_eq!(with_label::<NetworkPolicy>(NetworkPolicy::RESOURCE), 3);
    assert_eq!(with_label::<ServiceCIDR>(ServiceCIDR::RESOURCE), 3);
    assert_eq!(with_label::<Service>(Service::RESOURCE), 3);
    assert_eq!(with_label::<PersistentVolume>(PersistentVolume::RESOURCE), 4);
    assert_eq!(with_label::<PersistentVolumeClaim>(PersistentVolumeClaim::RESOURCE), 4);
    assert_eq!(with_label::<Event>(Event::RESOURCE), 2);
    assert_eq!(with_label::<Event>(events::v1::Event::RESOURCE), 3);
    let errors = validation::check_status_update(
        &labelled::<PodCertificateRequest>(),
        &minimal::<PodCertificateRequest>(),
        &Context::default(),
    );
    assert_eq!(count(&errors, "metadata.labels"), 3);
}

#[test]
fn events_are_refused_in_the_words_of_their_version() {
    let mut event = minimal::<Event>();
    event.event_time = "2024-01-01T00:00:00.000000Z".parse().expect("a time");
    assert_eq!(count(&check_create(&event), "reportingComponent"), 3);
    let newer = convert(&event, events::v1::Event::RESOURCE);
    assert_eq!(
        count(&check_create_as_sent(&event, newer.resource()), "reportingController"),
        3
    );
}

#[test]
fn a_volume_is_looked_at_twice_and_a_claim_once() {
    let errors = check_update_as_sent(
        &minimal::<PersistentVolume>(),
        &minimal::<PersistentVolume>(),
        PersistentVolume::RESOURCE,
    );
    assert_eq!(count(&errors, "spec.accessModes"), 2);
    let errors = check_update_as_sent(
        &minimal::<PersistentVolumeClaim>(),
        &minimal::<PersistentVolumeClaim>(),
        PersistentVolumeClaim::RESOURCE,
    );
    assert_eq!(count(&errors, "spec.accessModes"), 1);
}
