//! A server process: starts on a free port, can be awaited, and stops when dropped.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::{Connection, Endpoint};

/// The administrator's token in the token file of all servers.
pub const ADMIN_TOKEN: &str = "end-to-end-admin";

/// The time limit from the start to the first ready response, far above the usual duration: it detects a server that hangs.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// The time limit for a graceful shutdown.
const END_WITHIN: Duration = Duration::from_secs(60);

/// State that outlives a server process: its data folder, its log, and a home for clients.
#[derive(Debug)]
pub struct Home {
    root: TempDir,
    data: PathBuf,
    port: u16,
}

impl Home {
    /// Creates an empty home in the system's temporary folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn new() -> Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// Creates an empty home in `folder`, whose file system then determines the durability of writes.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn within(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let root = tempfile::Builder::new().prefix("planesmith-").tempdir_in(folder)?;
        let data = root.path().join("data");
        let tokens = format!("{ADMIN_TOKEN},admin,admin-uid,\"system:masters\"\n");
        std::fs::write(root.path().join("tokens.csv"), tokens)?;
        Ok(Self { root, data, port: 0 })
    }

    /// Moves the data folder to `data`, which can be on another file system.
    #[must_use]
    pub fn with_data(mut self, data: PathBuf) -> Self {
        self.data = data;
        self
    }

    /// Makes servers listen on `port`, for one that restarts at the same address.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Returns the folder for files of the test, which is the `HOME` of clients.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Returns the server's data folder.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the kubeconfig that the server writes for its administrator.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.data.join("admin.kubeconfig")
    }

    /// Returns the output of all servers started here.
    #[must_use]
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.log_path()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn log_path(&self) -> PathBuf {
        self.root.path().join("server.log")
    }

    /// Starts `binary` with `flags` and waits until it is ready.
    ///
    /// # Errors
    ///
    /// The server exits or is not ready in time; the error contains the end of its log.
    pub async fn start(&self, binary: &Path, flags: &[&str]) -> Result<Server> {
        let mut server = self.spawn(binary, flags)?;
        server.ready().await?;
        Ok(server)
    }

    /// Starts `binary` with `flags` and returns immediately.
    ///
    /// # Errors
    ///
    /// The process cannot be started.
    pub fn spawn(&self, binary: &Path, flags: &[&str]) -> Result<Server> {
        let log = File::options().create(true).append(true).open(self.log_path())?;
        let printed_before = log.metadata()?.len();
        let child = Command::new(binary)
            .args(flags)
            .args([&format!("--secure-port={}", self.port), "--bind-address=127.0.0.1"])
            .arg(format!("--data-dir={}", self.data.display()))
            .arg(format!(
                "--token-auth-file={}",
                self.root.path().join("tokens.csv").display()
            ))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("starting {}", binary.display()))?;
        let pid = child.id().context("the process has just been started")?;
        Ok(Server {
            child,
            pid,
            endpoint: None,
            log: self.log_path(),
            printed_before,
            started: Instant::now(),
        })
    }
}

/// A running server. It is killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pid: u32,
    endpoint: Option<Endpoint>,
    log: PathBuf,
    printed_before: u64,
    started: Instant,
}

impl Server {
    /// Waits until `/readyz` returns 200; returns the time since the start.
    ///
    /// # Errors
    ///
    /// The process exits before that, or is not ready within a minute.
    pub async fn ready(&mut self) -> Result<Duration> {
        let connection = self.listening().await?;
        while connection.get("/readyz").await?.status != 200 {
            if self.started.elapsed() > READY_WITHIN {
                bail!("the server is not ready after {READY_WITHIN:?}:\n{}", self.log_tail());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(self.started.elapsed())
    }

    /// Waits until the server accepts a connection, which it does before it is ready; returns that connection.
    ///
    /// # Errors
    ///
    /// The process exits before that, or does not listen within a minute.
    pub async fn listening(&mut self) -> Result<Connection> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!(
                    "the server ended with {status} before it was ready:\n{}",
                    self.log_tail()
                );
            }
            if self.endpoint.is_none() {
                self.endpoint = self.printed_endpoint()?;
            }
            if let Some(endpoint) = &self.endpoint
                && let Ok(connection) = Connection::open(endpoint).await
            {
                return Ok(connection);
            }
            if self.started.elapsed() > READY_WITHIN {
                bail!(
                    "the server does not listen after {READY_WITHIN:?}:\n{}",
                    self.log_tail()
                );
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Returns the endpoint of the server.
    ///
    /// # Panics
    ///
    /// [`ready`](Self::ready) has not returned yet.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.endpoint
            .as_ref()
            .expect("a server that is ready has printed its address")
    }

    /// Opens a new connection.
    ///
    /// # Errors
    ///
    /// The server does not accept the connection.
    pub async fn connect(&self) -> Result<Connection> {
        Connection::open(self.endpoint()).await
    }

    /// Returns the process ID.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Terminates the process with SIGKILL and waits for its end.
    ///
    /// # Errors
    ///
    /// The process has already exited.
    pub async fn kill(mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the server had already ended with {status}:\n{}", self.log_tail());
        }
        self.child.kill().await?;
        Ok(())
    }

    /// Sends SIGTERM, which starts a graceful shutdown.
    ///
    /// # Errors
    ///
    /// The signal cannot be sent.
    pub async fn terminate(&self) -> Result<()> {
        let pid = self.pid.to_string();
        let status = Command::new("kill").args(["-TERM", &pid]).status().await?;
        anyhow::ensure!(status.success(), "kill -TERM {pid}: {status}");
        Ok(())
    }

    /// Waits until the process exits.
    ///
    /// # Errors
    ///
    /// The process is still running after a minute.
    pub async fn ended(&mut self) -> Result<ExitStatus> {
        tokio::time::timeout(END_WITHIN, self.child.wait())
            .await
            .map_err(|_| anyhow!("still running after {END_WITHIN:?}:\n{}", self.log_tail()))?
            .context("waiting for the server")
    }

    /// Returns the output of this process so far.
    #[must_use]
    pub fn log(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        let own = usize::try_from(self.printed_before).unwrap_or(0).min(bytes.len());
        String::from_utf8_lossy(&bytes[own..]).into_owned()
    }

    fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// Returns the address that the server printed; `None` before the complete line is available.
    fn printed_endpoint(&self) -> Result<Option<Endpoint>> {
        let log = self.log();
        let Some((url, _)) = log
            .split_once("  at     https://")
            .and_then(|(_, rest)| rest.split_once('\n'))
        else {
            return Ok(None);
        };
        // The server listens on loopback, independent of the announced address.
        let port = url.rsplit(':').next().unwrap_or_default();
        let url = format!("https://127.0.0.1:{port}");
        Endpoint::new(&url, ADMIN_TOKEN, None).map(Some)
    }
}
