//! The samples, their medians, and the verdict on each row.

use std::collections::BTreeMap;

use serde_json::json;

use super::budget::{ROWS, Row, Unit};

/// The measured server or the limit server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Ours,
    Limit,
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Limit => "limit",
        }
    }
}

/// All samples of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    samples: BTreeMap<(&'static str, Side), Vec<f64>>,
    failures: BTreeMap<(&'static str, Side), String>,
}

impl Report {
    pub(crate) fn add(&mut self, side: Side, values: &[(&'static str, f64)]) {
        for &(name, value) in values {
            self.samples.entry((name, side)).or_default().push(value);
        }
    }

    /// Records the failure of `row`; the first reason is retained.
    pub(crate) fn fail(&mut self, side: Side, row: &Row, error: &anyhow::Error) {
        self.failures.entry((row.name, side)).or_insert_with(|| {
            let reason: String = format!("{error:#}").chars().take(300).collect();
            eprintln!("    {}: {reason}", side.name());
            reason
        });
    }

    /// True if the row called `name` was already measured together with another one.
    pub(crate) fn has(&self, name: &'static str) -> bool {
        self.samples.contains_key(&(name, Side::Ours))
    }

    fn median(&self, name: &'static str, side: Side) -> Option<f64> {
        let mut values = self.samples.get(&(name, side))?.clone();
        values.sort_unstable_by(f64::total_cmp);
        let middle = values.len() / 2;
        Some(if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        })
    }

    /// Prints the result of the last round to standard error.
    pub(crate) fn progress(&self, row: &Row, round: u32) {
        let last = |side| {
            let values = self.samples.get(&(row.name, side));
            values
                .and_then(|values| values.last())
                .map_or("-".to_owned(), |&value| figure(value))
        };
        let (ours, limit) = (last(Side::Ours), last(Side::Limit));
        eprintln!("    round {}: {ours}, limit {limit} {}", round + 1, row.unit.name());
    }

    /// Returns the slowness of this machine relative to that of the budgets: the limit server's figure here divided by its
    /// figure there. For a row without these figures, it is the median of the other rows.
    fn slowness(&self, row: &Row) -> f64 {
        let of = |row: &Row| Some(self.median(row.name, Side::Limit)? / row.reference?).filter(|_| row.unit.scales());
        if !row.unit.scales() || row.name == "start" {
            return 1.0;
        }
        of(row).unwrap_or_else(|| {
            let mut known: Vec<_> = ROWS.iter().filter_map(of).collect();
            known.sort_unstable_by(f64::total_cmp);
            known.get(known.len() / 2).copied().unwrap_or(1.0)
        })
    }

    fn verdict(&self, row: &Row) -> &'static str {
        let Some(ours) = self.median(row.name, Side::Ours) else {
            return "not measured";
        };
        let within = |budget: f64| match row.unit {
            Unit::Delivered => ours >= budget,
            Unit::CpuMicros | Unit::CpuMillis | Unit::Millis | Unit::Megabytes | Unit::Percent | Unit::Times => {
                ours <= budget
            }
        };
        match (within(row.budget * self.slowness(row)), within(row.budget)) {
            (true, _) => "within",
            (false, true) => "within as an absolute figure only",
            (false, false) if self.is_below_limit(row, ours) => "OVER (no more than the limit server)",
            (false, false) => "OVER",
        }
    }

    fn is_below_limit(&self, row: &Row, ours: f64) -> bool {
        let limit = self.median(row.name, Side::Limit);
        row.unit.scales() && limit.is_some_and(|limit| ours <= limit)
    }

