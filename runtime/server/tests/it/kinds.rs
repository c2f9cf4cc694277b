//! Kinds to test with.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions};
use planesmith_machinery::{Resource, Struct};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// A shelf with a label.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "test.example.com",
    version = "v1",
    kind = "Shelf",
    plural = "shelves",
    short("sh"),
    status,
    scale(spec = "spec.size", status = "status.size", selector = "status.selector"),
    selectable("spec.colour", "status.phase"),
    column(name),
    column(name = "Colour", type = "string", doc = "Its colour.", path = "spec.colour"),
    generation,
    strategy,
    strategy_extensions
)]
pub(crate) struct Shelf {
    /// Metadata.
    #[field(proto = 1)]
    pub(crate) metadata: ObjectMeta,
    /// The desired state.
    #[field(proto = 2)]
    pub(crate) spec: ShelfSpec,
    /// The observed state.
    #[field(proto = 3)]
    pub(crate) status: ShelfStatus,
}

/// The desired state of a shelf.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub(crate) struct ShelfSpec {
    /// The colour of the shelf.
    #[field(proto = 1, default = "white", one_of("white", "red", "blue"))]
    pub(crate) colour: String,
    /// The desired number of boards.
    #[field(proto = 2, minimum = 0)]
    pub(crate) size: i32,
}

/// The observed state of a shelf.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub(crate) struct ShelfStatus {
    /// The progress of the shelf.
    #[field(proto = 1)]
    pub(crate) phase: String,
    /// The current number of boards.
    #[field(proto = 2)]
    pub(crate) size: i32,
    /// The selector of its boards.
    #[field(proto = 3)]
    pub(crate) selector: String,
}

/// The size of shelves that are only valid if another one is validated at the same time.
pub(crate) const IN_PAIRS: i32 = 99;

/// Waits until a second shelf is validated at the same time; true if one was.
fn is_in_company() -> bool {
    static LOOKED_AT: Mutex<usize> = Mutex::new(0);
    static ANOTHER: Condvar = Condvar::new();
    let mut looked_at = LOOKED_AT.lock().expect("no panic");
    *looked_at += 1;
    ANOTHER.notify_all();
    let waited = ANOTHER.wait_timeout_while(looked_at, Duration::from_secs(20), |count| *count < 2);
    *waited.expect("no panic").0 >= 2
}

impl Strategy for Shelf {
    fn validate(&self, errors: &mut FieldErrors) {
        if self.spec.size == IN_PAIRS && !is_in_company() {
            errors.invalid("spec.size", self.spec.size, "must not be looked at alone");
        }
        if self.spec.size > 100 {
            errors.invalid("spec.size", self.spec.size, "no wall is that high");
        }
    }

    fn warnings_on_create(&self) -> Vec<String> {
        if self.spec.size > 50 {
            vec!["mind your head".to_owned()]
        } else {
            Vec::new()
        }
    }
}

impl StrategyExtensions for Shelf {
    const CHECK_COST_PER_BYTE: u64 = 150;
}

/// Texts by key, without rules of any kind.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", kind = "Note")]
pub(crate) struct Note {
    /// Metadata.
    #[field(proto = 1)]
    pub(crate) metadata: ObjectMeta,
    /// The texts.
    #[field(proto = 2)]
    pub(crate) data: BTreeMap<String, String>,
}

/// A floor of a building, named by an address. A generated name is the client's text alone.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", kind = "Floor", cluster, name_rule = ip_address)]
pub(crate) struct Floor {
    /// Metadata.
    #[field(proto = 1)]
    pub(crate) metadata: ObjectMeta,
}

/// A site with finalizers in its spec.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    kind = "Site",
    cluster,
    status,
    subresource = "finalize",
    selectable("status.phase"),
    returns_deleted,
    create_on_update,
    strategy,
    strategy_extensions
)]
pub(crate) struct Site {
    /// Metadata.
    #[field(proto = 1)]
    pub(crate) metadata: ObjectMeta,
    /// The desired state.
    #[field(proto = 2)]
    pub(crate) spec: SiteSpec,
    /// The observed state.
    #[field(proto = 3)]
    pub(crate) status: SiteStatus,
}

/// The desired state of a site.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub(crate) struct SiteSpec {
    /// The finalizers of the site.
    #[field(proto = 1)]
    pub(crate) finalizers: Vec<String>,
}

/// The observed state of a site.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub(crate) struct SiteStatus {
    /// `Active` or `Terminating`.
    #[field(proto = 1)]
    pub(crate) phase: String,
}

impl Strategy for Site {
    fn prepare_for_create(&mut self, _: &Context<'_>) {
        self.spec.finalizers = vec!["keeper".to_owned()];
        self.status.phase = "Active".to_owned();
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, old: &Self) {
        self.spec = old.spec.clone();
    }
}

impl StrategyExtensions for Site {
    const PHASED_DELETION: bool = true;
    const HIDDEN_ANNOTATIONS: &'static [&'static str] = &["test.example.com/hidden"];

    fn conversion_problem(&self) -> Option<String> {
        let storeys = self.metadata.annotations.get("test.example.com/storeys")?;
        storeys.parse::<u32>().err().map(|_| format!("{storeys} is no number"))
    }

    fn prepare_for_delete(&mut self) {
        self.status.phase = "Terminating".to_owned();
    }

    fn blocks_deletion(&self) -> bool {
        !self.spec.finalizers.is_empty()
    }
}
