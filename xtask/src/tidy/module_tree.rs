//! The modules of one library or program, and which of the top ones a path leads to.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, Site};
use crate::metadata::Root;
use crate::sources::{Reference, Source, Sources};

/// The segments of a path from the root module on.
type ModulePath = Vec<String>;

/// Re-exports are followed this often; more would be a circle of them.
const MAX_STEPS: usize = 8;

/// The modules of one library or program, without those of tests.
#[derive(Debug)]
pub(super) struct ModuleTree<'a> {
    root: &'a Root,
    /// The node for items that the root module declares itself: `lib` or `main`.
    root_node: String,
    /// The files, with the modules that they are.
    files: Vec<(ModulePath, &'a str, &'a Source)>,
    modules: BTreeSet<ModulePath>,
    /// Imported names by module; `None` if the name is another crate's.
    imports: BTreeMap<ModulePath, BTreeMap<&'a str, Option<ModulePath>>>,
    /// Exported macros with the top modules that declare them.
    macros: BTreeMap<&'a str, String>,
}

impl<'a> ModuleTree<'a> {
    /// Follows the modules from `root` on; files that are not in `sources` are left out.
    pub(super) fn new(root: &'a Root, sources: &'a Sources) -> Self {
        let (folder, stem) = split(&root.file);
        let mut tree = Self {
            root,
            root_node: stem.to_owned(),
            files: Vec::new(),
            modules: BTreeSet::new(),
            imports: BTreeMap::new(),
            macros: BTreeMap::new(),
        };
        tree.add(&root.file, folder, Vec::new(), sources);
        tree.import();
        tree
    }

    /// Adds `file`, which is the module `path`, and the modules below it, whose files are in `folder`.
    fn add(&mut self, file: &str, folder: &str, path: ModulePath, sources: &'a Sources) {
        let Some((file, source)) = sources.get_key_value(file) else {
            return;
        };
        for name in &source.macros {
            let owner = path.first().unwrap_or(&self.root_node).clone();
            self.macros.insert(name, owner);
        }
        for module in source.modules.iter().filter(|module| !module.for_tests) {
            let below: Vec<_> = module.inside.iter().chain([&module.name]).cloned().collect();
            let child = [path.clone(), below.clone()].concat();
            self.modules.insert(child.clone());
            if module.in_file {
                let folder = format!("{folder}/{}", below.join("/"));
                let files = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
                for file in files.iter().filter(|file| sources.contains_key(*file)) {
                    self.add(file, &folder, child.clone(), sources);
                }
            }
        }
        self.files.push((path, file, source));
    }

    /// Notes the imports: those that name their module first, then those that start at a name which another import binds.
    fn import(&mut self) {
        for _ in 0..2 {
            let mut imports = self.imports.clone();
            for (module, reference) in self.references() {
                let Some(name) = reference.binds.as_deref().filter(|name| *name != "*") else {
                    continue;
                };
                let known = imports.entry(module.clone()).or_default();
                if !matches!(known.get(name), Some(Some(_))) {
                    known.insert(name, self.absolute(&module, &reference.path, Some(name)));
                }
            }
            self.imports = imports;
        }
    }

    /// All references with the modules that they are in.
    fn references(&self) -> impl Iterator<Item = (ModulePath, &'a Reference)> + use<'a, '_> {
        self.files.iter().flat_map(|(path, _, source)| {
            let references = source.references.iter();
            references.map(move |reference| ([path.clone(), reference.inside.clone()].concat(), reference))
        })
    }

    /// Resolves `path`, as written in `module`, to a path from the root on; `None` if it leads to another crate.
    ///
    /// `except` is a name whose import is not used, because it is the one in question.
    fn absolute(&self, module: &[String], path: &[String], except: Option<&str>) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        let mut above = module.to_vec();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" | "super" => {
                let mut rest = path;
                while let Some((first, tail)) = rest.split_first() {
                    match first.as_str() {
                        "super" => above.pop().map(|_| ())?,
                        "self" => {}
                        _ => break,
                    }
                    rest = tail;
                }
                Some([above, rest.to_vec()].concat())
            }
            // `::name` is always a crate.
            "" => self.own(rest),
            name => {
                above.push(name.to_owned());
                if self.modules.contains(&above) {
                    return Some([above, rest.to_vec()].concat());
                }
                let imported = self.imports.get(module).and_then(|imports| imports.get(name));
                match imported {
                    Some(target) if except != Some(name) => {
                        target.clone().map(|target| [target, rest.to_vec()].concat())
                    }
                    _ => self.own(path),
                }
            }
        }
    }

    /// Resolves a path that starts with the library's own name.
    fn own(&self, path: &[String]) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        (self.root.library.as_ref() == Some(first)).then(|| rest.to_vec())
    }

    /// The top module that declares or re-exports what is at `path`, seen from the root.
    fn top(&self, path: &[String]) -> Option<String> {
        let mut path = path.to_vec();
        for _ in 0..MAX_STEPS {
            let first = path.first()?;
            if self.modules.contains(&vec![first.clone()]) {
                return Some(first.clone());
            }
            match self
                .imports
                .get(&Vec::new())
                .and_then(|imports| imports.get(first.as_str()))
            {
                Some(Some(target)) => path = [target.clone(), path.split_off(1)].concat(),
                Some(None) => return None,
                None => return Some(self.macros.get(first.as_str()).unwrap_or(&self.root_node).clone()),
            }
        }
        None
    }

    /// The graph of the top modules. Re-exports at the root are no edges: they are the crate's face.
    pub(super) fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        for module in self.modules.iter().filter(|module| module.len() == 1) {
            graph.add_node(&module[0]);
        }
        for (path, file, source) in &self.files {
            for reference in &source.references {
                let module = [path.clone(), reference.inside.clone()].concat();
                let from = module.first().unwrap_or(&self.root_node);
                if reference.public && module.is_empty() {
                    continue;
                }
                let target = self.absolute(&module, &reference.path, reference.binds.as_deref());
                if let Some(to) = target.and_then(|target| self.top(&target))
                    && *from != to
                {
                    let site = Site {
                        file: (*file).to_owned(),
                        line: reference.line,
                    };
                    graph.add_edge(from, &to, site);
                }
            }
        }
        graph
    }
}

/// The folder and the stem of a path.
fn split(file: &str) -> (&str, &str) {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    (folder, name.trim_end_matches(".rs"))
}
