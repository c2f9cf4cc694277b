//! The pages about flow control, as kube-apiserver writes them.

use std::fmt::Write as _;
use std::time::{Instant, SystemTime};

use jiff::Timestamp;
use planesmith_flow_control::{LevelState, Levels, QueueDigest, RequestDigest};
use planesmith_machinery::duration::Duration;
use planesmith_server::flow_control::DebugPage;

use super::request_seats::Described;

const OF_LEVELS: [&str; 10] = [
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
];

const OF_QUEUES: [&str; 9] = [
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
];

/// The spelling of the fifth one is kube-apiserver's.
const OF_REQUESTS: [&str; 10] = [
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
];

const DETAILS: [&str; 8] = [
    "UserName",
    "Verb",
    "APIPath",
    "Namespace",
    "Name",
    "APIVersion",
    "Resource",
    "SubResource",
];

/// Narrowest cell, with the space behind it.
const NARROWEST: usize = 8;

/// Renders a page at the time `now`. No lock is held while rows are rendered: the levels serve requests meanwhile.
pub(super) fn render(page: DebugPage, levels: &Levels<Described>, now: SystemTime) -> String {
    let levels = levels.snapshot().levels;
    let mut rows = Vec::new();
    match page {
        DebugPage::PriorityLevels => {
            rows.push(texts(&OF_LEVELS));
            rows.extend(levels.iter().map(level));
        }
        DebugPage::Queues => {
            rows.push(texts(&OF_QUEUES));
            rows.extend(levels.iter().flat_map(queues));
        }
        DebugPage::Requests { with_details } => {
            let mut head = texts(&OF_REQUESTS);
            if with_details {
                head.extend(texts(&DETAILS));
            }
            rows.push(head);
            let now = (Instant::now(), now);
            for level in levels.iter().map(|state| &state.level) {
                let requests = level.digest(true).requests;
                let row = |digest| request(level.name(), digest, now, with_details);
                rows.extend(requests.iter().map(row));
            }
        }
    }
    aligned(&rows)
}

fn level(state: &LevelState<Described>) -> Vec<String> {
    let digest = state.level.digest(false);
    let counts = digest.counts;
    let mut row = vec![
        state.level.name().to_owned(),
        digest.active_queues.to_string(),
        digest.is_idle.to_string(),
        state.is_quiescing.to_string(),
        digest.waiting.to_string(),
        digest.executing.to_string(),
    ];
    row.extend([counts.dispatched, counts.rejected, counts.timed_out, counts.cancelled].map(|count| count.to_string()));
    row
}

fn queues(state: &LevelState<Described>) -> Vec<Vec<String>> {
    let queues = state.level.digest(true).queues;
    let row = |(index, queue): (usize, &QueueDigest)| {
        vec![
            state.level.name().to_owned(),
            index.to_string(),
            queue.waiting.to_string(),
            queue.executing.to_string(),
            queue.seats_in_use.to_string(),
            queue.next_start.to_string(),
            queue.initial_seats.to_string(),
            queue.max_seats.to_string(),
            queue.work.to_string(),
        ]
    };
    queues.iter().enumerate().map(row).collect()
}

fn request(
    level: &str,
    digest: &RequestDigest<Described>,
    now: (Instant, SystemTime),
    with_details: bool,
) -> Vec<String> {
    let Described { schema, user, info } = &digest.description;
    // -1 stands for no place.
    let place = |place: Option<usize>| place.map_or_else(|| "-1".to_owned(), |place| place.to_string());
    let time = |at: Instant| {
        let time = now.1 - now.0.saturating_duration_since(at);
        Timestamp::try_from(time)
            .map(|time| time.to_string())
            .unwrap_or_default()
    };
    let estimate = &digest.estimate;
    let mut row = vec![
        level.to_owned(),
        schema.name.clone(),
        place(digest.queue),
        place(digest.place),
        schema.distinguisher(user, info).to_owned(),
        time(digest.arrived),
        estimate.initial_seats.to_string(),
        estimate.final_seats.to_string(),
        Duration(i64::try_from(estimate.additional_latency.as_nanos()).unwrap_or(i64::MAX)).to_string(),
        digest.started.map_or_else(|| "0001-01-01T00:00:00Z".to_owned(), time),
    ];
    if with_details {
        let version = match info.group() {
            "" => info.version().to_owned(),
            group => format!("{group}/{}", info.version()),
        };
        row.extend([
            user.name.clone(),
            info.verb_text().into_owned(),
            info.path().to_owned(),
            info.namespace().to_owned(),
            info.name().to_owned(),
            version,
            info.resource().to_owned(),
            info.subresource().to_owned(),
        ]);
    }
    row
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Writes rows with aligned columns, separated by commas.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
            // The comma, and one space at least.
            (widest + 2).max(NARROWEST)
        })
        .collect();
    let mut page = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            if column + 1 == row.len() {
                page.push_str(cell);
            } else {
                let padding = widths[column] - cell.chars().count() - 1;
                let _ = write!(page, "{cell},{:padding$}", "");
            }
        }
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_wide_as_their_column() {
        let rows = [texts(&["PriorityLevelName", "Index", "End"]), texts(&["a", "12", "x"])];
        let expected = "PriorityLevelName, Index,  End\na,                 12,     x\n";
        assert_eq!(aligned(&rows), expected);
    }
}
