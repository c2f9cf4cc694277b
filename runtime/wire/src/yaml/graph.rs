//! Follows aliases and merge keys to a tree, without letting it grow out of proportion.

use serde_json::{Map, Value};

use super::YamlError;
use super::node::{Content, Id, MAX_DEPTH, Node, Nodes};
use super::resolve::{Scalar, scalar};
use super::writer::short_float;
use crate::go_format::{quote, syntax};

/// The limits of go-yaml: below the first number of nodes 99 of 100 may come from aliases, above the second 10.
const MANY: f64 = 400_000.0;
const TOO_MANY: f64 = 4_000_000.0;

/// Bytes of text that aliases may repeat: as many as a whole request may have. go-yaml only counts nodes, but a few
/// nodes may hold much.
const MAX_COPIED: usize = 3 << 20;

/// More duplicates are not reported.
const MAX_DUPLICATES: usize = 100;

/// The tree of a document and the keys that stand twice in it.
pub(super) fn resolve(nodes: &Nodes) -> Result<(Value, Vec<String>), YamlError> {
    let Some(root) = nodes.root else {
        return Ok((Value::Null, Vec::new()));
    };
    let mut walk = Walk {
        nodes,
        open_aliases: Vec::new(),
        depth: 0,
        count: 0,
        from_aliases: 0,
        copied: 0,
        duplicates: Vec::new(),
    };
    let tree = walk.value(root)?;
    Ok((tree, walk.duplicates))
}

struct Walk<'n> {
    nodes: &'n Nodes,
    /// Nodes that are being visited through an alias.
    open_aliases: Vec<Id>,
    depth: usize,
    count: usize,
    from_aliases: usize,
    /// Bytes of text that came through aliases.
    copied: usize,
    duplicates: Vec<String>,
}

/// The entries of a mapping that is being filled.
#[derive(Default)]
struct Entries {
    map: Map<String, Value>,
    /// Keys in the form in which duplicates are found: the number 1 is not the text `1`.
    seen: std::collections::HashSet<String>,
}

