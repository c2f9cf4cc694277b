//! The line diff of two values that kube-apiserver prints for an immutable field.

mod matching;

use std::fmt::Write;
use std::ops::Range;

use super::format_text;
use crate::json;
use crate::value::Value;
use matching::{Block, matching_blocks};

/// Number of equal lines around a difference.
const CONTEXT: usize = 3;

/// Maximum number of compared line pairs; the diff of larger values is omitted. Such a diff is of no use, and computing
/// it would occupy a core.
const MAX_STEPS: usize = 2_000_000;

/// Returns a unified diff of two values, printed with the names of Go fields; ends with a line break unless it is
/// empty.
#[must_use]
pub fn diff(old: &dyn Value, new: &dyn Value) -> String {
    let (old, new) = (indented(old), indented(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    match matching_blocks(&old, &new, MAX_STEPS) {
        Some(blocks) => unified(&old, &new, &blocks),
        None => String::new(),
    }
}

/// Returns the value as JSON, indented by one space per level.
fn indented(value: &dyn Value) -> String {
    let mut out = Vec::new();
    json::indent(format_text(value).as_bytes(), &mut out);
    let mut narrow = String::with_capacity(out.len());
    for line in String::from_utf8_lossy(&out).lines() {
        let depth = (line.len() - line.trim_start_matches(' ').len()) / 2;
        narrow.push_str(&line[depth..]);
        narrow.push('\n');
    }
    narrow
}

/// A run of equal lines, or of lines that are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    equal: bool,
    old: Range<usize>,
    new: Range<usize>,
}

fn unified(old: &[&str], new: &[&str], blocks: &[Block]) -> String {
    let mut out = String::new();
    for hunk in hunks(parts(blocks)) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            continue;
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "@@ -{} +{} @@",
            range_text(first.old.start..last.old.end),
            range_text(first.new.start..last.new.end)
        );
        for part in &hunk {
            let marked: [(&str, &[&str]); 2] = match part.equal {
                true => [(" ", &old[part.old.clone()]), ("", &[])],
                false => [("-", &old[part.old.clone()]), ("+", &new[part.new.clone()])],
            };
            for (mark, lines) in marked {
                for line in lines {
                    let _ = writeln!(out, "{mark}{line}");
                }
            }
        }
    }
    out
}

fn range_text(range: Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        length => format!("{},{length}", range.start + 1),
    }
}

fn parts(blocks: &[Block]) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for block in blocks {
        if old_at < block.old || new_at < block.new {
            parts.push(Part {
                equal: false,
                old: old_at..block.old,
                new: new_at..block.new,
            });
        }
        old_at = block.old + block.size;
        new_at = block.new + block.size;
        if block.size > 0 {
            parts.push(Part {
                equal: true,
                old: block.old..old_at,
                new: block.new..new_at,
            });
        }
    }
    parts
}

/// Returns the differences with their context; differences with adjacent contexts are merged.
fn hunks(parts: Vec<Part>) -> Vec<Vec<Part>> {
    let last = parts.len().saturating_sub(1);
    let mut hunks = Vec::new();
    let mut hunk: Vec<Part> = Vec::new();
    for (index, mut part) in parts.into_iter().enumerate() {
        if part.equal {
            let tail = |range: &Range<usize>| range.start.max(range.end.saturating_sub(CONTEXT))..range.end;
            let head = |range: &Range<usize>| range.start..range.end.min(range.start + CONTEXT);
            if index == 0 {
                part = Part {
                    equal: true,
                    old: tail(&part.old),
                    new: tail(&part.new),
                };
            }
            if index == last {
                part = Part {
                    equal: true,
                    old: head(&part.old),
                    new: head(&part.new),
                };
            } else if index > 0 && part.old.len() > 2 * CONTEXT {
                hunk.push(Part {
                    equal: true,
                    old: head(&part.old),
                    new: head(&part.new),
                });
                hunks.push(std::mem::take(&mut hunk));
                part = Part {
                    equal: true,
                    old: tail(&part.old),
                    new: tail(&part.new),
                };
            }
        }
        hunk.push(part);
    }
    if hunk.iter().any(|part| !part.equal) {
        hunks.push(hunk);
    }
    hunks
}
