//! Values in logs and failed assertions. The types' own forms are not used, because each value would then bring the code
//! that prints it into every server.

use std::fmt::{Debug, Formatter, Result};

use super::{List, Map, Optional, Struct, Value};
use crate::scalar::Scalar;

impl Debug for dyn Value + '_ {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        self.view().fmt(formatter)
    }
}

impl Debug for dyn Struct {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let fields = self.facts().fields.iter().enumerate();
        formatter
            .debug_map()
            .entries(fields.map(|(index, field)| (field.name, self.field(index))))
            .finish()
    }
}

impl Debug for dyn List + '_ {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let elements = (0..self.len()).filter_map(|index| self.get(index));
        formatter.debug_list().entries(elements).finish()
    }
}

impl Debug for dyn Map + '_ {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let mut map = formatter.debug_map();
        self.each(&mut |key, value| {
            map.entry(&key, &value);
        });
        map.finish()
    }
}

impl Debug for dyn Optional + '_ {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str(if self.is_some() { "present" } else { "absent" })
    }
}

impl Debug for dyn Scalar {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let mut json = Vec::new();
        self.write_json(&mut json);
        formatter.write_str(&String::from_utf8_lossy(&json))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::int_or_string::IntOrString;

    #[test]
    fn values_show_their_content() {
        let labels = BTreeMap::from([("a".to_owned(), vec![1_i64, 2])]);
        let value: &dyn Value = &labels;
        assert_eq!(format!("{value:?}"), r#"Map({"a": List([Int(1), Int(2)])})"#);
        let port: &dyn Value = &IntOrString::from("http");
        assert_eq!(format!("{port:?}"), r#"Scalar("http")"#);
    }
}
