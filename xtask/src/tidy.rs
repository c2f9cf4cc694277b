//! `cargo xtask tidy`: the structure and the language of the workspace.
//!
//! Reading order: [`policy`] (the rules, `tidy.toml`) and [`debts`] (the tolerated faults); [`crate::metadata`] and
//! [`crate::sources`] (the facts of cargo and of the files); [`module_tree`] and [`graph`] (who uses whom); then the checks,
//! one file each.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cargo::workspace as root;
use crate::metadata::{Crate, Metadata};
use crate::sources::{self, Source, Sources};
use debts::Debts;
use deny_list::DenyList;
use finding::Finding;
use knots::Graphs;
use module_tree::ModuleTree;
use policy::Policy;

mod cut;
mod debts;
mod deny_list;
mod docs;
mod drawing;
mod files;
mod finding;
mod graph;
mod kinds;
mod knots;
mod layers;
mod module_tree;
mod names;
mod packages;
mod policy;
mod tally;
mod test_names;
mod threat_model;

/// Checks what the compiler does not: layers of crates, circles of modules, language, sizes of files, dependencies,
/// names of kinds in crates that must not know any.
///
/// `tidy.toml` has the rules for the code, `deny.toml` those for dependencies, and `tidy-debts.toml` the number of faults that are
/// tolerated in each crate for now. Prints each other fault on a line of its own, with its place and the next step, then a
/// summary. Exits with 1 if there is such a fault.
#[derive(Debug, clap::Args)]
pub(crate) struct Tidy {
    /// Check nothing; print the top modules of this crate and their uses of each other in Graphviz's language.
    ///
    /// The crate's name may lack `planesmith-`. Edges that are part of a circle are black, the edges to cut with the fewest
    /// references are red, all others are grey. To draw it: cargo xtask tidy --graph server | dot -Tsvg > server.svg
    #[arg(long, value_name = "CRATE", exclusive = true)]
    graph: Option<String>,

    /// Check nothing; list every fault of one sort with file and line, tolerated or not.
    #[arg(long, value_name = "SORT", exclusive = true)]
    list: Option<List>,

    /// Check nothing; lower the numbers in `tidy-debts.toml` to the faults that are left, after some were fixed.
    ///
    /// Never adds a fault. Without the file, writes one that tolerates all present faults.
    #[arg(long, exclusive = true)]
    shrink: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum List {
    /// Doc comments with a sentence or clause that opens with a question word, such as "Whether".
    Docs,
    /// Declarations with a name that the glossary in `tidy.toml` refuses, with the name to use.
    Names,
    /// Modules that use each other in a circle, with the edges.
    Knots,
}

impl Tidy {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let state = State::load()?;
        if let Some(name) = &self.graph {
            print!("{}", state.drawing(name)?);
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(list) = self.list {
            let lines = match list {
                List::Docs => docs::list(&state.docs()),
                List::Names => names::list(&state.names()),
                List::Knots => knots::list(&state.graphs),
            };
            lines.iter().for_each(|line| println!("{line}"));
            return Ok(ExitCode::SUCCESS);
        }
        let now = state.debts();
        let debts = Debts::load(root())?;
        if self.shrink {
            debts.map_or(now.clone(), |debts| debts.shrunk_to(&now)).store(root())?;
            return Ok(ExitCode::SUCCESS);
        }
        let findings = state.check(&debts.unwrap_or_default())?;
        findings.iter().for_each(|finding| println!("{finding}"));
        println!("{}", state.summary(findings.len(), &now));
        Ok(ExitCode::from(u8::from(!findings.is_empty())))
    }
}

/// The workspace as it is, and the rules for it.
struct State {
    policy: Policy,
    deny: DenyList,
    metadata: Metadata,
    /// The crates with their sources.
    crates: Vec<(Crate, Sources)>,
    graphs: Graphs,
    /// The names of the built-in kinds and of their resources.
    built_in: BTreeSet<String>,
    /// The committed files, relative to the workspace.
    files: Vec<String>,
}

impl State {
    fn load() -> Result<Self> {
        let policy = Policy::load(root())?;
        let deny = DenyList::load(root())?;
        let metadata = Metadata::load(&deny.graph.targets)?;
        let files = sources::committed(root())?;
        let rust: Vec<_> = files
            .iter()
            .map(String::as_str)
            .filter(|file| file.ends_with(".rs"))
            .collect();
        let sources = sources::read_all(root(), &rust, Source::read)?;
        let crates = sources::divide(metadata.crates(), sources);
        let graphs = crates.iter().flat_map(|(owner, sources)| {
            let graph = |root| ModuleTree::new(root, sources).graph();
            owner.roots.iter().map(move |root| (root.name.clone(), graph(root)))
        });
        Ok(Self {
            graphs: graphs.collect(),
            built_in: kinds::built_in(root())?,
            policy,
            deny,
            metadata,
            crates,
            files,
        })
    }

