//! Figures of this process.

use std::time::Duration;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Resident memory in bytes.
pub(crate) fn resident() -> Result<u64, Failure> {
    Ok(value("/proc/self/status", "VmRSS:")? * 1024)
}

/// User and system time, in steps of 10 ms.
pub(crate) fn processor_time() -> Result<Duration, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no process name")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    Ok(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>()?))
}

/// The number behind `name` in the file at `path`, without its unit.
pub(crate) fn value(path: &str, name: &str) -> Result<u64, Failure> {
    let text = std::fs::read_to_string(path)?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .ok_or("no such value")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
