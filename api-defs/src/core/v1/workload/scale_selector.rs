//! The selector of a scale: text in the newest version, and also labels in older ones.

use std::collections::BTreeMap;

use planesmith_machinery::selector::{LabelQuery, Operator};

/// Returns the labels that a selector requires, if it has no other requirements.
pub(crate) fn labels_of(selector: &str) -> BTreeMap<String, String> {
    let query = LabelQuery::parse(selector).unwrap_or_default();
    let labels = query.requirements().iter().map(|requirement| {
        let exact = matches!(requirement.operator(), Operator::Equals | Operator::DoubleEquals);
        let value = requirement.values().first().filter(|_| exact)?;
        Some((requirement.key().to_owned(), value.clone()))
    });
    labels.collect::<Option<_>>().unwrap_or_default()
}

/// Returns the selector as text; derived from the labels if there is no text.
pub(crate) fn text_of(text: &str, labels: &BTreeMap<String, String>) -> String {
    if !text.is_empty() {
        return text.to_owned();
    }
    let pairs = labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    LabelQuery::exact(pairs).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_survive_and_the_rest_stays_text() {
        let labels = labels_of("a=1,b=2");
        assert_eq!(text_of("", &labels), "a=1,b=2");
        assert_eq!(labels_of("a=1,b in (x,y)"), BTreeMap::new());
        assert_eq!(text_of("b in (x,y)", &labels), "b in (x,y)");
    }
}
