use std::collections::{BTreeMap, BTreeSet};

use super::debts::Debts;
use super::deny_list::DenyList;
use super::finding::Finding;
use super::graph::{Graph, Site};
use super::knots::Graphs;
use super::module_tree::ModuleTree;
use super::policy::Policy;
use super::{cut, docs, drawing, files, kinds, knots, layers, names, packages, tally, test_names};
use crate::metadata::{Crate, Dependency, Package, Root};
use crate::sources::{Source, Sources};

/// Sources as if they were in files.
fn sources(files: &[(&str, &str)]) -> Sources {
    let read = |(file, text): &(&str, &str)| ((*file).to_owned(), Source::read(text).unwrap());
    files.iter().map(read).collect()
}

/// The graph of the library whose root is `src/lib.rs`.
fn graph(files: &[(&str, &str)]) -> Graph {
    let root = Root {
        name: "garage".to_owned(),
        file: "src/lib.rs".to_owned(),
        library: Some("garage".to_owned()),
    };
    ModuleTree::new(&root, &sources(files)).graph()
}

/// The edges of the library whose root declares the modules `a`, `b` and `c`, when `a` has this `text`.
fn edges_of(text: &str) -> Vec<String> {
    let root = "mod a; mod b; mod c; pub use b::Bicycle; #[cfg(test)] mod tests; struct Own;";
    rendered(&graph(&[
        ("src/lib.rs", root),
        ("src/a.rs", text),
        ("src/a/inner.rs", "use super::super::b::Wheel;"),
        (
            "src/b.rs",
            "pub struct Bicycle; #[macro_export] macro_rules! ring { () => {} }",
        ),
        ("src/c.rs", ""),
        ("src/tests.rs", "use crate::a; use crate::b;"),
    ]))
}

fn rendered(graph: &Graph) -> Vec<String> {
    let links = graph
        .links()
        .map(|(from, to, edge)| format!("{from} -> {to} {}", edge.count));
    links.collect()
}

/// A graph of edges with numbers of references.
fn drawn(edges: &[(&str, &str, usize)]) -> Graph {
    let mut graph = Graph::default();
    for (from, to, count) in edges {
        for line in 1..=*count {
            let file = format!("src/{from}.rs");
            graph.add_edge(from, to, Site { file, line });
        }
    }
    graph
}

fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

fn policy(text: &str) -> Policy {
    toml::from_str(&format!("most_lines = 3\n{text}\n[crates]\n")).unwrap()
}

#[test]
fn paths_of_all_sorts_are_edges() {
    assert_eq!(edges_of("use crate::b::{Wheel, Bell as Ring};"), ["a -> b 2"]);
    assert_eq!(
        edges_of("fn f() { super::b::ride(); crate::c::stop() }"),
        ["a -> b 1", "a -> c 1"]
    );
    assert_eq!(edges_of("type T = Vec<crate::c::Car>;"), ["a -> c 1"]);
    assert_eq!(edges_of("use crate::c; fn f() { c::stop() }"), ["a -> c 2"]);
    assert_eq!(edges_of("mod here { use super::super::c::Car; }"), ["a -> c 1"]);
    assert_eq!(edges_of("mod inner;"), ["a -> b 1"]);
    assert_eq!(edges_of("use garage::c::Car;"), ["a -> c 1"]);
    assert_eq!(edges_of("use crate::c::*;"), ["a -> c 1"]);
}

#[test]
fn tokens_of_macros_and_attributes_are_read() {
    assert_eq!(edges_of("fn f() { assert!(x == crate::c::wheels(4)) }"), ["a -> c 1"]);
    assert_eq!(edges_of("macro_rules! m { () => { $crate::c::f() } }"), ["a -> c 1"]);
    assert_eq!(edges_of("#[field(default = crate::c::four)] struct S;"), ["a -> c 1"]);
}

