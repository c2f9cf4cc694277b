use super::*;
use crate::sources::Sources;

/// The page of a crate with these files in its folder `a`.
fn page_of(files: &[(&str, &str)]) -> String {
    let read = |(file, text): &(&str, &str)| (format!("a/{file}"), FileTexts::read(text).unwrap());
    let sources: Sources<FileTexts> = files.iter().map(read).collect();
    page("garage", "a/", &sources).render()
}

/// The sections of the page of a crate with this source, one line each: heading, then labels and texts.
fn texts_of(source: &str) -> Vec<String> {
    let page = page_of(&[("src/lib.rs", source)]);
    let sections = page.split("\n## ").skip(1);
    let line = |section: &str| {
        let (heading, rest) = section.split_once("\n\nsrc/lib.rs\n").unwrap();
        let lines: Vec<_> = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        format!("{heading}: {}", lines.join(" "))
    };
    sections.map(line).collect()
}

#[test]
fn the_pages_are_current() {
    let differences = render(workspace()).and_then(|pages| pages.compare(workspace()));
    let complaint = complaint(&differences.expect("the workspace renders"));
    assert!(complaint.is_none(), "{}", complaint.unwrap_or_default());
}

#[test]
fn a_changed_message_is_shown_with_the_next_step() {
    let tree = tempfile::tempdir().unwrap();
    let pages = |text: &str| {
        let mut pages = Files::default();
        pages.own(FOLDER);
        let page = page_of(&[("src/lib.rs", &format!("fn ride() {{ bail!(\"{text}\") }}"))]);
        pages.add("docs/texts/garage.txt", page).unwrap();
        pages
    };
    for difference in pages("the wheel is flat").compare(tree.path()).unwrap() {
        difference.resolve(tree.path()).unwrap();
    }
    let same = pages("the wheel is flat").compare(tree.path()).unwrap();
    assert_eq!(complaint(&same), None);

    let changed = pages("the wheel has no air").compare(tree.path()).unwrap();
    let complaint = complaint(&changed).unwrap();
    for line in [
        "-    \"the wheel is flat\"\n+    \"the wheel has no air\"\n",
        "docs/texts: 1 stale; read the changed texts above, run `cargo xtask texts` and commit docs/texts",
    ] {
        assert!(complaint.contains(line), "{complaint}");
    }
}

#[test]
fn texts_are_grouped_by_reader_file_and_call() {
    let page = page_of(&[
        (
            "src/lib.rs",
            "mod bell; fn ride() { bail!(\"no wheel\"); tracing::warn!(%wheel, \"flat\") }",
        ),
        (
            "src/bell.rs",
            "fn ring() { bail!(\"no {bell}\"); bail!(\"no bell\\n\"); bail!(\"no bell\\n\") }",
        ),
    ]);
    let expected = "Texts of garage for people: written by `cargo xtask texts`; edit the sources instead.\n\n\n\
                    ## Errors\n\nsrc/bell.rs\n  bail!\n    \"no bell\\n\"\n    \"no {bell}\"\n\nsrc/lib.rs\n  bail!\n    \"no wheel\"\n\n\n\
                    ## Log lines\n\nsrc/lib.rs\n  tracing::warn!\n    \"flat\"\n";
    assert_eq!(page, expected);
}

