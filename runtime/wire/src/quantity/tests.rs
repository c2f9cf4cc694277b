//! Texts and amounts against the behaviour of kube-apiserver.

use super::{Notation, Quantity};

fn quantity(text: &str) -> Quantity {
    text.parse().expect(text)
}

#[test]
fn odd_forms_are_kept_or_made_canonical() {
    let cases = [
        ("0", "0"),
        ("000", "0"),
        ("0Mi", "0"),
        ("-0", "0"),
        ("+", "0"),
        ("5", "5"),
        ("+5Gi", "+5Gi"),
        ("010Mi", "010Mi"),
        ("1e3", "1e3"),
        ("1e1", "10"),
        ("1E", "1E"),
        ("1.5", "1500m"),
        ("0.5Gi", "512Mi"),
        ("1024Mi", "1Gi"),
        ("1000m", "1"),
        ("100m", "100m"),
        ("1.0", "1"),
        ("0.001", "1m"),
        ("1n", "1n"),
        ("0.1n", "1n"),
        ("1.5Ki", "1536"),
        ("0.5", "500m"),
        ("-1.5Gi", "-1536Mi"),
        ("12e-3", "12e-3"),
        ("1e-20", "1e-9"),
        ("1000000", "1M"),
        ("1500000", "1500k"),
        ("2000000000000000000000", "2000E"),
        ("1e21", "1e21"),
        ("9Ei", "9223372036854775807"),
        ("0.0001Ki", "102400u"),
        ("1.", "1."),
        (".5", "500m"),
        ("8Ki", "8Ki"),
        ("16Ki", "16Ki"),
        ("123456789012345678901", "123456789012345678901"),
    ];
    for (text, expected) in cases {
        assert_eq!(quantity(text).to_string(), expected, "{text}");
    }
}

#[test]
fn an_invalid_quantity_is_refused() {
    let format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    for text in ["", "one", "1Q", "1 ", "1.2.3", "1Gi2x", "{}"] {
        assert_eq!(text.parse::<Quantity>().expect_err(text).to_string(), format, "{text}");
    }
    for text in ["1e", "1ki", "1K", "1Mi3", "1mm", "1E-"] {
        assert_eq!(
            text.parse::<Quantity>().expect_err(text).to_string(),
            "unable to parse quantity's suffix",
            "{text}"
        );
    }
    let endless = "9".repeat(100);
    assert_eq!(
        endless.parse::<Quantity>().expect_err("long").to_string(),
        "unable to parse numeric part of quantity"
    );
    assert_eq!(
        format!("0.{}", "0".repeat(100_000) + "1")
            .parse::<Quantity>()
            .expect("tiny")
            .to_string(),
        "1n"
    );
}

#[test]
fn amounts_are_compared_by_value() {
    assert_eq!(quantity("1000m"), quantity("1"));
    assert!(quantity("1Ki") > quantity("1k"));
    assert!(quantity("-1") < quantity("1n"));
    assert!(quantity("1e1000000000") > quantity("1Ei"));
    assert!(quantity("-1e1000000000") < quantity("1n"));
    assert!(quantity("1n") < quantity("1e1000000000"));
    assert!(quantity("-1n") > quantity("-1e1000000000"));
}

#[test]
fn sums_keep_the_notation_of_what_was_there_first() {
    let sum = |left: &str, right: &str| {
        quantity(left)
            .checked_add(&quantity(right))
            .expect("in range")
            .to_string()
    };
    assert_eq!(sum("1Gi", "512Mi"), "1536Mi");
    assert_eq!(sum("0", "512Mi"), "512Mi");
    assert_eq!(sum("100m", "900m"), "1");
    assert_eq!(sum("1", "1Ki"), "1025");
    assert_eq!(
        quantity("1")
            .checked_sub(&quantity("1500m"))
            .expect("in range")
            .to_string(),
        "-500m"
    );
    assert_eq!(quantity("1e30").checked_add(&quantity("1n")), None);
}

#[test]
fn sums_that_cannot_be_held_are_rounded_away_from_zero() {
    let (huge, small) = (quantity("1e40"), quantity("1"));
    assert!(small.rounded_add(&huge) > huge);
    assert!(huge.rounded_add(&small) > huge);
    assert!(huge.rounded_sub(&small) <= huge && huge.rounded_sub(&small) > quantity("9e39"));
    assert!(small.rounded_sub(&huge) < quantity("-9e39"));
    assert!(quantity("1e2147483647").rounded_add(&small) >= quantity("1e2147483647"));
    assert_eq!(quantity("100m").rounded_add(&quantity("900m")).to_string(), "1");
    let large = quantity("100000000000000000000000000001e9");
    assert!(large.rounded_add(&large) >= quantity("2e38"));
}

#[test]
fn numbers_are_rounded_away_from_zero() {
    assert_eq!(quantity("1500m").value(), 2);
    assert_eq!(quantity("-1500m").value(), -2);
    assert_eq!(quantity("1.0001").milli_value(), 1001);
    assert_eq!(quantity("1e30").value(), i64::MAX);
    assert_eq!(quantity("1n").rounded_to_milli().to_string(), "1m");
    assert_eq!(Quantity::new(1 << 20, Notation::Binary).to_string(), "1Mi");
    assert_eq!(Quantity::from_milli(1500, Notation::Decimal).to_string(), "1500m");
}
