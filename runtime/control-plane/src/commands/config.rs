//! `config`: files that clients need.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, Parser, Subcommand};
use planesmith_machinery::clock::SystemClock;
use planesmith_machinery::yaml;
use serde_json::Value;

use crate::certificates::Authority;
use crate::identity;
use crate::kubeconfig::{self, Access};
use crate::private_file::write_private;
use crate::program::Program;
use crate::resource_client::text;

/// Creates files that clients need.
#[derive(Debug, Parser)]
#[command(
    disable_version_flag = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(super) struct Config {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    CreateKubeconfig(CreateKubeconfig),
}

/// Creates a kubeconfig for a user, with a client certificate that the server's authority signs.
///
/// The certificate is valid for a year and cannot be revoked; the permissions of the user decide what it is good for.
/// Only the file's owner may read it.
#[derive(Args, Debug)]
#[command(disable_version_flag = true)]
struct CreateKubeconfig {
    /// Name of the user.
    #[arg(long, value_name = "NAME")]
    user: String,

    /// Group that the user is in; may be given several times.
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,

    /// URL of the server [default: its URL when it was started last].
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// File to write, - for the standard output [default: USER.kubeconfig in the data folder].
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    folders: Folders,
}

/// The folders in which a server keeps its files.
#[derive(Args, Debug)]
pub(super) struct Folders {
    /// Folder of the server.
    #[arg(long, default_value = "planesmith-data", value_name = "DIR")]
    pub(super) data_dir: PathBuf,

    /// Folder of its certificates [default: DATA_DIR/pki].
    #[arg(long, value_name = "DIR")]
    pub(super) cert_dir: Option<PathBuf>,
}

impl Folders {
    fn cert_dir(&self) -> PathBuf {
        self.cert_dir.clone().unwrap_or_else(|| self.data_dir.join("pki"))
    }
}

impl Config {
    pub(super) fn run(&self, program: &Program) -> Result<()> {
        match &self.command {
            Command::CreateKubeconfig(create) => create.run(program),
        }
    }
}

impl CreateKubeconfig {
    fn run(&self, program: &Program) -> Result<()> {
        let text = self.kubeconfig(program)?;
        if self.output.as_deref() == Some(Path::new("-")) {
            return super::print(text.as_bytes());
        }
        let path = match &self.output {
            Some(path) => path.clone(),
            None => {
                let path = self
                    .folders
                    .data_dir
                    .join(format!("{}.kubeconfig", file_name(&self.user)));
                ensure!(
                    !path.exists(),
                    "{} exists already; remove it, or name another file with --output",
                    path.display()
                );
                path
            }
        };
        write_private(&path, text.as_bytes()).with_context(|| format!("{} cannot be written", path.display()))?;
        super::print(format!("{}\n", path.display()).as_bytes())
    }

    fn kubeconfig(&self, program: &Program) -> Result<String> {
        ensure!(!self.user.is_empty(), "--user is empty; expected a name");
        ensure!(
            !self.group.iter().any(String::is_empty),
            "--group is empty; expected a name"
        );
        let dir = self.folders.cert_dir();
        let data_dir = self.folders.data_dir.display();
        if !Authority::is_in(&dir) {
            bail!(
                "there is no certificate authority in {}; start {} with --data-dir {data_dir} once, or name its folder",
                dir.display(),
                program.name
            );
        }
        let known = known_server(&self.folders.data_dir)?;
        let authority = Authority::open(&dir, Arc::new(SystemClock))?;
        let groups: Vec<&str> = self.group.iter().map(String::as_str).collect();
        let (certificate, key) = authority.client_pair(&self.user, &groups)?;
        let server = match (&self.server, &known) {
            (Some(server), _) => server.clone(),
            (None, Some(known)) => known.url.clone(),
            (None, None) => bail!(
                "the URL of the server is unknown: {data_dir} has no {}; name it with --server",
                identity::ADMIN_KUBECONFIG
            ),
        };
        let trusted = known.map_or_else(|| authority.certificate_pem().to_owned(), |known| known.authority);
        Ok(kubeconfig::render(&Access {
            server: &server,
            authority: &trusted,
            user: &self.user,
            certificate: &certificate,
            key: &key.to_pem()?,
        }))
    }
}

/// The server that the administrator's kubeconfig names.
struct KnownServer {
    url: String,
    /// The authority by which the server is verified, PEM.
    authority: String,
}

/// Returns the URL and the authority of the server in a folder, recorded when it was started last; `None` if it never
/// was.
fn known_server(data_dir: &Path) -> Result<Option<KnownServer>> {
    let path = data_dir.join(identity::ADMIN_KUBECONFIG);
    let Ok(bytes) = fs::read(&path) else {
        return Ok(None);
    };
    let damaged = || format!("{} is damaged; start the server to have it made anew", path.display());
    let document = yaml::to_json(&bytes).map_err(|error| anyhow::anyhow!("{error}"));
    let document: Value = serde_json::from_slice(&document.with_context(damaged)?.json).with_context(damaged)?;
    let cluster = &document["clusters"][0]["cluster"];
    let authority = STANDARD.decode(text(cluster, "/certificate-authority-data"));
    let authority = String::from_utf8(authority.with_context(damaged)?).with_context(damaged)?;
    Ok(Some(KnownServer {
        url: text(cluster, "/server").to_owned(),
        authority,
    }))
}

/// Returns the name of a user in a form that is valid in the name of a file.
fn file_name(user: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.@".contains(letter);
    let name: String = user
        .chars()
        .map(|letter| if allowed(letter) { letter } else { '-' })
        .collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_users_become_names_of_files() {
        for (user, file) in [
            ("jane", "jane"),
            ("system:node:a/b", "system-node-a-b"),
            ("../../x", "-..-x"),
            ("jane@example.com", "jane@example.com"),
        ] {
            assert_eq!(file_name(user), file);
        }
    }
}
