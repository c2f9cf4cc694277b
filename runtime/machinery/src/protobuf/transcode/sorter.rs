//! The order of the fields of a message.

use std::ops::Range;

use super::output::{Done, Output};

/// Brings the fields of structs whose JSON has them in another order into the order of their numbers.
pub(super) struct Sorter {
    /// Number and start of each field written so far, of all open structs that are sorted.
    marks: Vec<(u32, usize)>,
    /// Number and range of each field that is being sorted.
    parts: Vec<(u32, Range<usize>)>,
    /// Buffer for sorting fields.
    sorted: Vec<u8>,
}

impl Sorter {
    pub(super) const fn new() -> Self {
        Self {
            marks: Vec::new(),
            parts: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Drops all marks.
    pub(super) fn reset(&mut self) {
        self.marks.clear();
    }

    /// Returns the number of marks of the structs around the next one.
    #[inline]
    pub(super) fn begin(&self) -> usize {
        self.marks.len()
    }

    /// Records that field `number` begins at `start`.
    #[inline]
    pub(super) fn mark(&mut self, number: u32, start: usize) {
        self.marks.push((number, start));
    }

    /// Sorts the fields of a struct, whose marks start at `first`, and drops the marks.
    pub(super) fn end(&mut self, first: usize, out: &mut Output<'_>) -> Done {
        let marks = self.marks.get(first..)?;
        let (mut highest, mut least_late) = (0, u32::MAX);
        for (number, _) in marks {
            if *number < highest {
                least_late = least_late.min(*number);
            }
            highest = highest.max(*number);
        }
        // Fields before the first one with a larger number than a later one are not moved.
        if let Some(from) = marks.iter().position(|(number, _)| *number > least_late) {
            let (marks, end) = (&marks[from..], out.len());
            let ends = marks.iter().skip(1).map(|(_, start)| *start).chain([end]);
            let from = marks[0].1;
            let parts = marks.iter().zip(ends);
            self.parts.clear();
            self.parts
                .extend(parts.map(|((number, start), end)| (*number, *start - from..end - from)));
            self.parts.sort_unstable_by_key(|(number, _)| *number);
            let written = out.written(from);
            self.sorted.clear();
            for (_, part) in &self.parts {
                self.sorted.extend_from_slice(written.get(part.clone())?);
            }
            written.copy_from_slice(&self.sorted);
        }
        self.marks.truncate(first);
        Some(())
    }
}
