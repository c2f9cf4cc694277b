//! Rounds of settling: the changes of full journal files are merged into the state, slot by slot.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use planesmith_store::Revision;
use planesmith_store::log::LogError;

use crate::changes::Changes;
use crate::format::{FolderFormat, Format};
use crate::generation::{self, UnpublishedGeneration};
use crate::journal::{START, Sealed};
use crate::merge::{self, Merge};
use crate::space::Space;
use crate::split::{Sorted, Sorting};
use crate::state::{GenerationSet, Job, Part, State};
use crate::worker::{self, Outcome, Worker};

/// Time that a step waits for the working thread.
const STEP: Duration = Duration::from_millis(50);

/// Time that closing waits for the working thread.
const CLOSE: Duration = Duration::from_secs(5);

/// Bytes for the list of slots and for changes of folders.
const FOR_LISTS: u64 = 128 << 10;

/// Bytes that a round needs beside its slots: for the next journal file, so that the last one can be settled, and for lists.
pub(crate) const FOR_ROUND: u64 = START + 2 * FOR_LISTS;

/// The state, and the work on it.
#[derive(Debug)]
pub(crate) struct Settling {
    /// The folder of the store.
    path: PathBuf,
    format: FolderFormat,
    pub(crate) state: State,
    space: Space,
    round: Option<Round>,
    /// Maximum number of files of the next round, after a larger round lacked space.
    most_files: Option<usize>,
    work: Option<Work>,
    /// Number of works that have ended.
    pub(crate) ended: u64,
    /// Work that hangs. No other work starts meanwhile.
    stuck: Option<Work>,
}

/// The changes of some journal files, and the slots that do not include them yet.
#[derive(Debug)]
struct Round {
    changes: Arc<Changes>,
    jobs: VecDeque<Job>,
    /// Bytes that each of the jobs needs, with those after it.
    needs: VecDeque<u64>,
    /// Records of a generation that many of the jobs share.
    sorted: Option<Arc<Sorted>>,
}

impl Round {
    /// The sorting to run before the next job, with `space` bytes for it.
    fn sorting(&self, space: u64) -> Option<Sorting> {
        let is_sorted = |part: &&Part| self.sorted.as_ref().is_some_and(|sorted| sorted.has(part));
        let next = self.jobs.front()?.sources.first()?;
        if is_sorted(&next) {
            return None;
        }
        Sorting::of(self.jobs.iter().flat_map(|job| &job.sources), space)
    }
}

/// The work of the thread.
#[derive(Debug)]
enum Work {
    Read(Worker<Changes>),
    Sort(Worker<Sorted>),
    Merge(Job, Worker<Option<UnpublishedGeneration>>),
}

/// The result of the thread.
enum Done {
    Read(Changes),
    Sort(Sorted),
    Merge(Job, Option<UnpublishedGeneration>),
}

/// The progress of settling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// There is nothing to do.
    Idle,
    /// There is more to do.
    Working,
    /// Every slot includes the files of the round.
    Settled,
}

impl Settling {
    pub(crate) fn new(path: PathBuf, format: FolderFormat, state: State, space: Space) -> Self {
        Self {
            path,
            format,
            state,
            space,
            round: None,
            most_files: None,
            work: None,
            ended: 0,
            stuck: None,
        }
    }

    /// Performs one short step. If no work is running, `files` returns the journal files to be settled, or `None` for
    /// now. The state will grow by `growth` bytes at most. After an error the next step starts again with the remaining
    /// work.
    pub(crate) fn step(
        &mut self,
        growth: u64,
        files: impl FnOnce(&State) -> Option<Vec<Sealed>>,
    ) -> Result<Progress, LogError> {
        self.check_stuck()?;
        if self.work.is_none() && !self.start(files)? {
            return Ok(Progress::Idle);
        }
        let done = match self.wait(STEP) {
            Ok(done) => done,
            Err(error) => {
                self.abandon_round();
                return Err(error);
            }
        };
        let Some(done) = done else {
            return Ok(Progress::Working);
        };
        self.ended += 1;
        let finished = self.finish(done, growth);
        if finished.is_err() {
            self.abandon_round();
        }
        finished
    }

    fn abandon_round(&mut self) {
        (self.round, self.most_files) = (None, None);
        self.space.keep_for_round(0);
        self.state.abandon_keyed_hash();
    }

