//! A file that is replaced when it is large, and its predecessors, which are removed when they are old or many.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use planesmith_machinery::clock::{Clock, SystemClock};

/// The time in the name of a predecessor.
const STAMP: &str = "%Y-%m-%dT%H-%M-%S%.3f";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The limits of a file and of its predecessors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The size of a file.
    pub(crate) bytes: u64,
    /// The age of predecessors, in days; 0 is no limit.
    pub(crate) days: u32,
    /// The number of predecessors; 0 is no limit.
    pub(crate) files: usize,
    /// True if predecessors are compressed.
    pub(crate) compress: bool,
}

impl Limits {
    /// The size of a file without a limit of its own.
    pub(crate) const DEFAULT_BYTES: u64 = 100 << 20;
}

/// A file to which lines are appended.
#[derive(Debug)]
pub(crate) struct RotatedFile {
    path: PathBuf,
    file: File,
    /// False for a device or a pipe: it has no size, and moving it would take it from all its users.
    is_regular: bool,
    size: u64,
    limits: Limits,
    /// Held while predecessors are compressed and removed.
    tidying: Arc<Mutex<()>>,
}

impl RotatedFile {
    /// Opens the file, or creates it for its owner only.
    ///
    /// # Errors
    ///
    /// The file cannot be created or appended to.
    pub(crate) fn open(path: &Path, limits: Limits) -> io::Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let file = append_to(path)?;
        let metadata = file.metadata()?;
        Ok(Self {
            path: path.to_owned(),
            file,
            is_regular: metadata.is_file(),
            size: metadata.len(),
            limits,
            tidying: Arc::default(),
        })
    }

    /// Appends whole lines; begins a new file first if they do not fit any more.
    ///
    /// # Errors
    ///
    /// The lines are not in the file, or only in part.
    pub(crate) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.size > 0 && !self.fits(lines.len()) {
            self.rotate()?;
        }
        self.file.write_all(lines)?;
        self.size += lines.len() as u64;
        Ok(())
    }

    /// True if so many bytes more fit into the file.
    pub(crate) fn fits(&self, bytes: usize) -> bool {
        !self.is_regular || self.size.saturating_add(bytes as u64) <= self.limits.bytes
    }

    fn rotate(&mut self) -> io::Result<()> {
        match fs::rename(&self.path, self.free_name()) {
            // An earlier rotation ended between the two steps, or another program has moved the file.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        self.file = append_to(&self.path)?;
        self.size = 0;
        let (path, limits, one_at_a_time) = (self.path.clone(), self.limits, Arc::clone(&self.tidying));
        // Compression takes longer than a request should wait.
        let tidy = move || {
            let _turn = one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = tidy(&path, limits, SystemClock.now()) {
                tracing::warn!(%error, file = %path.display(), "old files of the audit log stay");
            }
        };
        if let Err(error) = thread::Builder::new().name("audit-files".to_owned()).spawn(tidy) {
            tracing::warn!(%error, "old files of the audit log stay until the next one is full");
        }
        Ok(())
    }

    /// Returns a name with the time that no file has yet.
    fn free_name(&self) -> PathBuf {
        // Like the times of the files, which decide about their ages.
        let now = Timestamp::try_from(SystemClock.now()).unwrap_or_default();
        let names = (0..).map(|later| {
            let at = now.checked_add(Duration::from_millis(later)).unwrap_or(now);
            let (stem, extension) = parts_of(&self.path);
            let stamp = at.to_zoned(TimeZone::UTC).strftime(STAMP);
            self.path.with_file_name(format!("{stem}-{stamp}{extension}"))
        });
        let is_free = |name: &PathBuf| !name.exists() && !compressed(name).exists();
        names.into_iter().find(is_free).unwrap_or_else(|| self.path.clone())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Returns the name of a file without its extension, and the extension with its dot.
fn parts_of(path: &Path) -> (String, String) {
    let text = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let extension = text(path.extension()).map(|extension| format!(".{extension}"));
    (
        text(path.file_stem()).unwrap_or_default(),
        extension.unwrap_or_default(),
    )
}

fn compressed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    PathBuf::from(name)
}

/// Compresses and removes the predecessors of the file at `path`.
fn tidy(path: &Path, limits: Limits, now: SystemTime) -> io::Result<()> {
    let mut old = predecessors(path)?;
    // Names sort by time; the newest comes first.
    old.sort_unstable_by(|a, b| b.cmp(a));
    for (index, file) in old.iter().enumerate() {
        let is_many = limits.files > 0 && index >= limits.files;
        let age = || {
            Some(
                now.duration_since(fs::metadata(file).ok()?.modified().ok()?)
                    .unwrap_or_default(),
            )
        };
        let is_old = limits.days > 0 && age().is_some_and(|age| age > DAY * limits.days);
        if is_many || is_old {
            fs::remove_file(file)?;
        } else if limits.compress && file.extension().is_none_or(|extension| extension != "gz") {
            compress(file)?;
        }
    }
    Ok(())
}

fn predecessors(path: &Path) -> io::Result<Vec<PathBuf>> {
    let (stem, extension) = parts_of(path);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        let stamp = plain
            .strip_prefix(&stem)
            .and_then(|rest| rest.strip_prefix('-'))
            .and_then(|rest| rest.strip_suffix(&extension));
        if stamp.is_some_and(|stamp| jiff::civil::DateTime::strptime(STAMP, stamp).is_ok()) {
            found.push(entry);
        }
    }
    Ok(found)
}

