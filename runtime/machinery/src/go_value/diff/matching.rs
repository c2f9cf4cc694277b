//! The longest runs of equal lines, as Python's difflib and its Go port find them.

use std::collections::HashMap;
use std::ops::Range;

/// Minimum number of lines of a text for which frequent lines are ignored in the search for runs.
const LONG: usize = 200;

/// A run of equal lines; the last run is empty and follows all lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) old: usize,
    pub(super) new: usize,
    pub(super) size: usize,
}

/// Returns the runs in order; no run is adjacent to the next one in both texts. `None` if the search takes more than
/// `max_steps`.
pub(super) fn matching_blocks(old: &[&str], new: &[&str], max_steps: usize) -> Option<Vec<Block>> {
    let places = places(new);
    let mut steps_left = max_steps;
    let mut found = Vec::new();
    let mut open = vec![(0..old.len(), 0..new.len())];
    while let Some((in_old, in_new)) = open.pop() {
        let block = longest(old, new, &places, in_old.clone(), in_new.clone(), &mut steps_left)?;
        if block.size > 0 {
            open.push((in_old.start..block.old, in_new.start..block.new));
            open.push((block.old + block.size..in_old.end, block.new + block.size..in_new.end));
            found.push(block);
        }
    }
    found.sort_unstable_by_key(|block| (block.old, block.new));
    let mut blocks: Vec<Block> = Vec::with_capacity(found.len() + 1);
    for block in found {
        match blocks.last_mut() {
            Some(last) if last.old + last.size == block.old && last.new + last.size == block.new => {
                last.size += block.size;
            }
            _ => blocks.push(block),
        }
    }
    blocks.push(Block {
        old: old.len(),
        new: new.len(),
        size: 0,
    });
    Some(blocks)
}

/// Returns the positions of each line, without lines that are too frequent.
fn places<'a>(lines: &[&'a str]) -> HashMap<&'a str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        places.entry(line).or_default().push(index);
    }
    if lines.len() >= LONG {
        let often = lines.len() / 100 + 1;
        places.retain(|_, indexes| indexes.len() <= often);
    }
    places
}

/// Returns the longest run within two ranges, the first of several equally long ones. `None` if no steps are left.
fn longest(
    old: &[&str],
    new: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    in_old: Range<usize>,
    in_new: Range<usize>,
    steps_left: &mut usize,
) -> Option<Block> {
    let mut best = Block {
        old: in_old.start,
        new: in_new.start,
        size: 0,
    };
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (index, line) in old.iter().enumerate().take(in_old.end).skip(in_old.start) {
        let mut longer = HashMap::new();
        let at = places.get(line).map_or(&[][..], Vec::as_slice);
        *steps_left = steps_left.checked_sub(at.len() + 1)?;
        for place in at.iter().copied().filter(|place| in_new.contains(place)) {
            let before = place.checked_sub(1).and_then(|before| lengths.get(&before));
            let size = before.copied().unwrap_or(0) + 1;
            longer.insert(place, size);
            if size > best.size {
                best = Block {
                    old: index + 1 - size,
                    new: place + 1 - size,
                    size,
                };
            }
        }
        lengths = longer;
    }
    // Ignored lines may extend the run at both ends.
    while best.old > in_old.start && best.new > in_new.start && old[best.old - 1] == new[best.new - 1] {
        best = Block {
            old: best.old - 1,
            new: best.new - 1,
            size: best.size + 1,
        };
    }
    while best.old + best.size < in_old.end
        && best.new + best.size < in_new.end
        && old[best.old + best.size] == new[best.new + best.size]
    {
        best.size += 1;
    }
    Some(best)
}