    /// Starts the next work, if there is any.
    fn start(&mut self, files: impl FnOnce(&State) -> Option<Vec<Sealed>>) -> Result<bool, LogError> {
        if let Some(round) = &mut self.round
            && let Some(sorting) = round.sorting(self.space.free())
        {
            let (folder, changes) = (self.state.folder().to_owned(), Arc::clone(&round.changes));
            let space = self.space.clone();
            // The sorted records are no longer needed.
            round.sorted = None;
            let sort = Worker::start(move |pulse| sorting.run(&folder, &changes, &space, pulse))?;
            self.work = Some(Work::Sort(sort));
            return Ok(true);
        }
        if let Some(round) = &mut self.round
            && let Some(job) = round.jobs.pop_front()
        {
            self.space.keep_for_round(round.needs.pop_front().unwrap_or(0));
            let merge = Merge {
                job: job.clone(),
                changes: Arc::clone(&round.changes),
                sorted: round.sorted.clone(),
                folder: self.state.folder().to_owned(),
                disk: self.state.disk().clone(),
                space: self.space.clone(),
            };
            self.work = Some(Work::Merge(job, Worker::start(move |pulse| merge.run(pulse))?));
            return Ok(true);
        }
        let Some(mut files) = files(&self.state) else {
            return Ok(false);
        };
        files.truncate(self.most_files.unwrap_or(usize::MAX));
        // Both states are on the disk until the last slot is rewritten, and copies of slots.
        let size = self.state.size();
        if size > 0 && self.space.free() > 2 * size {
            self.state.adopt_keyed_hash();
        }
        let (journal, settled, hash) = (self.path.join("journal"), self.state.settled(), self.state.hash());
        let read = Worker::start(move |pulse| Changes::read(&journal, files, settled, hash, pulse))?;
        self.work = Some(Work::Read(read));
        Ok(true)
    }

    /// The result of the work, if it has ended.
    fn wait(&mut self, timeout: Duration) -> Result<Option<Done>, LogError> {
        let outcome = match self.work.take() {
            None => return Ok(None),
            Some(Work::Read(mut worker)) => match worker.wait(timeout) {
                Outcome::Done(result) => return result.map(|changes| Some(Done::Read(changes))),
                Outcome::Running => (Work::Read(worker), false),
                Outcome::Stuck => (Work::Read(worker), true),
            },
            Some(Work::Sort(mut worker)) => match worker.wait(timeout) {
                Outcome::Done(result) => return result.map(|sorted| Some(Done::Sort(sorted))),
                Outcome::Running => (Work::Sort(worker), false),
                Outcome::Stuck => (Work::Sort(worker), true),
            },
            Some(Work::Merge(job, mut worker)) => match worker.wait(timeout) {
                Outcome::Done(result) => return result.map(|made| Some(Done::Merge(job, made))),
                Outcome::Running => (Work::Merge(job, worker), false),
                Outcome::Stuck => (Work::Merge(job, worker), true),
            },
        };
        match outcome {
            (work, false) => {
                self.work = Some(work);
                Ok(None)
            }
            (work, true) => {
                work.cancel();
                self.stuck = Some(work);
                Err(worker::stuck())
            }
        }
    }

    /// Applies the result of the thread.
    fn finish(&mut self, done: Done, growth: u64) -> Result<Progress, LogError> {
        match done {
            Done::Read(changes) => {
                self.space.claim(FOR_LISTS)?;
                let format = &self.format;
                self.state.ensure_list(|| format.raise(Format::Three))?;
                let jobs = self.state.plan(self.space.slot(), |part| changes.bytes_in(part));
                // A round that stops half way has used space and freed none.
                let needs = needs_of(&jobs, &changes);
                if let Err(error) = self.space.check(needs.front().copied().unwrap_or(0)) {
                    // Each file that is settled and removed makes space for the next ones.
                    if let Some(fewer) = changes.fewer_files(self.state.newest()) {
                        self.most_files = Some(fewer);
                        return Ok(Progress::Working);
                    }
                    // The space of replaced states may be enough.
                    let most = jobs.iter().map(|job| merge::needed(job, &changes)).max();
                    let least = growth.min(growth_by(&jobs, &changes)) + most.unwrap_or(0);
                    self.space.check(least).map_err(|_| error)?;
                }
                self.space.keep_for_round(needs.front().copied().unwrap_or(0));
                self.round = Some(Round {
                    changes: Arc::new(changes),
                    jobs: jobs.into(),
                    needs,
                    sorted: None,
                });
            }
            Done::Sort(sorted) => {
                if let Some(round) = &mut self.round {
                    round.sorted = Some(Arc::new(sorted));
                }
            }
            Done::Merge(job, made) => {
                let through = self
                    .round
                    .as_ref()
                    .map_or(Revision::ZERO, |round| round.changes.through());
                self.space.claim(FOR_LISTS)?;
                self.state.publish(&job, made, through)?;
            }
        }
        let Some(round) = self.round.take_if(|round| round.jobs.is_empty()) else {
            return Ok(Progress::Working);
        };
        self.space.keep_for_round(0);
        self.space.claim(FOR_LISTS)?;
        self.state.settle(round.changes.through())?;
        self.most_files = None;
        Ok(Progress::Settled)
    }