#[test]
fn re_exports_lead_to_the_declaration() {
    assert_eq!(edges_of("use crate::Bicycle;"), ["a -> b 1"]);
    assert_eq!(edges_of("fn f() { crate::ring!() }"), ["a -> b 1"]);
    assert_eq!(edges_of("use crate::Own;"), ["a -> lib 1"]);
}

#[test]
fn other_crates_the_own_module_and_tests_are_no_edges() {
    for text in [
        "use std::fmt; use serde::b::X;",
        "use self::inner::X; use crate::a::inner::Y; mod inner {}",
        "#[cfg(test)] mod tests { use crate::b::Wheel; }",
        "#[cfg(test)] use crate::b::Wheel;",
        "#[cfg(all(test, unix))] fn f() { crate::b::ride() }",
        "struct S; impl S { #[cfg(test)] fn f() { crate::b::ride() } }",
        "#[test] fn f() { crate::b::ride() }",
        "/// See [`crate::b`].\npub(in crate::a) struct S;",
    ] {
        assert!(edges_of(text).is_empty(), "{text}");
    }
}

#[test]
fn seeded_circle_is_found_with_its_place() {
    let graph = graph(&[
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a.rs", "use crate::c;\nuse crate::b::X;"),
        ("src/b.rs", "\n\nfn f() { crate::a::g() }"),
        ("src/c.rs", ""),
    ]);
    let graphs = Graphs::from([("garage".to_owned(), graph)]);
    let help = "move the shared part below both; `cargo xtask tidy --graph garage` shows it";
    assert_eq!(
        lines(&knots::check(&graphs, &Debts::default())),
        [
            format!("src/a.rs:2: a uses b (1 times), which uses it over b -> a: a new circle; {help}"),
            format!("src/b.rs:3: b uses a (1 times), which uses it over a -> b: a new circle; {help}"),
        ]
    );
    let listed = knots::list(&graphs);
    assert_eq!(listed[0], "garage: a knot of 2 modules: a, b");
    assert_eq!(listed[1], "src/a.rs:2: a -> b, 1 references");
}

#[test]
fn tolerated_knot_may_only_shrink() {
    let graphs = |edges| Graphs::from([("garage".to_owned(), drawn(edges))]);
    let knot = graphs(&[("a", "b", 1), ("b", "a", 1)]);
    let tolerated = Debts {
        knots: knots::edges(&knot),
        ..Debts::default()
    };
    assert!(knots::check(&knot, &tolerated).is_empty());

    let larger = graphs(&[("a", "b", 1), ("b", "a", 1), ("b", "c", 1), ("c", "a", 1)]);
    let findings = lines(&knots::check(&larger, &tolerated));
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings[0].starts_with("src/b.rs:1: b uses c"), "{findings:?}");

    let untied = graphs(&[("a", "b", 1)]);
    assert_eq!(
        lines(&knots::check(&untied, &tolerated)),
        [
            "tidy-debts.toml: garage: a -> b is not part of a circle any more; type `cargo xtask tidy --shrink`",
            "tidy-debts.toml: garage: b -> a is not part of a circle any more; type `cargo xtask tidy --shrink`",
        ]
    );
}

#[test]
fn debts_shrink_and_never_grow() {
    let debts = |text: &str| toml::from_str::<Debts>(text).unwrap();
    let old = debts("docs = { a = 3, b = 1 }\nnames = { a = { Kept = 2 } }\nknots = { a = ['x -> y', 'y -> x'] }");
    let now =
        debts("docs = { a = 5, c = 1 }\nnames = { a = { Kept = 1, Known = 1 } }\nknots = { a = ['x -> y', 'z -> x'] }");
    let shrunk = debts("docs = { a = 3 }\nnames = { a = { Kept = 1 } }\nknots = { a = ['x -> y'] }");
    assert_eq!(old.shrunk_to(&now), shrunk);
    assert_eq!(old.shrunk_to(&Debts::default()), Debts::default());
}

