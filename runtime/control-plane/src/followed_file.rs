//! A file that is followed while the server runs.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The time between two checks of the file's metadata.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time between two reads of the file, whose metadata may not change with its content.
const READ_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum bytes of the file.
const MAX_SIZE: u64 = 16 << 20;

/// A file, and its content that is in use.
#[derive(Clone)]
pub struct FollowedFile {
    path: PathBuf,
    content: Vec<u8>,
    version: Option<(SystemTime, u64)>,
    read_at: Instant,
}

impl FollowedFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            // Before the content: a later change is noticed.
            version: version(path),
            content: read(path)?,
            path: path.to_owned(),
            read_at: Instant::now(),
        })
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content that is in use: that of the start, or the one that was accepted last.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Waits until the file has another content than the one in use, and returns it. The file is read when its time or size
    /// changes, and every minute: a content that is not accepted is returned again then. After an error the wait can go on.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn changed(&mut self) -> io::Result<Vec<u8>> {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            if let Some(content) = self.check(Instant::now()).await? {
                return Ok(content);
            }
        }
    }

    /// Records that `content` is in use from now on.
    pub fn accept(&mut self, content: Vec<u8>) {
        self.content = content;
    }

    /// Reads the file if that is due at `now`. Returns its content if that is not the one in use.
    async fn check(&mut self, now: Instant) -> io::Result<Option<Vec<u8>>> {
        let (path, known) = (self.path.clone(), self.version);
        let is_due = now.saturating_duration_since(self.read_at) >= READ_INTERVAL;
        // On a thread that may block: a disk may be slow.
        let read = tokio::task::spawn_blocking(move || {
            let found = version(&path);
            (is_due || found != known).then(|| (found, read(&path)))
        });
        let Some((version, content)) = read.await.map_err(io::Error::other)? else {
            return Ok(None);
        };
        (self.version, self.read_at) = (version, now);
        Ok(Some(content?).filter(|content| *content != self.content))
    }
}

/// The content is left out: it may have keys.
impl fmt::Debug for FollowedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rendered = formatter.debug_struct("FollowedFile");
        rendered.field("path", &self.path).finish_non_exhaustive()
    }
}

/// Reads the file at `path`.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    fs::File::open(path)?.take(MAX_SIZE + 1).read_to_end(&mut content)?;
    match content.len() as u64 > MAX_SIZE {
        true => Err(io::Error::other(format!("the file has more than {MAX_SIZE} bytes"))),
        false => Ok(content),
    }
}

/// The time and the size of a file; `None` if it cannot be read.
fn version(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_followed_through_its_absence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let mut file = FollowedFile::open(&path).unwrap();
        let now = Instant::now();
        assert_eq!(file.check(now).await.unwrap(), None);
        fs::write(&path, "three").unwrap();
        let three = file.check(now).await.unwrap().unwrap();
        assert_eq!(three, b"three");
        file.accept(three);
        fs::remove_file(&path).unwrap();
        let missing = file.check(now).await.unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::write(&path, "three").unwrap();
        assert_eq!(file.check(now).await.unwrap(), None, "the content is the same");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "seven").unwrap();
        let written = fs::File::options().write(true).open(&path).unwrap();
        written.set_modified(time).unwrap();
        assert_eq!(file.check(now).await.unwrap(), None, "time and size are the same");
        assert_eq!(file.check(now + READ_INTERVAL).await.unwrap().unwrap(), b"seven");
    }

    #[tokio::test]
    async fn a_content_that_was_not_accepted_is_returned_again_after_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let mut file = FollowedFile::open(&path).unwrap();
        let now = Instant::now();
        fs::write(&path, "three").unwrap();
        assert!(file.check(now).await.unwrap().is_some());
        assert_eq!(file.content(), b"one");
        assert_eq!(file.check(now).await.unwrap(), None);
        let (first, second) = (now + READ_INTERVAL, now + 2 * READ_INTERVAL);
        let again = file.check(first).await.unwrap().unwrap();
        file.accept(again);
        assert_eq!(file.check(second).await.unwrap(), None);
    }

    #[test]
    fn no_debug_output_has_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, [151; 8]).unwrap();
        let debug = format!("{:?}", FollowedFile::open(&path).unwrap());
        assert!(debug.contains("path") && !debug.contains("151"), "{debug}");
    }
}
