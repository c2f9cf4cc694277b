//! One feature gate: a feature that `--feature-gates` switches.

use planesmith_machinery::feature;

/// The maturity of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Alpha,
    Beta,
    Stable,
    Deprecated,
}

/// A feature as Kubernetes declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Feature {
    pub(super) name: &'static str,
    pub(super) stage: Stage,
    /// True if it is on unless it is switched.
    pub(super) default: bool,
    /// True if it cannot be switched any more.
    pub(super) locked: bool,
    /// Features that must be on with it.
    pub(super) needs: &'static [&'static str],
}

impl Feature {
    pub(super) const fn new(name: &'static str, stage: Stage, default: bool) -> Self {
        Self {
            name,
            stage,
            default,
            locked: false,
            needs: &[],
        }
    }

    pub(super) const fn on(self) -> Self {
        Self { default: true, ..self }
    }

    pub(super) const fn off(self) -> Self {
        Self { default: false, ..self }
    }

    pub(super) const fn locked(self) -> Self {
        Self { locked: true, ..self }
    }

    pub(super) const fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }
}

/// A feature gate that a component brings. `--feature-gates` switches its feature by name or, with `AllAlpha` and `AllBeta`, by
/// stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGate {
    pub(super) feature: &'static feature::Feature,
    pub(super) facts: Feature,
}

impl FeatureGate {
    /// Returns the gate of a feature that may change or go.
    #[must_use]
    pub const fn alpha(feature: &'static feature::Feature) -> Self {
        Self::new(feature, Stage::Alpha)
    }

    /// Returns the gate of a feature that stays, although its details may change.
    #[must_use]
    pub const fn beta(feature: &'static feature::Feature) -> Self {
        Self::new(feature, Stage::Beta)
    }

    /// Returns the gate of a finished feature. The start warns of a flag that names it.
    #[must_use]
    pub const fn stable(feature: &'static feature::Feature) -> Self {
        Self::new(feature, Stage::Stable)
    }

    const fn new(feature: &'static feature::Feature, stage: Stage) -> Self {
        let facts = Feature::new(feature.name(), stage, feature.is_on_by_default());
        Self { feature, facts }
    }
}