impl Walk<'_> {
    fn value(&mut self, id: Id) -> Result<Value, YamlError> {
        self.enter()?;
        let node = self.nodes.get(id);
        let value = match &node.content {
            Content::Scalar { text, plain, tag } => {
                self.copy(text)?;
                scalar(text, *plain, tag)?.into_value()?
            }
            Content::Alias(target) => self.through_alias(*target, |walk| walk.value(*target))?,
            Content::Sequence(children) => {
                let elements: Result<Vec<Value>, YamlError> = children.iter().map(|child| self.value(*child)).collect();
                Value::Array(elements?)
            }
            Content::Mapping(children) => {
                let mut entries = Entries::default();
                self.mapping(children, &mut entries)?;
                Value::Object(entries.map)
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Counts a node and one more level.
    fn enter(&mut self) -> Result<(), YamlError> {
        self.depth += 1;
        if self.depth > 2 * MAX_DEPTH {
            return Err(YamlError::new(format!("yaml: exceeded max depth of {MAX_DEPTH}")));
        }
        self.count += 1;
        self.from_aliases += usize::from(!self.open_aliases.is_empty());
        let share = self.from_aliases as f64 / self.count as f64;
        let steps = ((self.count as f64 - MANY) / (TOO_MANY - MANY)).clamp(0.0, 1.0);
        if self.from_aliases > 100 && self.count > 1_000 && share > 0.99 - 0.89 * steps {
            return Err(excessive());
        }
        Ok(())
    }

    /// Counts the text of a node that may be visited through an alias.
    fn copy(&mut self, text: &str) -> Result<(), YamlError> {
        if !self.open_aliases.is_empty() {
            self.copied += text.len();
        }
        match self.copied > MAX_COPIED {
            true => Err(excessive()),
            false => Ok(()),
        }
    }

    fn through_alias<T>(
        &mut self,
        target: Id,
        visit: impl FnOnce(&mut Self) -> Result<T, YamlError>,
    ) -> Result<T, YamlError> {
        if self.open_aliases.contains(&target) {
            return Err(YamlError::new("yaml: anchor value contains itself".to_owned()));
        }
        self.open_aliases.push(target);
        let result = visit(self)?;
        self.open_aliases.pop();
        Ok(result)
    }

    fn mapping(&mut self, children: &[Id], entries: &mut Entries) -> Result<(), YamlError> {
        for pair in children.chunks_exact(2) {
            let (key, value) = (self.nodes.get(pair[0]), self.nodes.get(pair[1]));
            if is_merge(key) {
                self.merge(pair[1], entries)?;
                continue;
            }
            let key = self.key(pair[0])?;
            let tree = self.value(pair[1])?;
            let (name, shown) = key.named(&tree)?;
            let twice = !entries.seen.insert(shown.clone());
            if twice && self.duplicates.len() < MAX_DUPLICATES {
                self.duplicates
                    .push(format!("line {}: key {shown} already set in map", value.line));
            }
            entries.map.insert(name, tree);
        }
        Ok(())
    }

    fn key(&mut self, id: Id) -> Result<Scalar, YamlError> {
        self.enter()?;
        let resolved = match &self.nodes.get(id).content {
            Content::Scalar { text, plain, tag } => {
                self.copy(text)?;
                scalar(text, *plain, tag)?
            }
            Content::Alias(target) => {
                let key = self.through_alias(*target, |walk| walk.key(*target))?;
                self.depth -= 1;
                return Ok(key);
            }
            Content::Sequence(_) | Content::Mapping(_) => {
                let shown = syntax(&self.value(id)?, "interface {}");
                return Err(YamlError::quoting(
                    format!("yaml: invalid map key: {shown}"),
                    "yaml: invalid map key",
                ));
            }
        };
        self.depth -= 1;
        Ok(resolved)
    }

    /// Takes over the entries of the value of `<<`: one mapping or several, of which the first wins.
    fn merge(&mut self, id: Id, entries: &mut Entries) -> Result<(), YamlError> {
        self.enter()?;
        let no_mapping = || YamlError::new("yaml: map merge requires map or sequence of maps as the value".to_owned());
        match &self.nodes.get(id).content {
            Content::Mapping(children) => self.mapping(children, entries)?,
            Content::Alias(target) => match &self.nodes.get(*target).content {
                Content::Mapping(children) => {
                    self.through_alias(*target, |walk| walk.mapping(children, entries))?;
                }
                _ => return Err(no_mapping()),
            },
            Content::Sequence(children) => {
                for child in children.iter().rev() {
                    if let Content::Sequence(_) | Content::Scalar { .. } = self.nodes.get(*child).content {
                        return Err(no_mapping());
                    }
                    self.merge(*child, entries)?;
                }
            }
            Content::Scalar { .. } => return Err(no_mapping()),
        }
        self.depth -= 1;
        Ok(())
    }
}

impl Scalar {
    /// A key in JSON, and as Go shows it. An error shows the value, too.
    fn named(self, value: &Value) -> Result<(String, String), YamlError> {
        let unsupported = |ty: &str, key: &str, unquoted| {
            let value = match value {
                Value::Null => "<nil>".to_owned(),
                value => syntax(value, "interface {}"),
            };
            let text = format!("unsupported map key of type: {ty}, key: {key}, value: {value}");
            YamlError::quoting(text, unquoted)
        };
        match self {
            Scalar::Text(text) => {
                let shown = quote(&text);
                Ok((text, shown))
            }
            Scalar::Int(value) => Ok((value.to_string(), value.to_string())),
            Scalar::Bool(value) => Ok((value.to_string(), value.to_string())),
            Scalar::Float(value) => Ok((short_float(f64::from(value as f32)), short_float(value))),
            Scalar::Null => {
                let unquoted = "unsupported map key of type: null";
                Err(unsupported("%!s(<nil>)", "<nil>", unquoted))
            }
            Scalar::Unsigned(key) => {
                let unquoted = "unsupported map key of type: uint64";
                Err(unsupported("uint64", &format!("{key:#x}"), unquoted))
            }
        }
    }
}

fn excessive() -> YamlError {
    YamlError::new("yaml: document contains excessive aliasing".to_owned())
}

fn is_merge(key: &Node) -> bool {
    match &key.content {
        Content::Scalar { text, plain, tag } => {
            text == "<<" && (*plain && tag.is_empty() || tag == "tag:yaml.org,2002:merge")
        }
        _ => false,
    }
}
