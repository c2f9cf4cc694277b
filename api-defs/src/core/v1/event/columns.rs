//! Table columns of events.

use planesmith_machinery::age;
use planesmith_machinery::table::Cell;

use super::Event;

pub(super) fn last_seen(event: &Event) -> Cell {
    match &event.series {
        Some(series) => age::cell(series.last_observed_time.timestamp()),
        None if event.last_timestamp.is_zero() => first_seen(event),
        None => age::cell(event.last_timestamp.timestamp()),
    }
}

pub(super) fn first_seen(event: &Event) -> Cell {
    match event.first_timestamp.is_zero() {
        true => age::cell(event.event_time.timestamp()),
        false => age::cell(event.first_timestamp.timestamp()),
    }
}

pub(super) fn object(event: &Event) -> Cell {
    let mut text = event.involved_object.kind.to_lowercase();
    if !event.involved_object.name.is_empty() {
        text.push('/');
        text.push_str(&event.involved_object.name);
    }
    Cell::Text(text)
}

pub(super) fn source(event: &Event) -> Cell {
    let component = first_given(&event.source.component, &event.reporting_component);
    let instance = first_given(&event.source.host, &event.reporting_instance);
    Cell::Text(match instance {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    })
}

pub(super) fn message(event: &Event) -> Cell {
    Cell::Text(event.message.trim().to_owned())
}

pub(super) fn count(event: &Event) -> Cell {
    let count = match &event.series {
        Some(series) => series.count,
        // Newer clients send no count for a single occurrence.
        None if event.count == 0 => 1,
        None => event.count,
    };
    Cell::Integer(i64::from(count))
}

fn first_given<'a>(first: &'a str, second: &'a str) -> &'a str {
    if first.is_empty() { second } else { first }
}
