//! Hostile expressions neither panic nor hang.

use proptest::prelude::*;

use super::{Environment, PER_CALL_LIMIT, functions, rendered};
use crate::value::Effort;

const WORDS: [&str; 48] = [
    "x",
    "1",
    "'a'",
    "2.5",
    "3u",
    "true",
    "null",
    "[1, 2]",
    "{'a': x}",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    ",",
    "?",
    ":",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "<",
    "&&",
    "||",
    "!",
    "in",
    ".a",
    ".?b",
    ".map(i, i)",
    ".all(i, i > 0)",
    ".size()",
    "has(x.a)",
    "duration('1h')",
    "timestamp('2020-01-01T00:00:00Z')",
    "optional.of(1)",
    ".orValue(1)",
    "'%s'.format([x])",
    "int(x)",
    "lists.range(9)",
    "quantity('1')",
    ".sortBy(i, i)",
    ".optMap(v, v)",
    "\"\\",
    "`",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_text(text in "\\PC{0,60}") {
        rendered(&text);
    }

    #[test]
    fn any_words(words in proptest::collection::vec(proptest::sample::select(WORDS.to_vec()), 0..25)) {
        rendered(&words.concat());
        rendered(&words.join(" "));
    }
}

#[test]
fn deep_expressions_are_refused() {
    for (open, inner, close) in [
        ("(", "x", ")"),
        ("[", "", "]"),
        ("!(", "x", ")"),
        ("x[", "0", "]"),
        ("x ? 1 : ", "2", ""),
    ] {
        let deep = format!("{}{inner}{}", open.repeat(5000), close.repeat(5000));
        assert!(rendered(&deep).contains("recursion limit"), "{open}");
        rendered(&format!("{}{inner}{}", open.repeat(240), close.repeat(240)));
    }
    for chain in [" + 1", ".a", "[0]", ".map(i, i)"] {
        assert!(
            rendered(&format!("x{}", chain.repeat(5000))).contains("recursion"),
            "{chain}"
        );
        rendered(&format!("x{}", chain.repeat(240)));
    }
    assert_eq!(rendered(&format!("true{}", " && true".repeat(5000))), "true");
}

#[test]
fn costly_expressions_are_stopped() {
    for costly in [
        "lists.range(9223372036854775807).size()",
        "lists.range(2000).map(i, lists.range(2000).map(j, i * j)).size()",
        "lists.range(100000).map(i, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').join('bbbbbbbbbbbbbb').replace('', 'cccccccc').size()",
        "lists.range(1000000).distinct()",
    ] {
        assert_eq!(
            rendered(costly),
            "error: operation cancelled: actual cost limit exceeded",
            "{costly}"
        );
    }
    let nested = "optional.of(1)".to_owned() + &".optMap(v, v)".repeat(200);
    assert!(rendered(&nested).contains("too large"));
}

/// Evaluates `inner` for the last of `depth` bound names, each computed from the previous one.
fn bound(depth: usize, first: &str, next: &str, inner: &str) -> String {
    let name = |level: usize| format!("v{level}");
    let mut text = inner.replace('@', &name(depth));
    for level in (0..=depth).rev() {
        let value = match level {
            0 => first.to_owned(),
            level => next.replace('@', &name(level - 1)),
        };
        text = format!("[{value}].exists({}, {text})", name(level));
    }
    text
}

#[test]
fn types_with_too_many_parts_are_refused() {
    let grown = rendered(&bound(40, "1", "{@: @}", "true"));
    assert!(
        grown.contains("the type of the expression has too many parts"),
        "{grown}"
    );
    let grown = rendered(&bound(40, "{}", "{@: @}", "true"));
    assert!(
        grown.contains("the type of the expression has too many parts"),
        "{grown}"
    );
    assert_eq!(rendered(&bound(40, "1", "[@]", "@.size() == 1")), "true");
}

#[test]
fn values_that_share_their_parts_are_not_made_or_gone_over_without_end() {
    // A small part of the effort that evaluation may spend.
    fn rendered_within(expression: &str) -> String {
        let program = Environment::new().compile(expression).expect(expression);
        let evaluation = program.evaluate_within(&[], PER_CALL_LIMIT, Effort::from_bytes(4 << 20));
        match evaluation.result {
            Ok(value) => functions::format::plain(&value),
            Err(fault) => format!("error: {}", fault.message()),
        }
    }
    const STOPPED: &str = "error: operation cancelled: actual cost limit exceeded";
    assert_eq!(rendered_within(&bound(40, "[1]", "@ + @", "@.size() > 0")), STOPPED);
    assert_eq!(
        rendered_within(&bound(40, "[[1]]", "@ + @", "@.flatten().size() > 0")),
        STOPPED
    );
    for inner in [
        "@ == @",
        "@ in [@]",
        "'%s'.format([@]) == ''",
        "@.flatten(50).size() == 0",
        "[@, @].distinct().size() == 1",
        "@.indexOf(1) == 0",
    ] {
        assert_eq!(
            rendered_within(&bound(40, "[]", "[dyn(@), dyn(@)]", inner)),
            STOPPED,
            "{inner}"
        );
    }
    assert_eq!(rendered_within(&bound(12, "[1]", "@ + @", "@.size() == 4096")), "true");
}

#[test]
fn numbers_without_an_order_are_sorted_somehow() {
    assert_eq!(
        rendered("lists.range(500).map(i, i % 3 == 0 ? 0.0 / 0.0 : double(i * 7 % 11)).sort().size()"),
        "500"
    );
}

/// Expressions that can contain any other; `@` marks the inner expression.
const SHAPES: [&str; 10] = [
    "(@)",
    "[@]",
    "{'a': @}",
    "!(@)",
    "x[@]",
    "x ? 1 : @",
    "[1].map(i, @)",
    "optional.of(@)",
    "has({'a': @}.a)",
    "1 + (@)",
];

#[test]
fn mixed_shapes_fit_onto_the_stack_of_a_worker() {
    let mut shapes = Vec::new();
    for step in 1..SHAPES.len() {
        for start in 0..SHAPES.len() {
            shapes.push((start, step));
        }
    }
    let worker = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for (start, step) in shapes {
            for depth in [40, 120, 240] {
                let text = (0..depth).fold("x".to_owned(), |inner, level| {
                    SHAPES[(start + level * step) % SHAPES.len()].replace('@', &inner)
                });
                rendered(&text);
            }
        }
    });
    worker.expect("a thread").join().expect("no overflow");
}