    /// Returns an error while work hangs.
    fn check_stuck(&mut self) -> Result<(), LogError> {
        if self.stuck.as_mut().is_some_and(Work::hangs) {
            return Err(worker::stuck());
        }
        self.stuck = None;
        Ok(())
    }

    /// True if no work is running.
    pub(crate) fn is_idle(&self) -> bool {
        self.work.is_none() && self.stuck.is_none()
    }

    /// Cancels the running work, if possible. Files that it leaves do no harm: the next start removes them.
    pub(crate) fn close(&mut self) {
        self.work.iter().for_each(Work::cancel);
        let _ = self.wait(CLOSE);
    }
}

/// Maximum bytes that each of `jobs` needs together with those after it, in this order: the generations of earlier ones are on
/// the disk beside it, and a generation that jobs share stays until the last of them is done.
fn needs_of(jobs: &[Job], changes: &Changes) -> VecDeque<u64> {
    let generations_of = |job: &Job| -> Vec<Arc<GenerationSet>> {
        let sets = job.sources.iter().filter_map(|part| part.generation_set.as_ref());
        sets.map(Arc::clone).collect()
    };
    let mut later = HashSet::new();
    let mut needs = VecDeque::with_capacity(jobs.len());
    let mut after = 0;
    for job in jobs.iter().rev() {
        // Backwards, a generation appears first with the job that frees it.
        let freed = generations_of(job)
            .into_iter()
            .filter(|set| later.insert(Arc::as_ptr(set)));
        let freed = freed.map(|set| set.size()).sum::<u64>();
        after = merge::needed(job, changes).max((new_size(job, changes) + after).saturating_sub(freed));
        needs.push_front(after);
    }
    needs
}

/// Maximum size of the generation that `job` writes.
fn new_size(job: &Job, changes: &Changes) -> u64 {
    let size = merge::size_of(job, changes);
    match job.sources.as_slice() {
        // The overhead of the old generation is that of the new one.
        [part] => match &part.generation_set {
            Some(set) if !set.is_unsorted() && set.bytes() == part.bytes => {
                size.min(set.size() + generation::growth_for(changes.bytes_in(part).unwrap_or(0)))
            }
            Some(_) | None => size,
        },
        _ => size,
    }
}

/// Maximum growth of the state in bytes by `jobs`, without deducting the objects that the changes replace.
fn growth_by(jobs: &[Job], changes: &Changes) -> u64 {
    let growth = jobs.iter().map(|job| {
        let generation_sets = || job.sources.iter().filter_map(|part| part.generation_set.as_ref());
        // Unsorted generations stay until the last slot is rewritten.
        let replaced = generation_sets()
            .filter(|generation_set| !generation_set.is_unsorted())
            .map(|generation_set| generation_set.size());
        let growth = merge::size_of(job, changes).saturating_sub(replaced.sum());
        let is_rewritten = job.sources.len() == 1
            && generation_sets().all(|generation_set| generation_set.bytes() == job.sources[0].bytes);
        match is_rewritten && generation_sets().count() == 1 {
            // The overhead of the old generation is that of the new one.
            true => growth.min(generation::growth_for(changes.bytes_in(&job.sources[0]).unwrap_or(0))),
            false => growth,
        }
    });
    growth.sum()
}

impl Work {
    fn cancel(&self) {
        match self {
            Self::Read(worker) => worker.cancel(),
            Self::Sort(worker) => worker.cancel(),
            Self::Merge(_, worker) => worker.cancel(),
        }
    }

    fn hangs(&mut self) -> bool {
        match self {
            Self::Read(worker) => !matches!(worker.wait(Duration::ZERO), Outcome::Done(_)),
            Self::Sort(worker) => !matches!(worker.wait(Duration::ZERO), Outcome::Done(_)),
            Self::Merge(_, worker) => !matches!(worker.wait(Duration::ZERO), Outcome::Done(_)),
        }
    }
}
