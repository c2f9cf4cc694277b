//! A socket with pages for troubleshooting, which does not authenticate clients: the permissions of its file protect it.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use axum::Router;
use tokio::net::{UnixListener, UnixSocket, UnixStream};

/// The most connections that wait to be accepted.
const BACKLOG: u32 = 16;

/// The socket, whose file is removed when this is dropped, unless another one has replaced it.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

/// Serves `pages` on a socket at `path`, to the user of this process alone. A socket on which no process listens is replaced.
/// As in kube-apiserver, a failure is logged and the server goes on.
pub(super) async fn serve(path: PathBuf, pages: Router) {
    let served = match bind(&path).await {
        // The file is dropped after the listener, which keeps its inode from being used again.
        Ok((_file, listener)) => axum::serve(listener, pages).await,
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        tracing::error!(path = %path.display(), %error, "the socket for troubleshooting is not served");
    }
}

async fn bind(path: &Path) -> io::Result<(SocketFile, UnixListener)> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => remove_unused(path).await?,
        Ok(_) => {
            return Err(io::Error::new(
                ErrorKind::AlreadyExists,
                "a file that is no socket is in its place",
            ));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let socket = UnixSocket::new_stream()?;
    socket.bind(path)?;
    let file = SocketFile {
        path: path.to_owned(),
        identity: identity(path)?,
    };
    // Nobody can connect before it listens.
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok((file, socket.listen(BACKLOG)?))
}

/// Removes the socket of a process that has ended, which refuses connections.
async fn remove_unused(path: &Path) -> io::Result<()> {
    match UnixStream::connect(path).await {
        Ok(_) => Err(io::Error::new(
            ErrorKind::AddrInUse,
            "another process listens on this socket",
        )),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            // The next server would replace it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn connect(path: &Path) -> UnixStream {
        loop {
            match UnixStream::connect(path).await {
                Ok(stream) => return stream,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    #[tokio::test]
    async fn pages_are_for_the_user_of_the_process_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debug.sock");
        // That of a server that was killed.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let pages = Router::new().route("/debug/page", get(async || "a page"));
        let serving = tokio::spawn(serve(path.clone(), pages));
        let mut stream = connect(&path).await;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let request = b"GET /debug/page HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("a page"),
            "{answer}"
        );
        serving.abort();
        assert!(serving.await.unwrap_err().is_cancelled());
        assert!(!path.exists(), "the file goes with the server");
    }

    #[tokio::test]
    async fn a_socket_of_another_process_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debug.sock");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        serve(path.clone(), Router::new()).await;
        UnixStream::connect(&path).await.unwrap();
        drop(listener);
        // Now it is replaced, and one that replaces the new socket stays when that is dropped.
        let bound = bind(&path).await.unwrap();
        fs::remove_file(&path).unwrap();
        let _other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(bound);
        UnixStream::connect(&path).await.unwrap();
    }

    #[tokio::test]
    async fn a_file_in_the_place_of_the_socket_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "content").unwrap();
        serve(path.clone(), Router::new()).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), "content");
    }
}
