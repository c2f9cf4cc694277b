//! Values of flags that programs and components name by constants.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value of a flag that programs and components name by constants.
pub trait NamedValue: Copy + Send + Sync + 'static {
    /// The name, as in the flag.
    fn name(self) -> &'static str;

    /// The explanation in `--help`.
    fn help(self) -> &'static str;
}

/// Returns the parser of a flag that names one of `values`.
pub fn parser<V: NamedValue>(values: Vec<V>) -> impl TypedValueParser<Value = V> {
    let known = values
        .iter()
        .map(|value| PossibleValue::new(value.name()).help(value.help()));
    PossibleValuesParser::new(known).map(move |name| {
        let value = values.iter().copied().find(|value| value.name() == name);
        value.expect("the parser accepts names of values only")
    })
}
