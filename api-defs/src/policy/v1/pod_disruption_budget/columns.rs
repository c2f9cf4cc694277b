//! Table columns of disruption budgets.

use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::table::Cell;

use super::PodDisruptionBudget;

pub(super) fn min_available(budget: &PodDisruptionBudget) -> Cell {
    amount(budget.spec.min_available.as_ref())
}

pub(super) fn max_unavailable(budget: &PodDisruptionBudget) -> Cell {
    amount(budget.spec.max_unavailable.as_ref())
}

fn amount(amount: Option<&IntOrString>) -> Cell {
    Cell::Text(amount.map_or_else(|| "N/A".to_owned(), ToString::to_string))
}
