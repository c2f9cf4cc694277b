//! Standalone templates of pods.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;

use super::{PodOptions, PodTemplateSpec};
use crate::core::v1::workload::columns;

/// A standalone template of pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    returns_deleted,
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Containers", type = "string", doc = "Names of the containers.", with = containers),
    column(name = "Images", type = "string", doc = "Images of the containers.", with = images),
    column(name = "Pod Labels", type = "string", doc = "Labels of the pods.", with = labels)
)]
pub struct PodTemplate {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Template of the pods.
    #[field(proto = 2)]
    pub template: PodTemplateSpec,
}

impl Strategy for PodTemplate {
    fn set_defaults(&mut self) {
        self.template.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.template.drop_disabled(None, context.features);
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        self.template.drop_disabled(Some(&old.template), context.features);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.check(None, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(&old.template), errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        self.template.warnings("template")
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        match old.metadata.generation == self.metadata.generation {
            true => Vec::new(),
            false => self.template.warnings("template"),
        }
    }
}

impl StrategyExtensions for PodTemplate {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl PodTemplate {
    fn check(&self, old: Option<&PodTemplateSpec>, errors: &mut FieldErrors) {
        self.template
            .check(PodOptions::of_template(old), &mut errors.at("template"));
    }
}

fn containers(template: &PodTemplate) -> Cell {
    columns::containers(&template.template)
}

fn images(template: &PodTemplate) -> Cell {
    columns::images(&template.template)
}

fn labels(template: &PodTemplate) -> Cell {
    columns::labels(&template.template.metadata.labels)
}