    fn docs(&self) -> Vec<docs::Docs<'_>> {
        let crates = self.crates.iter();
        crates
            .map(|(owner, sources)| docs::of(&owner.name, sources, &self.policy))
            .collect()
    }

    fn names(&self) -> Vec<names::Refused<'_>> {
        let crates = self.crates.iter();
        crates
            .flat_map(|(owner, sources)| names::of(&owner.name, sources, &self.policy))
            .collect()
    }

    /// The faults there are of the sorts that may be tolerated.
    fn debts(&self) -> Debts {
        Debts {
            docs: docs::counts(&self.docs()),
            names: names::counts(&self.names()),
            knots: knots::edges(&self.graphs),
        }
    }

    fn check(&self, debts: &Debts) -> Result<Vec<Finding>> {
        let crates: Vec<_> = self.crates.iter().map(|(owner, _)| owner.clone()).collect();
        let packages: Vec<_> = self.metadata.used().collect();
        let mut findings = layers::check(&crates, &self.policy);
        findings.extend(packages::check(&packages, &self.deny));
        findings.extend(knots::check(&self.graphs, debts));
        findings.extend(docs::check(&self.docs(), debts));
        findings.extend(names::check(&self.names(), debts));
        for (owner, sources) in &self.crates {
            findings.extend(kinds::check(&owner.name, sources, &self.policy.kinds, &self.built_in));
            findings.extend(files::check(sources, &self.policy));
            findings.extend(test_names::check(sources, &self.policy));
        }
        for file in self.files.iter().filter(|file| *file != policy::FILE) {
            let text = std::fs::read(root().join(file)).with_context(|| format!("reading {file}"))?;
            findings.extend(files::check_text(file, &text, &self.policy));
            if file.ends_with(".rs") {
                findings.extend(files::check_strings(file, &text));
            }
        }
        let read = |file: &str| std::fs::read_to_string(root().join(file));
        let model = read(threat_model::FILE).with_context(|| format!("reading {}", threat_model::FILE))?;
        findings.extend(threat_model::check(&model, |file, name| {
            read(file).is_ok_and(|source| threat_model::tests_in(&source).contains(name))
        }));
        findings.sort();
        Ok(findings)
    }

    fn drawing(&self, name: &str) -> Result<String> {
        let called = |owner: &&String| *owner == name || owner.strip_prefix("planesmith-") == Some(name);
        let Some(owner) = self.graphs.keys().find(called) else {
            let names: Vec<_> = self.graphs.keys().map(String::as_str).collect();
            bail!(
                "{name} is not a crate of the workspace; use one of {}",
                names.join(", ")
            );
        };
        Ok(drawing::draw(owner, &self.graphs[owner]))
    }

    fn summary(&self, findings: usize, now: &Debts) -> String {
        let knots: usize = self.graphs.values().map(|graph| graph.knots().len()).sum();
        let edges: usize = now.knots.values().map(|edges| edges.len()).sum();
        let names: usize = now.names.values().flat_map(|names| names.values()).sum();
        let docs = self.docs();
        let questions = docs.iter().map(|docs| docs.questions.len()).sum();
        let share = docs::share("questions", questions, docs.iter().map(|docs| docs.total).sum());
        format!("tidy: {findings} findings; {knots} knots with {edges} edges; {names} refused names; {share}")
    }
}

#[cfg(test)]
mod tests;
