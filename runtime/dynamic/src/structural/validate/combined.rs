//! Schemas out of schemas: `allOf`, `anyOf`, `oneOf` and `not`.

use std::sync::Arc;

use planesmith_wire::go_format::quote;

use super::{Outcome, Structural, Subject};

impl Structural {
    pub(super) fn check_combined(&self, subject: Subject<'_, '_>, outcome: &mut Outcome) {
        outcome.count(1);
        let Some(limits) = &self.limits else { return };
        // The old value counts for the whole value only.
        let subject = Subject { old: None, ..subject };
        check_any(&limits.any_of, subject, outcome);
        check_one(&limits.one_of, subject, outcome);
        check_all(&limits.all_of, subject, outcome);
        if let Some(not) = &limits.not
            && not.check(subject).is_valid()
        {
            outcome.add_about_all(format!("{} must not validate the schema (not)", here(subject)));
        }
    }
}

fn check_any(schemas: &[Arc<Structural>], subject: Subject<'_, '_>, outcome: &mut Outcome) {
    let mut best: Option<Outcome> = None;
    for schema in schemas {
        let tried = schema.check(subject);
        if tried.is_valid() {
            outcome.merge(tried);
            return;
        }
        best = Some(better(best, tried));
    }
    if let Some(best) = best {
        outcome.add_about_all(format!("{} must validate at least one schema (anyOf)", here(subject)));
        outcome.merge(best);
    }
}

fn check_one(schemas: &[Arc<Structural>], subject: Subject<'_, '_>, outcome: &mut Outcome) {
    if schemas.is_empty() {
        return;
    }
    let mut best: Option<Outcome> = None;
    let mut valid: Option<Outcome> = None;
    let mut count = 0_usize;
    for schema in schemas {
        let tried = schema.check(subject);
        if tried.is_valid() {
            count += 1;
            best = None;
            valid = valid.or(Some(tried));
        } else if count == 0 {
            best = Some(better(best, tried));
        }
    }
    let found = match (count, valid) {
        (1, Some(valid)) => {
            outcome.merge(valid);
            return;
        }
        (0, _) => "Found none valid".to_owned(),
        (count, _) => format!("Found {count} valid alternatives"),
    };
    outcome.add_about_all(format!(
        "{} must validate one and only one schema (oneOf). {found}",
        here(subject)
    ));
    if let Some(best) = best {
        outcome.merge(best);
    }
}

fn check_all(schemas: &[Arc<Structural>], subject: Subject<'_, '_>, outcome: &mut Outcome) {
    let mut valid = 0;
    for schema in schemas {
        let tried = schema.check(subject);
        valid += usize::from(tried.is_valid());
        outcome.merge(tried);
    }
    if valid != schemas.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        outcome.add_about_all(format!("{} must validate all the schemas (allOf){none}", here(subject)));
    }
}

/// Of two failures the one that came further; the first of equal ones.
fn better(best: Option<Outcome>, tried: Outcome) -> Outcome {
    match best {
        Some(best) if tried.checks() <= best.checks() => best,
        _ => tried,
    }
}

fn here(subject: Subject<'_, '_>) -> String {
    quote(&subject.location.to_string())
}