#[test]
fn cheapest_edges_of_a_knot_are_cut() {
    let check = |edges: &[(&str, &str, usize)], expected: &[&str]| {
        let graph = drawn(edges);
        let knot = graph.knots().remove(0);
        let cut = cut::cheapest(&graph.links_within(&knot));
        let cut: Vec<_> = cut.iter().map(|(from, to, _)| format!("{from} -> {to}")).collect();
        assert_eq!(cut, expected);
    };
    check(&[("a", "b", 3), ("b", "a", 1)], &["b -> a"]);
    check(&[("a", "b", 3), ("b", "c", 3), ("c", "a", 2)], &["c -> a"]);
    // One edge that closes two circles is cheaper than one of each.
    check(
        &[
            ("a", "b", 3),
            ("b", "c", 2),
            ("c", "a", 2),
            ("b", "d", 2),
            ("d", "a", 2),
        ],
        &["a -> b"],
    );
    // Layers of five, with one reference against all of them.
    let names = ["e", "d", "c", "b", "a"];
    let mut edges = vec![("a", "e", 1)];
    for (place, from) in names.iter().enumerate() {
        edges.extend(names[place + 1..].iter().map(|to| (*from, *to, 4)));
    }
    check(&edges, &["a -> e"]);
}

#[test]
fn drawing_marks_knots_and_cuts() {
    let drawing = drawing::draw("garage", &drawn(&[("a", "b", 2), ("b", "a", 1), ("a", "c", 1)]));
    for line in [
        "\"a\" -> \"b\" [label=2, color=black];",
        "\"b\" -> \"a\" [label=1, color=red];",
        "\"a\" -> \"c\" [label=1, color=grey];",
        "// knot of 2 modules: a, b",
        "//   b -> a: 1, such as src/b.rs:1",
    ] {
        assert!(drawing.contains(line), "{line} is not in {drawing}");
    }
}

#[test]
fn crates_use_only_what_is_declared() {
    let dependency = |name: &str, kind: Option<&str>, local: bool| Dependency {
        name: name.to_owned(),
        kind: kind.map(str::to_owned),
        path: local.then(String::new),
    };
    let member = |name: &str, dependencies| Crate {
        name: name.to_owned(),
        folder: format!("{name}/"),
        dependencies,
        ..Crate::default()
    };
    let above = [
        dependency("below", None, true),
        dependency("aside", Some("dev"), true),
        dependency("sled", None, false),
        dependency("sled", Some("dev"), false),
        dependency("tokio", None, false),
    ];
    let crates = [
        member("above", above.to_vec()),
        member("below", vec![dependency("above", None, true)]),
        member("aside", vec![dependency("below", Some("dev"), true)]),
        member("new", Vec::new()),
    ];
    let text = "most_lines = 1\nforeign = { 'sl*' = ['below'] }
        [crates]\nabove = { uses = ['below'], tests = ['aside'] }\nbelow = { uses = [] }\naside = { uses = [] }\ngone = { uses = [] }";
    let policy = toml::from_str(text).unwrap();
    let help = "or change [crates] in tidy.toml and ARCHITECTURE.md";
    assert_eq!(
        lines(&layers::check(&crates, &policy)),
        [
            "above/Cargo.toml: dependency sled: only below may use it; remove it, or change [foreign] in tidy.toml"
                .to_owned(),
            format!("below/Cargo.toml: dependency above: below may not know it; remove it, {help}"),
            format!("aside/Cargo.toml: dependency below: aside may not use it in tests; remove it, {help}"),
            "tidy.toml: new is not declared; add `new = { uses = [...] }` to [crates]".to_owned(),
            "tidy.toml: gone is not a crate of the workspace; remove it from [crates]".to_owned(),
            "Cargo.toml: a circle of crates: above, below; cut one of their dependencies".to_owned(),
        ]
    );
}

