//! Compact lists of indexes: `1,3-5,7`.

use planesmith_machinery::go_format::quote;

/// An interval that includes both ends.
type Interval = (i64, i64);

/// Returns the number of indexes in `text`, all of which must be below `completions`.
///
/// # Errors
///
/// Returns a description of the error in the text.
pub(super) fn count(text: &str, completions: i32) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let mut last: Option<i64> = None;
    let mut total = 0;
    for part in text.split(',') {
        let (first, end) = interval(part, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(disorder(last, first));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// Returns the first index that both texts contain. Malformed parts are ignored, because another check reports them.
pub(super) fn overlap(completed: &str, failed: &str, completions: i32) -> Option<i64> {
    if completed.is_empty() || failed.is_empty() {
        return None;
    }
    let intervals = |text: &str| -> Vec<Interval> {
        let parts = text.split(',');
        parts.filter_map(|part| interval(part, completions).ok()).collect()
    };
    let (completed, failed) = (intervals(completed), intervals(failed));
    let (mut completed, mut failed) = (completed.iter().peekable(), failed.iter().peekable());
    while let (Some(done), Some(lost)) = (completed.peek(), failed.peek()) {
        if done.0 <= lost.1 && lost.0 <= done.1 {
            return Some(done.0.max(lost.0));
        }
        if done.0 <= lost.0 {
            completed.next();
        } else {
            failed.next();
        }
    }
    None
}

fn interval(part: &str, completions: i32) -> Result<Interval, String> {
    let mut ends = part.split('-');
    let (first, end, rest) = (ends.next().unwrap_or_default(), ends.next(), ends.next());
    if rest.is_some() {
        return Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quote(part)
        ));
    }
    let low = index(first, completions)?;
    let Some(end) = end else { return Ok((low, low)) };
    let high = index(end, completions)?;
    if low >= high {
        return Err(disorder(low, high));
    }
    Ok((low, high))
}

fn index(text: &str, completions: i32) -> Result<i64, String> {
    let number: i64 = text
        .parse()
        .map_err(|_| format!("cannot convert string to integer for index: {}", quote(text)))?;
    if number >= i64::from(completions) {
        return Err(format!("too large index: {}", quote(text)));
    }
    Ok(number)
}

fn disorder(previous: i64, current: i64) -> String {
    format!("non-increasing order, previous: {previous}, current: {current}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_counted_in_order_and_below_the_number_of_completions() {
        assert_eq!(count("", 0), Ok(0));
        assert_eq!(count("0,2-4,7", 8), Ok(5));
        assert_eq!(count("5-3", 3), Err("too large index: \"5\"".to_owned()));
        let disordered = "non-increasing order, previous: 0, current: 0";
        assert_eq!(count("0,0", 3), Err(disordered.to_owned()));
        let disordered = "non-increasing order, previous: 2, current: 1";
        assert_eq!(count("2-1", 3), Err(disordered.to_owned()));
        let word = "cannot convert string to integer for index: \"a\"";
        assert_eq!(count("a", 3), Err(word.to_owned()));
        assert!(count("1-2-3", 9).is_err());
    }

    #[test]
    fn overlaps_are_found_across_ranges() {
        assert_eq!(overlap("0,3-5", "1,4", 9), Some(4));
        assert_eq!(overlap("0-2,6", "3-5", 9), None);
        assert_eq!(overlap("x,2", "2", 9), Some(2));
        assert_eq!(overlap("", "2", 9), None);
    }
}
