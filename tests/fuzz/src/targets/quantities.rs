//! Quantities, durations, times and patterns.

use planesmith_machinery::go_pattern;
use planesmith_machinery::quantity::Quantity;

/// Writing a quantity and reading it again preserves its value; addition is reversible.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let _ = go_pattern::problem(text);
    let (first, second) = text.split_once('+').unwrap_or((text, "1"));
    let (Ok(first), Ok(second)) = (first.parse::<Quantity>(), second.parse::<Quantity>()) else {
        return;
    };
    let shown = first.to_string();
    let again: Quantity = shown.parse().expect("what is shown is read");
    assert_eq!(again, first, "{shown}");
    assert_eq!(again.to_string(), shown);
    assert_eq!(first.is_zero(), first == Quantity::default(), "{shown}");
    let _ = (first.value(), first.milli_value(), first.rounded_to_milli());
    if let Some(sum) = first.checked_add(&second) {
        assert_eq!(second.checked_add(&first).as_ref(), Some(&sum), "{shown}");
        if let Some(back) = sum.checked_sub(&second) {
            assert_eq!(back, first, "{shown} and {second}");
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "500m+1.5Gi",
        "2e3+1E",
        "0.000000001+-1",
        "9223372036854775807+1n",
        "1Ki+1000",
        "-0.5u+.5",
        "12345678901234567890123456789+1e-9",
        "5.+1E6",
        "^[a-z]([-a-z0-9]*[a-z0-9])?$",
        "(?i)\\pL{2,5}|[[:alpha:]]*?$",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}
