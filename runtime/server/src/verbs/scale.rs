//! The Scale subresource: the number of replicas of an object.

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::{LabelSelector, ObjectMeta, PartialObjectMetadata};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ScaleFacts;
use planesmith_machinery::scale::v1::{Scale, ScaleSpec, ScaleStatus};
use planesmith_machinery::selector::LabelQuery;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::strategy::Extensions;
use planesmith_machinery::value::{self, Struct, View};
use planesmith_patch::managers::ScaleManagers;

use super::patch::{Patch, patch_kind, patch_text};
use crate::endpoint::{Call, Endpoint};
use crate::metrics::BodyUse;
use crate::negotiation::{Acceptable, Output, Target};
use crate::options::WriteOptions;
use crate::representation::{self, Declared, Expected, NOT_SET, not_a_list, replicas_at};
use crate::request::Query;
use crate::response;
use crate::table;
use crate::write::{Change, Committed, Decoder, Defaulted, Make, Part, Write};

pub(super) const EXPECTED: Expected = Expected {
    group: "autoscaling",
    api_version: "autoscaling/v1",
    kind: "Scale",
    former_versions: &["apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"],
    scheme: Extensions::NONE.scheme_name,
    representation: &Declared,
    hooks: Extensions::NONE.hooks,
    unknown: None,
};

impl Endpoint {
    /// Reads the number of replicas.
    pub(crate) async fn get_scale(&self, call: &Call, facts: &ScaleFacts) -> ApiResult<Response> {
        let output = self.negotiate(&call.parts, Acceptable::Scale)?;
        call.refuse_export()?;
        let key = self.store().key(call.namespace(), call.name())?;
        self.fresh(call).await?;
        let entry = self
            .store()
            .collection()
            .get(&key)
            .ok_or_else(|| self.not_found(call.name()))?;
        let object = self.object_of(call, &entry).await?;
        let scale = scale_of(&*object, facts)?;
        if self.representation().replicas(&*object, facts).is_none() {
            let path = &facts.spec_replicas;
            return Err(ApiError::internal(format!(
                "the spec replicas field \".{path}\" does not exist"
            )));
        }
        rendered(self, output, call.query(), &scale)
    }

    /// Replaces the number of replicas.
    pub(crate) async fn update_scale(&self, call: &Call, body: Body, facts: &ScaleFacts) -> ApiResult<Response> {
        let output = self.negotiate(&call.parts, Acceptable::Scale)?;
        let body = self.read_body(call, body, BodyUse::Update).await?;
        let options = WriteOptions::for_update(call.query())?;
        let expected = match self.representation().unreadable_scale() {
            Some(unknown) => Expected {
                former_versions: &[],
                unknown: Some(unknown),
                ..EXPECTED
            },
            None => EXPECTED,
        };
        let decoder = Decoder::new(self, call, expected, &options);
        let mut scale = Scale::default();
        let read = || decoder.read(&body, &mut scale);
        self.run(call, body.len(), body.cost(), read).await??;
        call.record_body(&scale);
        self.check_path_names(&mut scale.metadata, call)?;
        let write = Write::new(self, call, &options, body.len()).through_scale(&facts.spec_replicas);
        let make = |live: &dyn Object| scaled(live, &scale, facts);
        self.write_scale(&write, output, facts, &scale.metadata.uid, &make)
            .await
    }

    /// Changes the number of replicas.
    pub(crate) async fn patch_scale(&self, call: &Call, body: Body, facts: &ScaleFacts) -> ApiResult<Response> {
        let kind = patch_kind(call, self.representation())?;
        let output = self.negotiate(&call.parts, Acceptable::Scale)?;
        let body = self.read_bytes(call, body, BodyUse::Patch).await?;
        call.record_patch(&body);
        let Some(kind) = kind else {
            return self.apply_scale(call, patch_text(call, body)?, facts, output).await;
        };
        let options = WriteOptions::for_patch(call.query())?;
        let patch = Patch {
            kind,
            body: &body,
            validation: options.field_validation,
            scheme: self.stores().scheme(),
            expected: EXPECTED,
            is_of_status: false,
        };
        let write = Write::new(self, call, &options, body.len()).through_scale(&facts.spec_replicas);
        let make = |live: &dyn Object| {
            let mut scale = Scale::default();
            let mut before = scale_of(live, facts)?;
            before.spec.replicas = self.representation().replicas(live, facts).unwrap_or(NOT_SET);
            // Only a patch sees the managers of the number.
            let stored = &live.meta().managed_fields;
            let managers = ScaleManagers::read(stored, live.resource(), &facts.spec_replicas);
            before.metadata.managed_fields = managers.map(|managers| managers.of_scale()).unwrap_or_default();
            for warning in patch.apply(&before, &mut scale)?.warnings {
                call.ctx.warnings.add(warning);
            }
            self.check_path_names(&mut scale.metadata, call)?;
            scaled(live, &scale, facts)
        };
        self.write_scale(&write, output, facts, "", &make).await
    }

