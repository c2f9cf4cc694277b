//! Features, and the choice that one server makes among them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A switch of a server: a feature gate of Kubernetes, or a permission that a flag grants. It is constant;
/// [`Features`] has the state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    name: &'static str,
    on_by_default: bool,
}

impl Feature {
    /// Returns a feature that is enabled by default.
    #[must_use]
    pub const fn on(name: &'static str) -> Self {
        Self {
            name,
            on_by_default: true,
        }
    }

    /// Returns a feature that is disabled by default.
    #[must_use]
    pub const fn off(name: &'static str) -> Self {
        Self {
            name,
            on_by_default: false,
        }
    }

    /// Returns its name, which no other feature of a program has. A feature gate has that of Kubernetes.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// True if it is enabled unless a server switches it.
    #[must_use]
    pub const fn is_on_by_default(&self) -> bool {
        self.on_by_default
    }
}

/// The features of one server. A feature that was not switched has its default.
///
/// Clones share the choice, and cost nothing while all features have their defaults.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Features {
    /// Names of the features that do not have their default, sorted; `None` if all have it.
    changed: Option<Arc<[&'static str]>>,
}

impl Features {
    /// Returns the features of a server that switches none.
    #[must_use]
    pub fn defaults() -> &'static Self {
        static DEFAULTS: Features = Features { changed: None };
        &DEFAULTS
    }

    /// Returns these features with `feature` enabled or disabled.
    #[must_use]
    pub fn with(&self, feature: &Feature, on: bool) -> Self {
        let mut changed: BTreeSet<&'static str> = self.changed.iter().flat_map(|names| names.iter().copied()).collect();
        change(&mut changed, feature, on);
        Self::from_changed(&changed)
    }

    /// True if `feature` is enabled.
    #[must_use]
    pub fn has(&self, feature: &Feature) -> bool {
        match &self.changed {
            None => feature.on_by_default,
            Some(names) => feature.on_by_default != names.binary_search(&feature.name).is_ok(),
        }
    }

    fn from_changed(changed: &BTreeSet<&'static str>) -> Self {
        Self {
            changed: (!changed.is_empty()).then(|| changed.iter().copied().collect()),
        }
    }
}

fn change(changed: &mut BTreeSet<&'static str>, feature: &Feature, on: bool) {
    if on == feature.on_by_default {
        changed.remove(feature.name);
    } else {
        changed.insert(feature.name);
    }
}

/// Collects features and their states. The last state of a feature counts.
impl<'a> FromIterator<(&'a Feature, bool)> for Features {
    fn from_iter<I: IntoIterator<Item = (&'a Feature, bool)>>(states: I) -> Self {
        let mut changed = BTreeSet::new();
        for (feature, on) in states {
            change(&mut changed, feature, on);
        }
        Self::from_changed(&changed)
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Features, changed: ")?;
        f.debug_list()
            .entries(self.changed.iter().flat_map(|names| &**names))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Feature = Feature::on("Usual");
    const ALPHA: Feature = Feature::off("Alpha");

    #[test]
    fn each_value_has_its_own_choice() {
        let (none, one) = (Features::default(), Features::default().with(&ALPHA, true));
        let both = one.with(&USUAL, false);
        assert!(none.has(&USUAL) && !none.has(&ALPHA));
        assert!(one.has(&USUAL) && one.has(&ALPHA));
        assert!(!both.has(&USUAL) && both.has(&ALPHA));
        assert_eq!(format!("{both:?}"), "Features, changed: [\"Alpha\", \"Usual\"]");
    }

    #[test]
    fn features_with_their_defaults_are_not_stored() {
        let states = [(&USUAL, true), (&ALPHA, true), (&ALPHA, false)];
        assert_eq!(states.into_iter().collect::<Features>(), *Features::defaults());
        let changed = Features::default().with(&USUAL, false);
        assert_eq!(changed.with(&USUAL, true).changed, None);
        assert_eq!([(&USUAL, false)].into_iter().collect::<Features>(), changed);
    }
}
