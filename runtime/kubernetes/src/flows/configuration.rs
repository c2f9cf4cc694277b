//! The stored flow schemas and priority levels as the configuration of flow control.

use std::sync::Arc;

use http::HeaderValue;
use planesmith_access::user::{UserCache, UserInfo};
use planesmith_api_defs::flowcontrol::v1::{
    FlowSchema, FlowSchemaSpec, PolicyRulesWithSubjects, PriorityLevelConfiguration, PriorityLevelConfigurationSpec,
};
use planesmith_flow_control::{Discipline, Level, LevelConfig, LevelState, Levels};
use planesmith_server::flow_control::{Flow, Rejected};
use planesmith_server::metrics::{FlowControlMetrics, FlowSeries, RejectionReason};
use planesmith_server::request::RequestInfo;

use super::kind_gauges::KindGauges;
use super::request_seats::Described;
use super::rule;
use super::served_level::ServedLevel;

/// Names of the levels and schemas that exist even while they are not stored.
const MANDATORY: [&str; 2] = ["exempt", CATCH_ALL];

/// The name of the schema that matches the requests of all users.
const CATCH_ALL: &str = "catch-all";

/// The configuration of flow control.
#[derive(Debug)]
pub(super) struct Configuration {
    /// In the order in which they are matched.
    schemas: Vec<Arc<Schema>>,
    /// The rules about each user: most users are subjects of few.
    by_user: UserCache<Vec<RulePlace>>,
    /// The schema of requests that match no other.
    catch_all: Option<Arc<Schema>>,
    /// All levels, with those that are configured no more and still have requests.
    levels: Vec<Arc<ServedLevel>>,
}

/// The place of a rule among the schemas.
#[derive(Clone, Copy, Debug)]
struct RulePlace {
    schema: usize,
    rule: usize,
}

/// A flow schema.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) name: String,
    pub(super) level: Arc<ServedLevel>,
    pub(super) series: Arc<FlowSeries>,
    pub(super) kinds: Arc<KindGauges>,
    pub(super) flow: Flow,
    distinguisher: Distinguisher,
    rules: Vec<PolicyRulesWithSubjects>,
}

/// The part of a request that tells flows of a schema from each other.
#[derive(Clone, Copy, Debug)]
enum Distinguisher {
    None,
    User,
    Namespace,
}

impl Configuration {
    /// Configures `levels` by the stored objects. Levels that `former` has go on.
    pub(super) fn new(
        schemas: Vec<FlowSchema>,
        stored: Vec<PriorityLevelConfiguration>,
        levels: &Levels<Described>,
        former: Option<&Configuration>,
        metrics: &FlowControlMetrics,
        kinds: &Arc<KindGauges>,
    ) -> Self {
        let stored = with_mandatory_levels(stored);
        let configs: Vec<_> = stored
            .iter()
            .map(|level| (level.metadata.name.as_str(), config(&level.spec)))
            .collect();
        let configured = levels.configure(&configs);
        let mut all = served_levels(levels, former);
        // The order of the stored ones.
        let served = configured
            .iter()
            .map(|level| served_level(&mut all, level))
            .collect::<Vec<_>>();
        let level = |name: &str| stored.iter().position(|level| level.metadata.name == name);
        let schemas: Vec<Arc<Schema>> = with_mandatory_schemas(schemas, |name| level(name).is_some())
            .into_iter()
            .filter_map(|schema| {
                let index = level(&schema.spec.priority_level_configuration.name)?;
                let served = Arc::clone(&served[index]);
                Some(Arc::new(Schema {
                    series: metrics.series(served.level().name(), &schema.metadata.name),
                    kinds: Arc::clone(kinds),
                    level: served,
                    flow: Flow {
                        schema: uid(&schema.metadata.uid),
                        level: uid(&stored[index].metadata.uid),
                    },
                    distinguisher: distinguisher(&schema),
                    name: schema.metadata.name,
                    rules: schema.spec.rules,
                }))
            })
            .collect();
        let current = schemas
            .iter()
            .map(|schema| (schema.level.level().name(), schema.name.as_str()));
        metrics.keep_series(&current.collect::<Vec<_>>());
        Self {
            by_user: UserCache::default(),
            catch_all: schemas.iter().find(|schema| schema.name == CATCH_ALL).cloned(),
            schemas,
            levels: all,
        }
    }

    /// The schema of a request.
    pub(super) fn classify(&self, user: &UserInfo, info: &RequestInfo) -> Option<&Arc<Schema>> {
        let fits = |place: &&RulePlace| {
            let rule = &self.schemas[place.schema].rules[place.rule];
            rule::is_for_request(rule, info)
        };
        let first = |places: &Vec<RulePlace>| places.iter().find(fits).map(|place| place.schema);
        let first = self.by_user.with(user, || self.rules_of(user), first);
        first.map(|schema| &self.schemas[schema]).or(self.catch_all.as_ref())
    }