#[test]
fn doc_comments_that_ask_are_counted_once() {
    let sources = sources(&[(
        "src/lib.rs",
        "//! What this is.\n\n/// Returns it.\n///\n/// Whether so.\nfn a() {}\n/// Whether it\n/// What it\nfn b() {}\n\
         struct S {\n/// How many.\na: u8,\n/// Whatever there is.\nb: u8 }\n// Why not\n\
         /// Opens it;\n/// whether it did.\nfn c() {}\n/// A key: how long. Which is how it is.\nfn d() {}\n\
         /// Fine.\n///\n/// ```text\n/// yes: why\n/// ```\nfn e() {}\n/// Returns it. What else.\nfn f() {}\n",
    )]);
    let policy = policy("question_words = ['What', 'Whether', 'How', 'Why']");
    let docs = [docs::of("garage", &sources, &policy)];
    assert_eq!(
        docs::list(&docs),
        [
            "src/lib.rs:1: opens with What; start with the result",
            "src/lib.rs:5: Whether after `.`; name the subject",
            "src/lib.rs:7: opens with Whether; start with the result",
            "src/lib.rs:11: opens with How; start with the result",
            "src/lib.rs:17: whether after `;`; name the subject",
            "src/lib.rs:19: how after `:`; name the subject",
            "src/lib.rs:27: What after `.`; name the subject",
            "garage: 7 of 9 doc comments (77.7 %)",
            "all: 7 of 9 doc comments (77.7 %)",
        ]
    );
    let tolerated = Debts {
        docs: BTreeMap::from([("garage".to_owned(), 7)]),
        ..Debts::default()
    };
    assert!(docs::check(&docs, &tolerated).is_empty());
    assert_eq!(docs::check(&docs, &Debts::default()).len(), 1);
}

#[test]
fn counts_must_be_those_that_are_tolerated() {
    let counts = |count| BTreeMap::from([("a".to_owned(), count)]);
    let check = |now, tolerated| {
        lines(&tally::check(&counts(now), &counts(tolerated), "docs", |key| {
            format!("{key}: faults")
        }))
    };
    assert!(check(2, 2).is_empty());
    assert_eq!(
        check(3, 2),
        ["tidy-debts.toml: a: faults: 3, and 2 tolerated; `cargo xtask tidy --list docs` shows where"]
    );
    assert_eq!(
        check(1, 2),
        ["tidy-debts.toml: a: faults: 1, and 2 tolerated; type `cargo xtask tidy --shrink`"]
    );
}

#[test]
fn refused_names_are_found_by_sort_and_crate() {
    let sources = sources(&[(
        "src/lib.rs",
        "struct Kept { weight: u8 }\nfn weight() {}\nenum Outcome { Again, Kept }\nenum Reason { Kept }\nmod room {}\n\
         trait Look { fn judge(&self); }\nfn f() { let weight = Again; }",
    )]);
    let policy = policy(
        "names = [{ name = 'Kept', say = 'x', except = ['Reason::Kept'] }, { name = 'weight', say = 'heap_size', sorts = ['fn'] },
         { name = 'Outcome::Again', say = 'x' }, { name = 'room', say = 'x', except = ['garage'] },
         { name = 'Look', say = 'x', only = ['other'] }, { name = 'judge', say = 'x' }]",
    );
    let refused = names::of("garage", &sources, &policy);
    assert_eq!(
        names::list(&refused),
        [
            "src/lib.rs:1: Kept; say x",
            "src/lib.rs:2: weight; say heap_size",
            "src/lib.rs:3: Outcome::Again; say x",
            "src/lib.rs:3: Outcome::Kept; say x",
            "src/lib.rs:6: judge; say x",
        ]
    );
    let tolerated = Debts {
        names: names::counts(&refused),
        ..Debts::default()
    };
    assert!(names::check(&refused, &tolerated).is_empty());
    assert_eq!(names::check(&refused, &Debts::default()).len(), 4);
    assert_eq!(names::check(&[], &tolerated).len(), 4);
}