    /// Prints the table on standard output.
    pub(crate) fn print(&self) {
        println!(
            "{:<33} {:>9} {:>9} {:>6} {:>9} {:>9}  {:<12} verdict",
            "operation", "ours", "limit", "ratio", "budget", "here", "unit"
        );
        for row in ROWS.iter().filter(|row| self.mentions(row)) {
            let ours = self.median(row.name, Side::Ours);
            let limit = self.median(row.name, Side::Limit);
            let rendered = |value: Option<f64>| value.map_or("-".to_owned(), figure);
            let ratio = ours.zip(limit).filter(|(_, limit)| *limit > 0.0);
            let ratio = ratio.map_or("-".to_owned(), |(ours, limit)| format!("{:.2}", ours / limit));
            println!(
                "{:<33} {:>9} {:>9} {ratio:>6} {:>9} {:>9}  {:<12} {}",
                row.title,
                rendered(ours),
                rendered(limit),
                figure(row.budget),
                figure(row.budget * self.slowness(row)),
                row.unit.name(),
                self.verdict(row),
            );
        }
        println!(
            "\nMedians. `here` is the budget moved to this machine: multiplied by what the limit \
             server\nneeds here over what it needed where the budgets were set."
        );
        for ((name, side), reason) in &self.failures {
            println!("{name} ({}): {reason}", side.name());
        }
    }

    fn mentions(&self, row: &Row) -> bool {
        [Side::Ours, Side::Limit].iter().any(|side| {
            let key = (row.name, *side);
            self.samples.contains_key(&key) || self.failures.contains_key(&key)
        })
    }

    /// Returns all samples, medians and verdicts.
    pub(crate) fn json(&self) -> String {
        let rows: Vec<_> = ROWS
            .iter()
            .filter(|row| self.mentions(row))
            .map(|row| {
                json!({
                    "name": row.name,
                    "operation": row.title,
                    "unit": row.unit.name(),
                    "ours": self.median(row.name, Side::Ours),
                    "limit": self.median(row.name, Side::Limit),
                    "budget": row.budget,
                    "budgetHere": row.budget * self.slowness(row),
                    "verdict": self.verdict(row),
                    "samples": {
                        "ours": self.samples.get(&(row.name, Side::Ours)),
                        "limit": self.samples.get(&(row.name, Side::Limit)),
                    },
                    "failure": self.failures.get(&(row.name, Side::Ours)),
                })
            })
            .collect();
        format!("{:#}\n", json!({ "rows": rows }))
    }
}

/// Formats a figure with its significant digits.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget;
    use super::*;

    fn report(ours: &[f64], limit: &[f64]) -> Report {
        let mut report = Report::default();
        ours.iter().for_each(|&value| report.add(Side::Ours, &[("get", value)]));
        limit
            .iter()
            .for_each(|&value| report.add(Side::Limit, &[("get", value)]));
        report
    }

    fn get() -> &'static Row {
        budget::find("get").unwrap()
    }

    #[test]
    fn a_slow_machine_moves_the_budget() {
        assert_eq!(report(&[80.0], &[44.0]).verdict(get()), "within");
        assert_eq!(report(&[80.0], &[22.0]).verdict(get()), "OVER");
        let fast = report(&[40.0], &[11.0]);
        assert_eq!(fast.verdict(get()), "within as an absolute figure only");
    }

    #[test]
    fn a_server_below_the_limit_is_reported_as_such() {
        let verdict = |ours| {
            let mut report = report(&[22.0], &[22.0]);
            report.add(Side::Ours, &[("watch", ours)]);
            report.add(Side::Limit, &[("watch", 9.0)]);
            report.verdict(budget::find("watch").unwrap())
        };
        assert_eq!(verdict(4.0), "within");
        assert_eq!(verdict(9.0), "OVER (no more than the limit server)");
        assert_eq!(verdict(10.0), "OVER");
    }

    #[test]
    fn the_median_ignores_one_bad_round() {
        let report = report(&[40.0, 900.0, 42.0], &[22.0, 22.0, 500.0]);
        assert_eq!(report.median("get", Side::Ours), Some(42.0));
        assert_eq!(report.verdict(get()), "within");
    }

    #[test]
    fn a_row_without_a_limit_of_its_own_moves_with_the_others() {
        let mut report = report(&[80.0], &[44.0]);
        report.add(Side::Ours, &[("page", 1.0)]);
        assert_eq!(report.verdict(budget::find("page").unwrap()), "within");
    }
}
