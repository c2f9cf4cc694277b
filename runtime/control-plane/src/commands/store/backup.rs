//! `store backup`: the objects of a server in one file.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Parser;
use planesmith_store::{BackupEncoder, BackupHeader, BackupReader, LoadedSource, Source as _};

use super::output_file::OutputFile;
use super::remote::ServerFlags;
use super::work::Work;
use super::{moving, place, report};
use crate::store_api::BACKUP;
use crate::store_scheme;

/// Bytes that are written together.
const BUFFER: usize = 256 << 10;

/// Writes all objects of a server, as they are at one moment, to a file.
///
/// A running server goes on meanwhile; the file is verified. It is readable for its owner only, because objects include secrets:
/// keep it like a password. Certificates and keys in the data folder are not in it.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Backup {
    /// File to write, - for the standard output.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    server: ServerFlags,

    /// Back up the store sled:DATA_DIR of a stopped server, or one of another kind, such as etcd:URLS.
    #[arg(long, value_name = "STORE", conflicts_with_all = ["data_dir", "kubeconfig"])]
    from: Option<String>,

    /// Replace an existing file.
    #[arg(long)]
    force: bool,
}

impl Backup {
    pub(super) fn run(&self, work: &Work<'_>) -> Result<()> {
        if self.file == Path::new("-") {
            let output = BufWriter::with_capacity(BUFFER, io::stdout().lock());
            self.write(output, work)?;
            return Ok(());
        }
        let mut file = OutputFile::create(&self.file, self.force)?;
        self.write(BufWriter::with_capacity(BUFFER, &mut file), work)?;
        file.sync()?;
        let header = verify(file.fresh(), work)?;
        work.check()?;
        file.publish()?;
        let bytes = std::fs::metadata(&self.file).map_or(0, |metadata| metadata.len());
        report::say(&format!(
            "{}: {} objects at revision {}, {}",
            self.file.display(),
            header.objects,
            header.revision,
            report::size(bytes)
        ))
    }

    /// Writes the backup to `output`.
    fn write(&self, output: impl Write, work: &Work<'_>) -> Result<()> {
        if let Some(from) = &self.from {
            return self.write_store(from, output, work);
        }
        match self.server.server()? {
            Some(server) => {
                let answer = server.stream(BACKUP, work)?;
                let received = receive(answer, output, work);
                received.with_context(|| format!("the backup of {}", server.description))
            }
            None => self.write_store(&format!("sled:{}", self.server.data_dir.display()), output, work),
        }
    }

    /// Writes a backup of the store that `place` names.
    fn write_store(&self, place: &str, output: impl Write, work: &Work<'_>) -> Result<()> {
        let mut store = place::open(place, false, work)?;
        let mut part = work.part("reading", 0);
        let source = store.read(work.program.name, work.now(), &mut |done, total| {
            part.note_of(done, total)
        });
        let source = source.with_context(|| store.place())?;
        drop(part);
        let (source, unreadable) = moving::for_backup(source, &moving::Layout::of(&*store), work)?;
        report::warn_of_unreadable(&unreadable);
        encode(source, output, work)
    }
}

fn encode(mut source: LoadedSource, mut output: impl Write, work: &Work<'_>) -> Result<()> {
    let mut encoder = BackupEncoder::new(source.header());
    let mut part = work.part("writing", source.header().bytes);
    let mut amount = planesmith_store::Amount::default();
    while let Some(record) = source.next()? {
        amount.add(&record);
        encoder.push(&record);
        if encoder.pending() >= BUFFER {
            output
                .write_all(&encoder.take())
                .context("the backup cannot be written")?;
        }
        part.note(amount)?;
    }
    let written = output.write_all(&encoder.finish()).and_then(|()| output.flush());
    written.context("the backup cannot be written")
}

/// Writes what arrives from a server, and checks it.
fn receive(input: impl Read, output: impl Write, work: &Work<'_>) -> Result<()> {
    let mut copy = Copied { input, output };
    let mut reader = BackupReader::open(&mut copy)?;
    let mut part = work.part("receiving", reader.header().bytes);
    store_scheme::check(&mut reader, &mut |done| part.note(done))?;
    drop(part);
    drop(reader);
    copy.output.flush().context("the backup cannot be written")
}

/// Reads the file again, as a restore will.
fn verify(path: &Path, work: &Work<'_>) -> Result<BackupHeader> {
    let open = || anyhow::Ok(BackupReader::open(BufReader::with_capacity(BUFFER, File::open(path)?))?);
    let mut reader = open().with_context(|| format!("{} was not written correctly", path.display()))?;
    let header = reader.header().clone();
    let mut part = work.part("verifying", header.bytes);
    store_scheme::check(&mut reader, &mut |done| part.note(done))
        .with_context(|| format!("{} was not written correctly", path.display()))?;
    Ok(header)
}

/// Passes on everything that is read from `input` to `output`.
struct Copied<R, W> {
    input: R,
    output: W,
}

impl<R: Read, W: Write> Read for Copied<R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.output.write_all(&buffer[..length])?;
        Ok(length)
    }
}
