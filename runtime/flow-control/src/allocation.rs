//! A fair division of seats among levels with bounds.

/// Targets smaller than this count as this much, so that every level has a proportion.
const SMALLEST_TARGET: f64 = 0.001;

/// Sums that differ by less are equal.
const EPSILON: f64 = 1e-7;

/// The bounds of one share, and the target that it is proportional to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// The wanted share.
    pub(crate) target: f64,
    /// The smallest share.
    pub(crate) lower: f64,
    /// The largest share; not less than `lower`.
    pub(crate) upper: f64,
}

/// A division.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Allocation {
    /// The shares, in the order of the bounds.
    pub(crate) shares: Vec<f64>,
    /// The fraction of its target that a share without effective bounds has.
    pub(crate) fraction: f64,
}

impl Bounds {
    fn target(&self) -> f64 {
        self.target.max(SMALLEST_TARGET)
    }

    fn share(&self, fraction: f64) -> f64 {
        (fraction * self.target()).min(self.upper).max(self.lower)
    }
}

/// Divides `sum` into shares that are the same fraction of their targets, except where a bound forbids it.
///
/// A sum that is outside of what the bounds permit gives all shares their lower, or their upper bounds.
pub(crate) fn allocate(sum: f64, bounds: &[Bounds]) -> Allocation {
    let total = |fraction: f64| -> f64 { bounds.iter().map(|bounds| bounds.share(fraction)).sum() };
    let fraction = fair_fraction(sum, bounds, total);
    Allocation {
        shares: bounds.iter().map(|bounds| bounds.share(fraction)).collect(),
        fraction,
    }
}

/// The sum of the shares grows with the fraction, and is linear between the fractions at which a share reaches a bound. So the
/// fraction is between the last of these that is too small, and the next one.
fn fair_fraction(sum: f64, bounds: &[Bounds], total: impl Fn(f64) -> f64) -> f64 {
    let mut bends: Vec<f64> = bounds
        .iter()
        .flat_map(|bounds| [bounds.lower, bounds.upper].map(|bound| bound / bounds.target()))
        .collect();
    bends.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (bends.first().copied(), bends.last().copied()) else {
        return 0.0;
    };
    if sum <= total(first) + EPSILON {
        return first;
    }
    if sum >= total(last) - EPSILON {
        return last;
    }
    let above = bends.partition_point(|bend| total(*bend) < sum);
    let (low, high) = (bends[above - 1], bends[above]);
    let (least, most) = (total(low), total(high));
    low + (high - low) * (sum - least) / (most - least)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bounds(target: f64, lower: f64, upper: f64) -> Bounds {
        Bounds { target, lower, upper }
    }

    #[test]
    fn shares_are_proportional_to_targets_within_bounds() {
        let free = [bounds(10.0, 0.0, 100.0), bounds(30.0, 0.0, 100.0)];
        assert_eq!(allocate(80.0, &free).shares, [20.0, 60.0]);
        let bounded = [bounds(10.0, 0.0, 100.0), bounds(30.0, 0.0, 45.0)];
        let shares = allocate(80.0, &bounded).shares;
        assert!(
            (shares[0] - 35.0).abs() < 1e-9 && (shares[1] - 45.0).abs() < 1e-9,
            "{shares:?}"
        );
        assert_eq!(
            allocate(1.0, &[bounds(5.0, 4.0, 6.0)]).shares,
            [4.0],
            "not less than the bound"
        );
        assert_eq!(
            allocate(9.0, &[bounds(5.0, 4.0, 6.0)]).shares,
            [6.0],
            "not more than the bound"
        );
        assert!(allocate(9.0, &[]).shares.is_empty());
    }

    fn any_bounds() -> impl Strategy<Value = Bounds> {
        (0.0..300.0, 0.0..1.0, 0.0..600.0).prop_map(|(target, fraction, more): (f64, f64, f64)| {
            let lower = target * fraction;
            bounds(target, lower, lower + more)
        })
    }

    proptest! {
        #[test]
        fn shares_have_the_sum_and_one_fraction(all in prop::collection::vec(any_bounds(), 1..12), part in 0.0..1.0) {
            let least: f64 = all.iter().map(|bounds| bounds.lower).sum();
            let most: f64 = all.iter().map(|bounds| bounds.upper).sum();
            let sum = least + (most - least) * part;
            let Allocation { shares, fraction } = allocate(sum, &all);
            prop_assert!((shares.iter().sum::<f64>() - sum).abs() < 1e-5);
            for (share, bounds) in shares.iter().zip(&all) {
                prop_assert!(*share >= bounds.lower && *share <= bounds.upper);
                let fair = fraction * bounds.target();
                let is_free = (share - fair).abs() < 1e-6 * fair.max(1.0);
                prop_assert!(is_free || (*share == bounds.lower && fair < *share) || (*share == bounds.upper && fair > *share));
            }
        }
    }
}