#[test]
fn modules_fields_and_parameters_are_refused_in_any_spelling() {
    let sources = sources(&[(
        "src/lib.rs",
        "mod trust_ways {}\nstruct S { trust_ways: u8, ways: u8 }\nfn trust_ways(trust_ways: u8, patience: u8) {}\n\
         const PATIENCE: u8 = 1;\nimpl S { const PATIENCE: u8 = 1; }\nstatic PATIENCE: u8 = 1;\n#[test] fn patience() {}",
    )]);
    let policy = policy(
        "names = [{ name = 'TrustWays', say = 'x' }, { name = 'PATIENCE', say = 'TIMEOUT', sorts = ['const', 'parameter'] }]",
    );
    assert_eq!(
        names::list(&names::of("garage", &sources, &policy)),
        [
            "src/lib.rs:1: trust_ways; say x",
            "src/lib.rs:2: trust_ways; say x",
            "src/lib.rs:3: patience; say TIMEOUT",
            "src/lib.rs:4: PATIENCE; say TIMEOUT",
            "src/lib.rs:5: PATIENCE; say TIMEOUT",
            "src/lib.rs:6: PATIENCE; say TIMEOUT",
        ]
    );
}

#[test]
fn refused_words_are_found_in_every_spelling_of_a_name() {
    let sources = sources(&[(
        "src/lib.rs",
        "const MAX_SHOWN: u8 = 1;\nstruct ShownItems { is_shown: bool, shownness: u8 }\nenum State { NotShown, Showing }\n\
         mod shown_in {}\nfn f(shown: u8) { let shown = 1; }\n#[test] fn what_is_shown() {}",
    )]);
    let policy = policy("words = [{ name = 'shown', say = 'rendered' }]");
    assert_eq!(
        names::list(&names::of("garage", &sources, &policy)),
        [
            "src/lib.rs:1: MAX_SHOWN; say rendered",
            "src/lib.rs:2: ShownItems; say rendered",
            "src/lib.rs:2: is_shown; say rendered",
            "src/lib.rs:3: State::NotShown; say rendered",
            "src/lib.rs:4: shown_in; say rendered",
        ]
    );
}

#[test]
fn tests_that_begin_with_a_word_of_a_question_are_refused() {
    let policy = policy("test_words = ['what', 'nobody']");
    let sources = sources(&[(
        "src/lib.rs",
        "#[test]\nfn what_is_sold_out() {}\n#[tokio::test]\nasync fn nobody_waits() {}\n#[test]\nfn whatever_works() {}\nfn what_else() {}",
    )]);
    let help = "name the scenario: a subject and a verb, such as `a_stale_revision_is_refused`";
    assert_eq!(
        lines(&test_names::check(&sources, &policy)),
        [
            format!("src/lib.rs:2: the test what_is_sold_out begins with what; {help}"),
            format!("src/lib.rs:4: the test nobody_waits begins with nobody; {help}"),
        ]
    );
}

#[test]
fn long_files_empty_names_and_machine_paths_are_refused() {
    let policy = policy("module_names = ['utils']\nmachine_paths = ['/srv/ann/']");
    let sources = sources(&[("src/a.rs", "mod b;\nmod utils;\n\n\n"), ("src/c.rs", "mod b;\n\n\n")]);
    assert_eq!(
        lines(&files::check(&sources, &policy)),
        [
            "src/a.rs: 4 lines; at most 3; move its second topic to a file of its own",
            "src/a.rs:2: a module called utils; move each function to the type that it serves",
        ]
    );
    assert_eq!(
        lines(&files::check_text("a.md", b"one\ntwo /srv/ann/x", &policy)),
        [
            "a.md:2: /srv/ann/ is a path of one machine; name the file relative to the workspace, or use an invented path"
        ]
    );
    assert!(files::check_text("a.md", b"one\ntwo /srv/bob/x", &policy).is_empty());
}

