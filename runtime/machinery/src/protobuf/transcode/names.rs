//! Tables of names without collisions.

use planesmith_wire::json::Name;

/// The number of factors that are tried for each size of a table.
const TRIES: u64 = 64;
/// The number of bits of the largest table.
const MAX_BITS: u32 = 14;

/// The positions of fields by name. A lookup is one step: no two names have the same slot.
pub(super) struct Names {
    /// The names, and the fields that they lead to.
    names: Box<[(Name<'static>, usize)]>,
    /// Indexes of names by the upper bits of the product of the digest and the factor; free slots lead to any name.
    slots: Box<[u16]>,
    factor: u64,
    shift: u32,
}

impl Names {
    /// Returns the table of `names`. The first one of equal names is found. `None` if there are too many.
    pub(super) fn new(names: Vec<(Name<'static>, usize)>) -> Option<Self> {
        let mut distinct: Vec<(Name<'static>, usize)> = Vec::with_capacity(names.len());
        for (name, index) in names {
            if distinct.iter().all(|(other, _)| *other != name) {
                distinct.push((name, index));
            }
        }
        let least = distinct.len().next_power_of_two().trailing_zeros() + 1;
        let sizes = (least..=MAX_BITS).flat_map(|bits| (0..TRIES).map(move |number| (bits, number)));
        let (slots, factor, shift) = sizes
            .map(|(bits, number)| (bits, factor(number), u64::BITS - bits))
            .find_map(|(bits, factor, shift)| Some((slots(&distinct, bits, factor, shift)?, factor, shift)))?;
        Some(Self {
            names: distinct.into(),
            slots,
            factor,
            shift,
        })
    }

    /// Returns the position of the field called `name`.
    #[inline]
    pub(super) fn find(&self, name: Name<'_>) -> Option<usize> {
        let slot = slot(name, self.factor, self.shift);
        let (known, index) = self.names.get(usize::from(*self.slots.get(slot)?))?;
        (*known == name).then_some(*index)
    }

    /// Returns the names and the positions of their fields.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Name<'static>, usize)> {
        self.names.iter().copied()
    }
}

/// An odd number with bits all over it.
fn factor(number: u64) -> u64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    GOLDEN.wrapping_mul(2 * number + 1)
}

#[inline]
fn slot(name: Name<'_>, factor: u64, shift: u32) -> usize {
    (name.digest().wrapping_mul(factor) >> shift) as usize
}

/// Returns the indexes of the names by slot; `None` if two names have the same.
fn slots(names: &[(Name<'static>, usize)], bits: u32, factor: u64, shift: u32) -> Option<Box<[u16]>> {
    let mut slots = vec![None; 1 << bits];
    for (index, (name, _)) in names.iter().enumerate() {
        let free = &mut slots[slot(*name, factor, shift)];
        if free.replace(u16::try_from(index).ok()?).is_some() {
            return None;
        }
    }
    Some(slots.into_iter().map(Option::unwrap_or_default).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &'static [&'static str]) -> Names {
        let names = all.iter().enumerate();
        Names::new(names.map(|(index, name)| (Name::new(name.as_bytes()), index)).collect()).expect("they are few")
    }

    #[test]
    fn every_name_is_found_and_no_other() {
        const ALL: &[&str] = &[
            "terminationMessagePath",
            "terminationMessagePolicy",
            "terminationGracePeriodSeconds",
            "ip",
            "ips",
            "a",
            "requiredDuringSchedulingIgnoredDuringExecution",
            "preferredDuringSchedulingIgnoredDuringExecution",
        ];
        for count in 0..=ALL.len() {
            let table = names(&ALL[..count]);
            for (index, name) in ALL.iter().enumerate() {
                let found = table.find(Name::new(name.as_bytes()));
                assert_eq!(found, (index < count).then_some(index), "{name} of {count}");
            }
            assert_eq!(table.find(Name::new(b"terminationMessagePxth")), None);
            assert_eq!(table.iter().count(), count);
        }
    }

    #[test]
    fn the_first_of_equal_names_is_found() {
        assert_eq!(names(&["a", "b", "a"]).find(Name::new(b"a")), Some(0));
    }
}
