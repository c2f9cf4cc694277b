//! Functions of URLs.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Context, Entry, text_argument, unfit};
use crate::library::url::{Url, port_of};
use crate::value::{Evaluated, Fault, Key, Library, Map, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("url: (string) url", "string_to_url", url),
    ("isURL: (string) bool", "is_url_string", is_url),
    ("getScheme: url.() string", "url_get_scheme", scheme),
    ("getHost: url.() string", "url_get_host", host),
    ("getHostname: url.() string", "url_get_hostname", hostname),
    ("getPort: url.() string", "url_get_port", port),
    ("getEscapedPath: url.() string", "url_get_escaped_path", path),
    ("getQuery: url.() map(string, list(string))", "url_get_query", query),
];

/// Decodes a name or value of a query; `None` if an escape sequence is malformed.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (high, low) = hex(rest.next()).zip(hex(rest.next()))?;
                bytes.extend(u8::try_from(high * 16 + low));
            }
            byte => bytes.push(byte),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn url<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let url = Url::parse(text_argument(&args, 0)?);
    let url = url.map_err(|why| Fault::new(format!("URL parse error during conversion from string: {why}")))?;
    Ok(Value::Library(Library::Url(Rc::new(url))))
}

fn is_url<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(Url::parse(text_argument(&args, 0)?).is_ok()))
}

fn part<'d>(args: &[Value<'d>], part: impl FnOnce(&Url) -> &str) -> Evaluated<'d> {
    match args.first() {
        Some(Value::Library(Library::Url(url))) => Ok(Value::text(part(url))),
        _ => Err(unfit()),
    }
}

fn scheme<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    part(&args, |url| &url.scheme)
}

fn host<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    part(&args, |url| &url.host)
}

fn hostname<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    part(&args, |url| {
        let port = port_of(&url.host);
        let name = url.host.strip_suffix(port).unwrap_or(&url.host).trim_end_matches(':');
        let name = if port.is_empty() {
            url.host.trim_end_matches(':')
        } else {
            name
        };
        name.trim_start_matches('[').trim_end_matches(']')
    })
}

fn port<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    part(&args, |url| port_of(&url.host))
}

fn path<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    part(&args, |url| &url.path)
}

fn query<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let Some(Value::Library(Library::Url(url))) = args.first() else {
        return Err(unfit());
    };
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // As in Go, pairs with a semicolon or a malformed escape sequence are left out.
    for pair in url
        .query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.contains(';'))
    {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if let (Some(name), Some(value)) = (unescape(name), unescape(value)) {
            values.entry(name).or_default().push(value);
        }
    }
    let mut entries = BTreeMap::new();
    for (name, values) in &values {
        let values = Value::texts(&mut context.effort, values.iter().map(String::as_str))?;
        entries.insert(Key::from(name.as_str()), values);
    }
    Ok(Value::Map(Map::Owned(Rc::new(entries))))
}