/// Replaces a file by a compressed one.
fn compress(file: &Path) -> io::Result<()> {
    let target = compressed(file);
    let unfinished = target.with_extension("gz.new");
    let out = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)?;
    let mut encoder = GzEncoder::new(out, Compression::default());
    io::copy(&mut File::open(file)?, &mut encoder)?;
    encoder.finish()?.sync_all()?;
    fs::rename(&unfinished, &target)?;
    fs::remove_file(file)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    const LIMITS: Limits = Limits {
        bytes: 10,
        days: 0,
        files: 0,
        compress: false,
    };

    #[test]
    fn a_full_file_gets_a_name_with_the_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let mut file = RotatedFile::open(&path, LIMITS).unwrap();
        for line in ["first\n", "second\n", "third, which is long\n"] {
            file.append(line.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "third, which is long\n");
        let names = files(folder.path());
        assert_eq!(names.len(), 3);
        assert_eq!(predecessors(&path).unwrap().len(), 2, "{names:?}");
        let mut again = RotatedFile::open(&path, LIMITS).unwrap();
        again.append(b"fourth\n").unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "fourth\n",
            "a restart knows the size"
        );
    }

    #[test]
    fn a_device_is_not_moved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        let mut file = RotatedFile::open(&path, LIMITS).unwrap();
        for _ in 0..3 {
            file.append(b"a whole line\n").unwrap();
        }
        assert_eq!(files(folder.path()), ["audit.log"]);
    }

    #[test]
    fn a_file_that_others_have_moved_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let mut file = RotatedFile::open(&path, LIMITS).unwrap();
        file.append(b"first\n").unwrap();
        fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        file.append(b"second\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second\n");
        assert_eq!(files(folder.path()), ["audit.log", "elsewhere"]);
    }

    #[test]
    fn old_files_are_compressed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        for day in 1..=4 {
            let name = format!("audit-2026-01-0{day}T00-00-00.000.log");
            fs::write(folder.path().join(name), format!("day {day}")).unwrap();
        }
        fs::write(folder.path().join("audit-of-others.log"), "").unwrap();
        let limits = Limits {
            files: 2,
            compress: true,
            ..LIMITS
        };
        tidy(&path, limits, SystemClock.now()).unwrap();
        let expected = [
            "audit-2026-01-03T00-00-00.000.log.gz",
            "audit-2026-01-04T00-00-00.000.log.gz",
            "audit-of-others.log",
        ];
        assert_eq!(files(folder.path()), expected);
        let packed = File::open(folder.path().join(expected[1])).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
        assert_eq!(text, "day 4");
        let limits = Limits { days: 1, ..LIMITS };
        tidy(&path, limits, SystemClock.now() + 2 * DAY).unwrap();
        assert_eq!(files(folder.path()), ["audit-of-others.log"]);
    }
}