#[test]
fn texts_are_found_wherever_they_are() {
    for (source, expected) in [
        ("#[error(\"flat: {0}\")] struct Flat;", "Errors: #[error] \"flat: {0}\""),
        (
            "#[error(transparent, \"flat\")] struct Flat;",
            "Errors: #[error] \"flat\"",
        ),
        ("fn f() { x.context(\"reading\") }", "Errors: .context \"reading\""),
        ("fn f() { x.ok_or(\"missing\") }", "Errors: fn f \"missing\""),
        (
            "fn f() { return Err(format!(\"{x}: flat\")) }",
            "Errors: fn f \"{x}: flat\"",
        ),
        (
            "fn f() { Failure::new(422, format!(\"is {x}\")) }",
            "Errors: Failure::new \"is {x}\"",
        ),
        (
            "fn f() { x.map(|x| Failure { message: \"is flat\".into() }) }",
            "Errors: Failure \"is flat\"",
        ),
        (
            "fn f() { Err(refuse(a, || vec![g(\"is flat\")])) }",
            "Errors: g \"is flat\"",
        ),
        (
            "impl<T: Any> fmt::Display for WheelError<T> where T: Flat { fn fmt() { write!(f, \"is {x}\") } }",
            "Errors: impl WheelError \"is {x}\"",
        ),
        (
            "impl A { const PROBLEM: &'static str = \"is flat\"; }",
            "Errors: const PROBLEM \"is flat\"",
        ),
        (
            "static ERRORS: [&str; 1] = [\"is flat\"];",
            "Errors: static ERRORS \"is flat\"",
        ),
        (
            "macro_rules! m { () => { anyhow!(\"flat\") } }",
            "Errors: anyhow! \"flat\"",
        ),
        (
            "fn f() { if x != y { warnings.push(w()) } add_warning(\"is flat\") }",
            "Warnings to clients: add_warning \"is flat\"",
        ),
        (
            "fn f() { tracing::info!(name = ?x, \"flat\") }",
            "Log lines: tracing::info! \"flat\"",
        ),
        (
            "fn f() { println!(\"is {x}\") }",
            "Terminal output: println! \"is {x}\"",
        ),
        (
            "fn f() { x.expect(\"present\") }",
            "Panics (invariants): .expect \"present\"",
        ),
        (
            "fn f() { assert!(x.starts_with(y), \"is {x}\") }",
            "Panics (invariants): assert! \"is {x}\"",
        ),
        (
            "fn f() { #[arg(help = \"is flat\")] g() }",
            "Help of flags and commands: #[arg] \"is flat\"",
        ),
        (
            "const X: Wheel = Wheel { help: \"is flat\" };",
            "Other texts (parts of messages, descriptions, data): Wheel \"is flat\"",
        ),
        (
            "fn f() { match x { \"is flat\" => y } }",
            "Other texts (parts of messages, descriptions, data): fn f \"is flat\"",
        ),
        (
            "fn f() -> impl A { b\"is flat\" }",
            "Other texts (parts of messages, descriptions, data): fn f \"is flat\"",
        ),
        (
            "fn f() { x(r#\"{\"is\": \"flat\"}\"#) }",
            "Other texts (parts of messages, descriptions, data): x \"{\"is\": \"flat\"}\"",
        ),
        (
            "fn f() { quote!(#[x(\"is flat\")] fn g() {}) }",
            "Other texts (parts of messages, descriptions, data): #[x] \"is flat\"",
        ),
        (
            "fn f() { text.push_str(\" and\") }",
            "Other texts (parts of messages, descriptions, data): fn f \" and\"",
        ),
    ] {
        assert_eq!(texts_of(source), [expected], "{source}");
    }
}

#[test]
fn help_is_what_clap_prints() {
    let source = "/// Rides.\n///\n/// Far\n/// away.\n#[derive(Debug, clap::Args)] struct Ride {\n/// A bell.\n#[arg(long)] bell: Bell }\n\
                  /// No help.\n#[derive(Debug)] struct Wheel {}";
    let expected = "Help of flags and commands: Ride \"Rides.\\nFar away.\" \"bell: A bell.\"";
    assert_eq!(texts_of(source), [expected]);
    let source = "#[derive(ValueEnum)] enum Bell {\n/// Loud one.\nLoud,\n Low {\n/// Its depth.\n depth: u8 } }";
    let expected = "Help of flags and commands: Bell \"Loud: Loud one.\" \"depth: Its depth.\"";
    assert_eq!(texts_of(source), [expected]);
}

#[test]
fn names_docs_and_reasons_of_lints_are_no_texts() {
    for source in [
        "/// Is flat.\n#[doc = \"is flat\"] #[expect(dead_code, reason = \"is flat\")] fn f() {}",
        "//! Is flat.\n#![allow(missing_docs, reason = \"is flat\")]",
        "fn f() { get(\"flat\"); format!(\"{a} {b:?}\"); join(\", \"); headers.insert(\"x-flat\", 'a', 1) }",
        "fn error() { include_str!(\"flat\"); bail!(env!(\"FLAT\")) }",
    ] {
        assert_eq!(texts_of(source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn tests_are_left_out_and_files_without_a_module_are_not() {
    let test = "fn f() { bail!(\"in a test\") }";
    let page = page_of(&[
        (
            "src/lib.rs",
            "#[cfg(test)] mod tests; #[cfg(all(test, unix))] mod fixture { mod inner; } mod bell;\n\
             #[cfg(test)] mod here { fn f() { bail!(\"in a test\") } }\n\
             #[cfg(test)] const X: &str = \"in a test\"; #[test] fn f() { bail!(\"in a test\") }\n\
             impl A { #[cfg(test)] fn g() { bail!(\"in a test\") } }\n\
             fn after() { bail!(\"kept after tests\") }",
        ),
        ("src/tests.rs", test),
        ("src/tests/deep.rs", test),
        ("src/fixture/inner.rs", test),
        ("src/bell.rs", "#[cfg(test)] mod tests;"),
        ("src/bell/tests.rs", test),
        ("src/bell/tested.rs", "fn f() { bail!(\"kept without a module\") }"),
        ("build.rs", "fn f() { bail!(\"kept in the build script\") }"),
        ("tests/it/main.rs", test),
        ("benches/x.rs", test),
    ]);
    assert!(!page.contains("in a test"), "{page}");
    assert_eq!(page.matches("\"kept ").count(), 3, "{page}");
}
