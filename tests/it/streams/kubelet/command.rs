//! Commands in the container, run as processes of this machine.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::Stdio;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, Command};
use tokio_rustls::server::TlsStream;

use super::spdy::{self, Event, Reader, Writer};

/// The main process of the container, to which clients attach.
const MAIN: [&str; 3] = ["sh", "-c", "echo attached; cat"];

/// The requested streams and command.
pub(super) struct Wanted {
    command: Vec<String>,
    streams: Vec<&'static str>,
    is_terminal: bool,
}

impl Wanted {
    pub(super) fn read(query: &str) -> Self {
        let parameters: Vec<_> = query.split('&').filter_map(|part| part.split_once('=')).collect();
        let is_set = |wanted: &str| parameters.contains(&(wanted, "1"));
        let is_terminal = is_set("tty");
        let streams = [
            ("error", true),
            ("stdin", is_set("input")),
            ("stdout", is_set("output")),
            ("stderr", is_set("error") && !is_terminal),
            ("resize", is_terminal),
        ];
        let words = parameters.iter().filter(|(name, _)| *name == "command");
        let decode = |word: &str| {
            percent_decode_str(&word.replace('+', " "))
                .decode_utf8()
                .unwrap()
                .into_owned()
        };
        let mut command: Vec<_> = words.map(|(_, word)| decode(word)).collect();
        if command.is_empty() {
            command = MAIN.map(str::to_owned).to_vec();
        }
        Self {
            command,
            streams: streams
                .into_iter()
                .filter(|(_, is_set)| *is_set)
                .map(|(name, _)| name)
                .collect(),
            is_terminal,
        }
    }
}

/// Runs the requested command in `folder` once all its streams are open.
pub(super) async fn run(stream: TlsStream<TcpStream>, wanted: &Wanted, folder: &Path) -> io::Result<()> {
    let (mut reader, writer) = spdy::split(stream);
    let mut streams = HashMap::new();
    while streams.len() < wanted.streams.len() {
        if let Event::Open(stream, mut headers) = reader.next().await? {
            let kind = headers.remove("streamtype").expect("each stream has a type");
            assert!(wanted.streams.contains(&&*kind), "{kind}");
            streams.insert(kind, stream);
        }
    }
    let mut command = Command::new(&wanted.command[0]);
    command
        .args(&wanted.command[1..])
        .current_dir(folder)
        .stdin(if streams.contains_key("stdin") {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if wanted.is_terminal {
        let size = terminal_size(&mut reader, streams["resize"]).await?;
        command.env("COLUMNS", size["Width"].to_string());
        command.env("LINES", size["Height"].to_string());
    }
    let status = match command.spawn() {
        Ok(mut child) => {
            let input = child.stdin.take();
            tokio::select! {
                status = output(&mut child, &writer, &streams) => status?,
                error = pass_input(&mut reader, input, streams.get("stdin").copied()) => return Err(error),
            }
        }
        Err(error) => failure(
            "InternalError",
            &format!("cannot run {:?}: {error}", wanted.command[0]),
            &json!({}),
        ),
    };
    writer
        .data(streams["error"], status.to_string().as_bytes(), true)
        .await?;
    for name in ["stdout", "stderr"] {
        if let Some(stream) = streams.get(name) {
            writer.data(*stream, b"", true).await?;
        }
    }
    reader.end().await;
    Ok(())
}

/// Returns the first terminal size sent by the client.
async fn terminal_size(reader: &mut Reader, resize: u32) -> io::Result<Value> {
    loop {
        match reader.next().await? {
            Event::Data(stream, bytes, _) if stream == resize => return Ok(serde_json::from_slice(&bytes).unwrap()),
            _ => {}
        }
    }
}

/// Forwards the output of a command; returns its status in the format of the error stream.
async fn output(child: &mut Child, writer: &Writer, streams: &HashMap<String, u32>) -> io::Result<Value> {
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    tokio::try_join!(
        pump(stdout, writer, streams.get("stdout").copied()),
        pump(stderr, writer, streams.get("stderr").or(streams.get("stdout")).copied()),
    )?;
    let status = child.wait().await?;
    Ok(match status.code() {
        Some(0) => json!({"metadata": {}, "status": "Success"}),
        code => {
            let code = code.unwrap_or(137).to_string();
            let why = format!("command terminated with non-zero exit code: exit status {code}");
            let details = json!({"causes": [{"reason": "ExitCode", "message": code}]});
            failure("NonZeroExitCode", &why, &details)
        }
    })
}

fn failure(reason: &str, why: &str, details: &Value) -> Value {
    json!({"metadata": {}, "status": "Failure", "message": why, "reason": reason, "details": details})
}

async fn pump(mut output: impl AsyncRead + Unpin, writer: &Writer, stream: Option<u32>) -> io::Result<()> {
    let mut buffer = vec![0; 32 << 10];
    loop {
        match (output.read(&mut buffer).await?, stream) {
            (0, _) => return Ok(()),
            (read, Some(stream)) => writer.data(stream, &buffer[..read], false).await?,
            (_, None) => {}
        }
    }
}

/// Forwards the client's input until it disconnects.
async fn pass_input(reader: &mut Reader, mut input: Option<ChildStdin>, stdin: Option<u32>) -> io::Error {
    loop {
        match reader.next().await {
            Ok(Event::Data(stream, bytes, is_last)) if Some(stream) == stdin => {
                if let Some(input) = &mut input {
                    // A command may end before its input.
                    let _ = input.write_all(&bytes).await;
                }
                if is_last {
                    input = None;
                }
            }
            Ok(_) => {}
            Err(error) => return error,
        }
    }
}
