//! `cargo xtask tidy`: the structure and the language of the workspace.
//!
//! Reading order: [`policy`] (the rules, `tidy.toml`) and [`debts`] (the tolerated faults); [`workspace`] and [`source`]
//! (what cargo and the files say); [`module_tree`] and [`graph`] (who uses whom); then the checks, one file each.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::workspace as root;
use debts::Debts;
use deny_list::DenyList;
use finding::Finding;
use knots::Graphs;
use module_tree::ModuleTree;
use policy::Policy;
use source::Sources;
use workspace::{Crate, Metadata};

mod cut;
mod debts;
mod deny_list;
mod docs;
mod drawing;
mod files;
mod finding;
mod graph;
mod knots;
mod layers;
mod module_tree;
mod names;
mod packages;
mod policy;
mod source;
mod tally;
mod token_path;
mod visitor;
mod workspace;

/// Checks what the compiler does not: layers of crates, circles of modules, language, sizes of files, dependencies.
///
/// `tidy.toml` and `deny.toml` have the rules, `tidy-debts.toml` the faults that are tolerated for now. Prints one line for
/// each fault and exits with 1 if there is any.
#[derive(Debug, clap::Args)]
pub(crate) struct Tidy {
    /// Print the modules of a crate as a Graphviz graph, with the cheapest edges to cut.
    #[arg(long, value_name = "CRATE", exclusive = true)]
    graph: Option<String>,

    /// List tolerated faults with their places.
    #[arg(long, value_name = "FAULTS", exclusive = true)]
    list: Option<List>,

    /// Remove from the tolerated faults those that are mended. Without a list of them, write one.
    #[arg(long, exclusive = true)]
    shrink: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum List {
    /// Doc comments that open with a question word.
    Docs,
    /// Declarations whose names the glossary refuses.
    Names,
    /// Circles of modules.
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
    /// The committed files, relative to the workspace.
    files: Vec<String>,
}

impl State {
    fn load() -> Result<Self> {
        let policy = Policy::load(root())?;
        let deny = DenyList::load(root())?;
        let metadata = Metadata::load(&deny.graph.targets)?;
        let files = committed(root())?;
        let rust: Vec<_> = files
            .iter()
            .map(String::as_str)
            .filter(|file| file.ends_with(".rs"))
            .collect();
        let sources = source::read_all(root(), &rust)?;
        let crates = divide(metadata.crates(), sources);
        let graphs = crates.iter().flat_map(|(owner, sources)| {
            let graph = |root| ModuleTree::new(root, sources).graph();
            owner.roots.iter().map(move |root| (root.name.clone(), graph(root)))
        });
        Ok(Self {
            graphs: graphs.collect(),
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
        for (_, sources) in &self.crates {
            findings.extend(files::check(sources, &self.policy));
        }
        for file in self.files.iter().filter(|file| *file != policy::FILE) {
            let text = std::fs::read(root().join(file)).with_context(|| format!("reading {file}"))?;
            findings.extend(files::check_text(file, &text, &self.policy));
        }
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

/// The committed files below `root` and those that are about to be, as git names them.
fn committed(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
    let output = git.current_dir(root).output().context("starting git")?;
    ensure!(
        output.status.success(),
        "git ls-files failed; tidy needs a git work tree"
    );
    let files = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let present = |file: &&str| !file.is_empty() && root.join(file).is_file();
    Ok(files.split('\0').filter(present).map(str::to_owned).collect())
}

/// Gives each crate the sources in its folder, except those of crates further below. Other sources belong to nobody.
fn divide(crates: Vec<Crate>, sources: Sources) -> Vec<(Crate, Sources)> {
    let mut divided: Vec<_> = crates.into_iter().map(|owner| (owner, Sources::new())).collect();
    for (file, source) in sources {
        let owners = divided.iter_mut().filter(|(owner, _)| file.starts_with(&owner.folder));
        if let Some((_, sources)) = owners.max_by_key(|(owner, _)| owner.folder.len()) {
            sources.insert(file, source);
        }
    }
    divided
}

#[cfg(test)]
mod tests;
