//! Processor time and memory of processes, from the operating system.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// One tick of `/proc/PID/stat`: Linux reports 100 per second to user space on all architectures.
const TICK: Duration = Duration::from_millis(10);

/// The processes of a server, such as an API server and its database.
#[derive(Debug)]
pub(crate) struct Processes {
    pids: Vec<u32>,
    /// The last figure of each thread, so that the time of terminated threads is not lost.
    threads: Mutex<HashMap<(u32, u32), Duration>>,
}

/// Resident memory, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) now: u64,
    pub(crate) peak: u64,
}

impl Processes {
    pub(crate) fn new(pids: Vec<u32>) -> Self {
        Self {
            pids,
            threads: Mutex::new(HashMap::new()),
        }
    }

    /// Returns the processor time used so far, in user and system mode, by all threads.
    ///
    /// The scheduler's figures are in nanoseconds but omit terminated threads; the process total includes them but counts in
    /// ticks. Neither overestimates, so the larger one is correct.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let mut threads = self.threads.lock().expect("no holder of this lock panics");
        for &pid in &self.pids {
            let tasks = Path::new("/proc").join(pid.to_string()).join("task");
            for task in tasks
                .read_dir()
                .with_context(|| format!("process {pid} no longer exists"))?
            {
                let task = task?;
                // A thread may end between listing and reading.
                let Ok(text) = std::fs::read_to_string(task.path().join("schedstat")) else {
                    continue;
                };
                let tid = task.file_name().to_string_lossy().parse().unwrap_or(0);
                let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
                threads.insert((pid, tid), Duration::from_nanos(nanoseconds.unwrap_or(0)));
            }
        }
        let mut total = Duration::ZERO;
        for &pid in &self.pids {
            let scheduled: Duration = threads
                .iter()
                .filter(|((of, _), _)| *of == pid)
                .map(|(_, used)| *used)
                .sum();
            total += scheduled.max(ticks(pid)?);
        }
        Ok(total)
    }

    /// Returns the processor time used so far by the threads called `name`, which must not end in the meantime.
    pub(crate) fn cpu_of_threads(&self, name: &str) -> Result<Duration> {
        let mut total = None;
        for &pid in &self.pids {
            let tasks = Path::new("/proc").join(pid.to_string()).join("task");
            for task in tasks
                .read_dir()
                .with_context(|| format!("process {pid} no longer exists"))?
            {
                let path = task?.path();
                if std::fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim_end() == name) {
                    let text = std::fs::read_to_string(path.join("schedstat"))?;
                    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
                    let used =
                        Duration::from_nanos(nanoseconds.context("/proc/PID/task/TID/schedstat is not a number")?);
                    total = Some(total.unwrap_or_default() + used);
                }
            }
        }
        total.with_context(|| format!("no thread is called {name}"))
    }

    /// Returns the resident memory of all processes.
    pub(crate) fn memory(&self) -> Result<Memory> {
        let mut total = Memory::default();
        for pid in &self.pids {
            let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
            let kilobytes = |key: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(key));
                line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
                    .with_context(|| format!("/proc/{pid}/status has no {key}"))
            };
            total.now += kilobytes("VmRSS:")? * 1024;
            total.peak += kilobytes("VmHWM:")? * 1024;
        }
        Ok(total)
    }
}

/// Returns the user and system time of process `pid`, rounded down to ticks.
fn ticks(pid: u32) -> Result<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The second field is the program name, which can contain blanks and brackets.
    let (_, rest) = text.rsplit_once(") ").context("/proc/PID/stat has no program name")?;
    let fields: Vec<_> = rest.split(' ').collect();
    let field = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok()).unwrap_or(0);
    Ok(TICK * (field(11) + field(12)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_an_ended_thread_still_counts() {
        let own = Processes::new(vec![std::process::id()]);
        let before = own.cpu().unwrap();
        let worker = || {
            let mut sum = 0_u64;
            for number in 0..40_000_000_u64 {
                sum = std::hint::black_box(sum.wrapping_add(number));
            }
            sum
        };
        std::thread::spawn(worker).join().unwrap();
        assert!(own.cpu().unwrap() - before >= Duration::from_millis(10));
    }

    #[test]
    fn threads_are_found_by_their_name() {
        let own = Processes::new(vec![std::process::id()]);
        let (begin, wait) = std::sync::mpsc::channel::<()>();
        let (running, runs) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("bench-thread".to_owned());
        let thread = thread.spawn(move || {
            // A new thread sets its own name.
            running.send(()).unwrap();
            wait.recv()
        });
        let thread = thread.unwrap();
        runs.recv().unwrap();
        assert!(own.cpu_of_threads("bench-thread").is_ok());
        assert!(own.cpu_of_threads("bench-none").is_err());
        drop(begin);
        assert!(thread.join().unwrap().is_err());
    }

    #[test]
    fn peak_memory_is_not_below_the_present() {
        let memory = Processes::new(vec![std::process::id()]).memory().unwrap();
        assert!(memory.now > 0 && memory.peak >= memory.now);
    }
}
