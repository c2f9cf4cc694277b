//! The `Accept` header.

/// One media range with its parameters.
#[derive(Debug, PartialEq)]
pub(crate) struct Clause<'a> {
    kind: &'a str,
    subtype: &'a str,
    quality: f32,
    /// Parameters other than the quality.
    pub(crate) parameters: Vec<(&'a str, &'a str)>,
}

/// Maximum number of clauses, and of parameters, that are read; further ones are ignored.
const MAX_CLAUSES: usize = 64;
const MAX_PARAMETERS: usize = 16;

/// The clauses of a header, best first. Malformed ones are ignored.
///
/// kube-apiserver's comparison is no order: an exact type also precedes a wildcard of a higher quality. So the result
/// depends on the algorithm, which is an insertion sort.
pub(crate) fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<_> = header.split(',').filter_map(clause).take(MAX_CLAUSES).collect();
    for end in 1..clauses.len() {
        let mut at = end;
        while at > 0 && clauses[at].precedes(&clauses[at - 1]) {
            clauses.swap(at, at - 1);
            at -= 1;
        }
    }
    clauses
}

/// True if the header names one of `media_types` or `*/*`, whatever the quality.
pub(super) fn names_any(header: &str, media_types: &[&str]) -> bool {
    ranges(header).any(|range| range == "*/*" || media_types.contains(&range))
}

/// The media ranges of a header without their parameters, in its order.
pub(super) fn ranges(header: &str) -> impl Iterator<Item = &str> {
    let clauses = header.split(',');
    clauses.map(|clause| clause.split_once(';').map_or(clause, |(range, _)| range).trim())
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let (range, parameters) = text.trim().split_once(';').unwrap_or((text, ""));
    let (kind, subtype) = match range.trim().split_once('/') {
        Some((_, subtype)) if subtype.is_empty() || subtype.contains('/') => return None,
        Some((kind, subtype)) => (kind.trim(), subtype.trim()),
        None if range.trim() == "*" => ("*", "*"),
        None => return None,
    };
    let mut clause = Clause {
        kind,
        subtype,
        quality: 1.0,
        parameters: Vec::new(),
    };
    for parameter in parameters.split(';').take(MAX_PARAMETERS) {
        match parameter.split_once('=') {
            Some((_, value)) if value.is_empty() || value.contains('=') => {}
            Some((name, value)) if name.trim() == "q" => {
                // Neither spaces nor quotes are a part of numbers.
                clause.quality = value.parse().unwrap_or_default();
            }
            Some((name, value)) => clause.parameters.push((name.trim(), value.trim())),
            None => {}
        }
    }
    Some(clause)
}

impl Clause<'_> {
    /// True if `media_type` is in the range.
    pub(crate) fn matches(&self, media_type: &str) -> bool {
        let Some((kind, subtype)) = media_type.split_once('/') else {
            return false;
        };
        (self.kind == kind || self.kind == "*" && self.subtype == "*")
            && (self.subtype == subtype || self.subtype == "*")
    }

    /// True if `media_type` is in the range, or would be if wildcards could stand before exact parts.
    pub(crate) fn covers(&self, media_type: &str) -> bool {
        media_type.split_once('/').is_some_and(|(kind, subtype)| {
            (self.kind == kind || self.kind == "*") && (self.subtype == subtype || self.subtype == "*")
        })
    }

    /// True if the range is `media_type` itself.
    pub(crate) fn is(&self, media_type: &str) -> bool {
        media_type.split_once('/') == Some((self.kind, self.subtype))
    }

    /// The last value of the parameter `name`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter().rev();
        parameters.find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn precedes(&self, other: &Self) -> bool {
        let is_exact = |part: &str, other: &str| part != "*" && other == "*";
        self.quality > other.quality || is_exact(self.kind, other.kind) || is_exact(self.subtype, other.subtype)
    }
}
