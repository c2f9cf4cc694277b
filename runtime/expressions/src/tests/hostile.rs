//! Whatever is written, nothing panics and nothing hangs.

use proptest::prelude::*;

use super::shown;

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
        shown(&text);
    }

    #[test]
    fn any_words(words in proptest::collection::vec(proptest::sample::select(WORDS.to_vec()), 0..25)) {
        shown(&words.concat());
        shown(&words.join(" "));
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
        assert!(shown(&deep).contains("recursion limit"), "{open}");
        shown(&format!("{}{inner}{}", open.repeat(240), close.repeat(240)));
    }
    for chain in [" + 1", ".a", "[0]", ".map(i, i)"] {
        assert!(
            shown(&format!("x{}", chain.repeat(5000))).contains("recursion"),
            "{chain}"
        );
        shown(&format!("x{}", chain.repeat(240)));
    }
    assert_eq!(shown(&format!("true{}", " && true".repeat(5000))), "true");
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
            shown(costly),
            "error: operation cancelled: actual cost limit exceeded",
            "{costly}"
        );
    }
    let nested = "optional.of(1)".to_owned() + &".optMap(v, v)".repeat(200);
    assert!(shown(&nested).contains("too large"));
}