#[test]
fn a_string_with_the_indentation_of_its_next_line_is_refused() {
    let run = " ".repeat(9);
    let text = format!(
        "f(\"because the{run}reason\");\n{run}// one{run}two\nlet a ={run}1;\ng(\"a{{\\n{run}b\");\nh(\"one two\");\n"
    );
    assert_eq!(
        lines(&files::check_strings("src/a.rs", text.as_bytes())),
        ["src/a.rs:1: a run of spaces between two words; continue the string with a backslash at the end of the line"]
    );
}

#[test]
fn packages_are_checked_without_cargo_deny() {
    let list: DenyList = toml::from_str(
        "licenses.allow = ['MIT', 'Apache-2.0']
         sources.allow-registry = ['https://registry']
         [bans]
         deny = [{ crate = 'openssl', reason = 'TLS is rustls' }, { crate = 'boring' }]
         skip = [{ crate = 'rand@0.8.0', reason = 'rsa' }, { crate = 'sha2@0.9.0', reason = 'nobody' }]",
    )
    .unwrap();
    let package = |name: &str, version: &str, licence: Option<&str>, source: &str| Package {
        name: name.to_owned(),
        version: version.to_owned(),
        license: licence.map(str::to_owned),
        source: Some(source.to_owned()),
        ..Package::default()
    };
    let ours = "registry+https://registry";
    let found = [
        package("good", "1.0.0", Some("MIT/GPL-3.0-only"), ours),
        package("rand", "0.8.0", Some("(MIT OR ISC) AND Apache-2.0"), ours),
        package("rand", "0.9.0", Some("MIT"), ours),
        package("copyleft", "1.0.0", Some("GPL-3.0-only AND MIT"), ours),
        package("nameless", "1.0.0", None, ours),
        package("fork", "1.0.0", Some("MIT"), "git+https://somewhere"),
        package("openssl", "1.0.0", Some("MIT"), ours),
        package("two", "1.0.0", Some("MIT"), ours),
        package("two", "2.0.0", Some("MIT"), ours),
    ];
    let findings = packages::check(&found.iter().collect::<Vec<_>>(), &list);
    let faults: Vec<_> = findings.iter().map(|finding| finding.fault.as_str()).collect();
    assert_eq!(
        faults,
        [
            "the licence of copyleft 1.0.0 is not allowed: GPL-3.0-only AND MIT",
            "nameless 1.0.0 names no licence",
            "fork 1.0.0 is from git+https://somewhere",
            "openssl 1.0.0 is refused: TLS is rustls",
            "two is there in 2 versions: 1.0.0, 2.0.0",
            "sha2@0.9.0 is not a second version any more",
            "boring has no reason",
        ]
    );
}

#[test]
fn names_of_kinds_are_refused_in_generic_crates() {
    let policy = policy(
        "[kinds]\nfiles = [{ file = \"src/b.rs\", names = [\"pods\", \"nodes\"], reason = \"of the API\" }]\n\
         [kinds.crates]\ngarage = [\"Lease\"]",
    );
    let sources = sources(&[
        (
            "src/a.rs",
            "fn f() { g(\"pods\"); json!({\"kind\": \"Lease\", \"a\": \"Pod\"}) } #[cfg(test)] mod tests { const A: &str = \"pods\"; }",
        ),
        ("src/b.rs", "const A: &str = \"pods\"; const B: &str = \"my pods\";"),
        ("src/a/tests.rs", "const A: &str = \"nodes\";"),
    ]);
    let names = ["Lease", "Node", "Pod", "nodes", "pods"].map(str::to_owned);
    let check = |owner| {
        lines(&kinds::check(
            owner,
            &sources,
            &policy.kinds,
            &BTreeSet::from(names.clone()),
        ))
    };
    let help = "make it a fact of the kind, or let a component bring it";
    assert_eq!(
        check("garage"),
        [
            format!("src/a.rs:1: garage must not know the kind of \"pods\"; {help}"),
            format!("src/a.rs:1: garage must not know the kind of \"Pod\"; {help}"),
            "tidy.toml: \"nodes\" is permitted in src/b.rs, which does not have it; remove the permission".to_owned(),
        ]
    );
    assert!(check("shed").is_empty());
}