    pub(super) async fn write_scale(
        &self,
        write: &Write<'_>,
        output: Output,
        facts: &ScaleFacts,
        uid: &str,
        make: &Make<'_>,
    ) -> ApiResult<Response> {
        let change = Change {
            part: Part::Object,
            make,
            otherwise: None,
            uid,
        };
        let changed = write.change(write.call.name(), &change).await?;
        let object = match changed.committed {
            Committed::Stored(entry) => {
                let entry = self.converted_one(entry).await?;
                let read = || self.encodings().object_of(&entry);
                write.in_turn(entry.size(), read).await?
            }
            Committed::Unstored { object, size } => {
                let object = self.converted_object(object).await?;
                write.in_turn(size, || self.encodings().in_version(object)).await?
            }
        };
        let scale = scale_of(&*object, facts).map_err(|why| ApiError::bad_request(why.message()))?;
        rendered(write.endpoint, output, write.call.query(), &scale)
    }
}

/// Answers with a Scale in the negotiated encoding.
fn rendered(endpoint: &Endpoint, output: Output, query: Query<'_>, scale: &Scale) -> ApiResult<Response> {
    let answer = |object: &dyn Struct| response::structure(StatusCode::OK, output, object);
    match output.target {
        Target::Object => Ok(answer(scale)),
        Target::PartialObject => Ok(answer(&PartialObjectMetadata {
            metadata: scale.metadata.clone(),
        })),
        Target::PartialObjectList => Err(not_a_list(EXPECTED.group, EXPECTED.kind)),
        Target::Table => {
            let table = table::of_scale(
                scale,
                endpoint.representation().scale_columns(),
                table::row_object(query)?,
                endpoint.now(),
            );
            let media_type = output.format.media_type();
            Ok(response::bytes(
                StatusCode::OK,
                media_type,
                response::encode_json(output, table),
            ))
        }
    }
}

/// The Scale of an object.
///
/// # Errors
///
/// 500 when a custom object has another type where the Scale has a number or a text.
pub fn scale_of(object: &dyn Object, facts: &ScaleFacts) -> ApiResult<Scale> {
    representation::of(object.resource()).check_scale(object, facts)?;
    let meta = object.meta();
    Ok(Scale {
        metadata: ObjectMeta {
            name: meta.name.clone(),
            namespace: meta.namespace.clone(),
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
            creation_timestamp: meta.creation_timestamp,
            ..ObjectMeta::default()
        },
        spec: ScaleSpec {
            replicas: replicas_at(object, &facts.spec_replicas),
        },
        status: ScaleStatus {
            replicas: replicas_at(object, &facts.status_replicas),
            selector: selector_at(object, &facts.selector),
        },
    })
}

/// Sets the number of replicas of an object, as its Scale shows it.
///
/// # Errors
///
/// 500 when a custom object has another type where the Scale has a number or a text.
pub fn set_replicas(object: &mut dyn Object, facts: &ScaleFacts, replicas: i32) -> ApiResult<()> {
    representation::of(&object.resource().clone()).set_replicas(object, facts, replicas)
}

/// A copy of `live` with the number of replicas, and the identity, of `scale`. The managed fields of the Scale are
/// ignored.
pub(super) fn scaled(live: &dyn Object, scale: &Scale, facts: &ScaleFacts) -> ApiResult<Defaulted> {
    representation::of(live.resource()).check_new_scale(scale, live, facts)?;
    Defaulted::with_replicas(live, scale, facts)
}

/// A selector in the form of a query: a text is used unchanged, labels and label selectors are converted.
fn selector_at(object: &dyn Object, path: &str) -> String {
    match value::get_at(object, path).map(|value| value.view()) {
        Some(View::Str(text)) => text.to_owned(),
        Some(View::Map(labels)) => {
            let mut pairs = Vec::new();
            labels.each(&mut |key, value| {
                if let View::Str(value) = value.view() {
                    pairs.push((key, value));
                }
            });
            LabelQuery::exact(pairs).to_string()
        }
        Some(View::Struct(selector)) => {
            let mut typed = LabelSelector::default();
            let read = json::decode(&json::to_vec(selector), &mut typed, Strictness::Lenient);
            read.ok()
                .and_then(|_| LabelQuery::of_selector(&typed).ok())
                .map(|query| query.to_string())
                .unwrap_or_default()
        }
        _ => String::new(),
    }
}