    /// The rules of which the user is a subject, in the order in which they are matched.
    fn rules_of(&self, user: &UserInfo) -> Vec<RulePlace> {
        let rules = self.schemas.iter().enumerate().flat_map(|(schema, of)| {
            let rules = of.rules.iter().enumerate();
            rules.map(move |(rule, about)| (RulePlace { schema, rule }, about))
        });
        let about = rules.filter(|(_, rule)| rule::is_of_user(rule, user));
        about.map(|(place, _)| place).collect()
    }
}

/// All present levels, with their unread answers.
fn served_levels(levels: &Levels<Described>, former: Option<&Configuration>) -> Vec<Arc<ServedLevel>> {
    let served = |state: LevelState<Described>| {
        let mut known = former.iter().flat_map(|former| &former.levels);
        let known = known.find(|known| Arc::ptr_eq(known.level(), &state.level));
        known.map_or_else(|| Arc::new(ServedLevel::new(state.level)), Arc::clone)
    };
    levels.snapshot().levels.into_iter().map(served).collect()
}

/// The one of `all` that serves `level`.
fn served_level(all: &mut Vec<Arc<ServedLevel>>, level: &Arc<Level<Described>>) -> Arc<ServedLevel> {
    if let Some(served) = all.iter().find(|served| Arc::ptr_eq(served.level(), level)) {
        return Arc::clone(served);
    }
    let served = Arc::new(ServedLevel::new(Arc::clone(level)));
    all.push(Arc::clone(&served));
    served
}

impl Schema {
    /// Counts a rejected request.
    pub(super) fn reject(&self, reason: RejectionReason) -> Rejected {
        self.series.rejected(reason);
        Rejected {
            retry_after: self.level.level().reject(),
        }
    }

    /// The text that tells the request's flow from others of the schema.
    pub(super) fn distinguisher<'a>(&self, user: &'a UserInfo, info: &'a RequestInfo) -> &'a str {
        match self.distinguisher {
            Distinguisher::None => "",
            Distinguisher::User => &user.name,
            Distinguisher::Namespace => info.namespace(),
        }
    }
}

fn uid(uid: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(uid).ok().filter(|value| !value.is_empty())
}

fn distinguisher(schema: &FlowSchema) -> Distinguisher {
    match schema
        .spec
        .distinguisher_method
        .as_ref()
        .map(|method| method.type_.as_str())
    {
        Some("ByUser") => Distinguisher::User,
        Some("ByNamespace") => Distinguisher::Namespace,
        _ => Distinguisher::None,
    }
}

/// The configuration of a level. Numbers are defaulted and checked when they are written; negative ones of broken objects count as 0,
/// and levels bound the numbers of queues.
fn config(spec: &PriorityLevelConfigurationSpec) -> LevelConfig {
    let number = |value: i32| u32::try_from(value).unwrap_or(0);
    if let Some(limited) = &spec.limited {
        let discipline = match &limited.limit_response.queuing {
            Some(queuing) => Discipline::Queue {
                queues: number(queuing.queues),
                hand_size: number(queuing.hand_size),
                queue_length: number(queuing.queue_length_limit),
            },
            None => Discipline::Reject,
        };
        return LevelConfig {
            shares: number(limited.nominal_concurrency_shares.unwrap_or_default()),
            lendable_percent: number(limited.lendable_percent.unwrap_or_default()),
            borrowing_percent: limited.borrowing_limit_percent.map(number),
            discipline,
        };
    }
    let exempt = spec.exempt.as_ref();
    LevelConfig {
        shares: number(
            exempt
                .and_then(|exempt| exempt.nominal_concurrency_shares)
                .unwrap_or_default(),
        ),
        lendable_percent: number(exempt.and_then(|exempt| exempt.lendable_percent).unwrap_or_default()),
        borrowing_percent: None,
        discipline: Discipline::Exempt,
    }
}

/// Adds the levels that exist in any case.
fn with_mandatory_levels(mut stored: Vec<PriorityLevelConfiguration>) -> Vec<PriorityLevelConfiguration> {
    for name in MANDATORY {
        if stored.iter().all(|level| level.metadata.name != name)
            && let Some(spec) = PriorityLevelConfigurationSpec::mandatory(name)
        {
            let mut level = PriorityLevelConfiguration::default();
            level.metadata.name = name.to_owned();
            level.spec = spec;
            stored.push(level);
        }
    }
    stored
}

/// Sorts the schemas in the order in which they are matched, and adds those that exist in any case.
fn with_mandatory_schemas(mut stored: Vec<FlowSchema>, has_level: impl Fn(&str) -> bool) -> Vec<FlowSchema> {
    stored.retain(|schema| has_level(&schema.spec.priority_level_configuration.name));
    for name in MANDATORY {
        if stored.iter().all(|schema| schema.metadata.name != name)
            && let Some(spec) = FlowSchemaSpec::mandatory(name)
        {
            let mut schema = FlowSchema::default();
            schema.metadata.name = name.to_owned();
            schema.spec = spec;
            stored.push(schema);
        }
    }
    stored.sort_by(|left, right| {
        let precedence = |schema: &FlowSchema| schema.spec.matching_precedence;
        let (left, right) = (
            (precedence(left), &left.metadata.name),
            (precedence(right), &right.metadata.name),
        );
        left.cmp(&right)
    });
    stored
}
