//! The output of commands about a store.

use anyhow::Result;
use planesmith_store_sled::{Inspection, LostState};

use super::moving::Moved;

/// Maximum number of keys in a warning.
const NAMED: usize = 10;

/// Prints one line.
pub(super) fn say(line: &str) -> Result<()> {
    crate::commands::print(format!("{line}\n").as_bytes())
}

pub(super) fn say_moved(moved: &Moved, place: &str) -> Result<()> {
    let amount = moved.amount;
    say(&format!(
        "{place}: {} objects, {}, at revision {}; each was compared",
        amount.objects,
        size(amount.bytes),
        moved.revision
    ))?;
    moved.notes.iter().try_for_each(|note| say(note))
}

/// Prints a warning for the person at the terminal.
#[expect(clippy::print_stderr, reason = "a warning is no result")]
pub(super) fn warn(text: &str) {
    eprintln!("warning: {text}");
}

/// Warns of objects that no kind of the program can read.
pub(super) fn warn_of_unreadable(keys: &[String]) {
    if keys.is_empty() {
        return;
    }
    let named: Vec<&str> = keys.iter().take(NAMED).map(String::as_str).collect();
    let more = match keys.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    warn(&format!(
        "{} objects cannot be decoded and are copied as they are: {}{more}",
        keys.len(),
        named.join(", ")
    ));
}

/// Formats a number of bytes for people.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Lists the files of a stopped store, and the damage.
pub(super) fn describe(inspection: &Inspection, unreadable: &[String]) -> String {
    let mut text = String::new();
    for file in &inspection.files {
        let verdict = match &file.damage {
            None => "ok".to_owned(),
            Some(damage) => format!("damaged: {damage}"),
        };
        text.push_str(&format!("{} ({}): {verdict}\n", file.path.display(), size(file.bytes)));
    }
    text.push_str(&format!(
        "{} objects are legible, at revision {}\n",
        inspection.states.len(),
        inspection.revision
    ));
    for key in unreadable {
        text.push_str(&format!("undecodable: {key} is not an object of its kind\n"));
    }
    for LostState { key, revision, legible } in &inspection.lost {
        let state = match legible {
            Some(legible) => format!("its state at revision {legible} is legible"),
            None => "no state of it is legible".to_owned(),
        };
        text.push_str(&format!("lost: {key} at revision {revision}; {state}\n"));
    }
    let unnamed = inspection.unnamed;
    if unnamed.states > 0 {
        text.push_str(&format!(
            "lost: up to {} objects whose names are not legible\n",
            unnamed.states
        ));
    }
    if unnamed.is_open {
        text.push_str("lost: perhaps further writes, whose number is not known\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_for_people() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (9_999, "9999 bytes"),
            (10_000, "10 kB"),
            (12_345_678, "12.3 MB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
