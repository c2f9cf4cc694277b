//! A file that is followed while the server runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The time between two checks of the file's metadata.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time between two reads of the file, whose metadata may not change with its content.
const READ_INTERVAL: Duration = Duration::from_secs(60);

/// A file, and the content that was read last.
#[derive(Debug)]
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
            content: fs::read(path)?,
            path: path.to_owned(),
            read_at: Instant::now(),
        })
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content that was read last.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Waits until the file has another content, and returns it. The file is read when its time or size changes, and every
    /// minute. After an error the wait can go on.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn changed(&mut self) -> io::Result<&[u8]> {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            if self.check(Instant::now()).await? {
                return Ok(&self.content);
            }
        }
    }

    /// Reads the file if that is due at `now`. Returns true if its content is another one.
    async fn check(&mut self, now: Instant) -> io::Result<bool> {
        let (path, known) = (self.path.clone(), self.version);
        let is_due = now.saturating_duration_since(self.read_at) >= READ_INTERVAL;
        // On a thread that may block: a disk may be slow.
        let read = tokio::task::spawn_blocking(move || {
            let found = version(&path);
            (is_due || found != known).then(|| (found, fs::read(path)))
        });
        let Some((version, content)) = read.await.map_err(io::Error::other)? else {
            return Ok(false);
        };
        (self.version, self.read_at) = (version, now);
        let content = content?;
        let is_other = content != self.content;
        self.content = content;
        Ok(is_other)
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
        assert!(!file.check(now).await.unwrap());
        fs::write(&path, "three").unwrap();
        assert!(file.check(now).await.unwrap());
        assert_eq!(file.content(), b"three");
        fs::remove_file(&path).unwrap();
        let missing = file.check(now).await.unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::write(&path, "three").unwrap();
        assert!(!file.check(now).await.unwrap(), "the content is the same");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "seven").unwrap();
        let written = fs::File::options().write(true).open(&path).unwrap();
        written.set_modified(time).unwrap();
        assert!(!file.check(now).await.unwrap(), "time and size are the same");
        assert!(file.check(now + READ_INTERVAL).await.unwrap());
        assert_eq!(file.content(), b"seven");
    }
}
