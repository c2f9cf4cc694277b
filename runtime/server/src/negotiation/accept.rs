//! The `Accept` header.

/// One media range with its parameters.
#[derive(Debug, PartialEq)]
pub(super) struct Clause<'a> {
    kind: &'a str,
    subtype: &'a str,
    quality: f32,
    /// Parameters other than the quality.
    pub(super) parameters: Vec<(&'a str, &'a str)>,
}

/// Maximum number of clauses, and of parameters, that are read; further ones are ignored.
const MAX_CLAUSES: usize = 64;
const MAX_PARAMETERS: usize = 16;

/// The clauses of a header, best first. Malformed ones are ignored.
pub(super) fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<_> = header.split(',').filter_map(clause).take(MAX_CLAUSES).collect();
    // Stable: of equal clauses the first counts. Wildcards come after exact types.
    clauses.sort_by(|left, right| {
        let by_quality = right.quality.total_cmp(&left.quality);
        by_quality.then_with(|| left.wildcards().cmp(&right.wildcards()))
    });
    clauses
}

/// True if the header names one of `media_types` or `*/*`, whatever the quality.
pub(super) fn names_any(header: &str, media_types: &[&str]) -> bool {
    header.split(',').any(|part| {
        let range = part.split_once(';').map_or(part, |(range, _)| range).trim();
        range == "*/*" || media_types.contains(&range)
    })
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let (range, parameters) = text.split_once(';').unwrap_or((text, ""));
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
                let quality = value.trim().parse().ok().filter(|quality: &f32| quality.is_finite());
                clause.quality = quality.unwrap_or(1.0);
            }
            Some((name, value)) => clause.parameters.push((name.trim(), value.trim())),
            None => {}
        }
    }
    Some(clause)
}

impl Clause<'_> {
    /// True if `media_type` is in the range.
    pub(super) fn matches(&self, media_type: &str) -> bool {
        let Some((kind, subtype)) = media_type.split_once('/') else {
            return false;
        };
        (self.kind == kind || self.kind == "*" && self.subtype == "*")
            && (self.subtype == subtype || self.subtype == "*")
    }

    fn wildcards(&self) -> (bool, bool) {
        (self.kind == "*", self.subtype == "*")
    }
}
