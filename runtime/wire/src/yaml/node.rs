//! A document as the nodes that stand in it, aliases not yet followed.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::YamlError;
use super::problem::problem;

/// The depth to which sequences and mappings may be nested; walking them recurses.
pub(super) const MAX_DEPTH: usize = 512;

/// Index of a node in [`Nodes`].
pub(super) type Id = usize;

/// The nodes of a document.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    list: Vec<Node>,
    /// The root; `None` for an empty stream.
    pub(super) root: Option<Id>,
}

/// One node and where it starts.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) content: Content,
}

/// The content of a node.
#[derive(Debug)]
pub(super) enum Content {
    Scalar {
        text: String,
        /// Neither quoted nor a block.
        plain: bool,
        /// Full tag, `tag:yaml.org,2002:int`; empty for none.
        tag: String,
    },
    Sequence(Vec<Id>),
    /// Keys and values in turn.
    Mapping(Vec<Id>),
    /// Another node, by its anchor.
    Alias(Id),
}

impl Nodes {
    pub(super) fn get(&self, id: Id) -> &Node {
        &self.list[id]
    }

    fn add(&mut self, line: usize, content: Content) -> Id {
        self.list.push(Node { line, content });
        self.list.len() - 1
    }

    /// Puts a node into the one that is open; the outermost becomes the root.
    fn attach(&mut self, open: &[Id], id: Id) {
        match open.last().map(|parent| &mut self.list[*parent].content) {
            Some(Content::Sequence(children) | Content::Mapping(children)) => children.push(id),
            _ => self.root = Some(id),
        }
    }
}

/// Parses the first document of `text`.
pub(super) fn parse(text: &str) -> Result<Nodes, YamlError> {
    let mut nodes = Nodes::default();
    let mut anchors: HashMap<usize, Id> = HashMap::new();
    let mut open: Vec<Id> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let open = open.last().map(|id| nodes.get(*id));
            problem(&error, text, open)
        })?;
        let line = span.start.line();
        let (anchor, content, opens) = match event {
            Event::DocumentEnd => break,
            Event::SequenceEnd | Event::MappingEnd => {
                open.pop();
                continue;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => continue,
            Event::Alias(anchor) => {
                let target = anchors
                    .get(&anchor)
                    .ok_or_else(|| YamlError::new(format!("yaml: line {line}: unknown anchor referenced")))?;
                (0, Content::Alias(*target), false)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let tag = tag.as_deref().map(full_tag).unwrap_or_default();
                (
                    anchor,
                    Content::Scalar {
                        text: text.into_owned(),
                        plain,
                        tag,
                    },
                    false,
                )
            }
            Event::SequenceStart(anchor, _) => (anchor, Content::Sequence(Vec::new()), true),
            Event::MappingStart(anchor, _) => (anchor, Content::Mapping(Vec::new()), true),
        };
        let id = nodes.add(line, content);
        nodes.attach(&open, id);
        if anchor != 0 {
            anchors.insert(anchor, id);
        }
        if opens {
            open.push(id);
            if open.len() > MAX_DEPTH {
                return Err(YamlError::new(format!(
                    "yaml: line {line}: exceeded max depth of {MAX_DEPTH}"
                )));
            }
        }
    }
    Ok(nodes)
}

fn full_tag(tag: &Tag) -> String {
    format!("{}{}", tag.handle, tag.suffix)
}
