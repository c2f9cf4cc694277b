//! Imports as rustfmt lays them out.

/// The width that `rustfmt.toml` sets.
const WIDTH: usize = 120;

/// `use path::{A, B};`, on several lines when it is long.
pub(super) fn use_line(path: &str, names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.sort_unstable();
    if let [name] = names.as_slice() {
        return format!("use {path}::{name};\n");
    }
    let line = format!("use {path}::{{{}}};\n", names.join(", "));
    if line.trim_end().len() <= WIDTH {
        return line;
    }
    let mut text = format!("use {path}::{{\n");
    let mut row = String::from("   ");
    for name in names {
        if row.len() + name.len() + 2 > WIDTH {
            text.push_str(&row);
            text.push('\n');
            row = String::from("   ");
        }
        row.push(' ');
        row.push_str(name);
        row.push(',');
    }
    format!("{text}{row}\n}};\n")
}

#[cfg(test)]
mod tests {
    use super::use_line;

    #[test]
    fn long_imports_are_filled_like_rustfmt_does() {
        assert_eq!(use_line("a::b", &["C"]), "use a::b::C;\n");
        assert_eq!(use_line("a::b", &["D", "C"]), "use a::b::{C, D};\n");
        let names: Vec<String> = (10..40).map(|number| format!("Name{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = use_line("a::b", &names);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines.len()), ("use a::b::{", 5));
        assert!(lines.iter().all(|line| line.len() <= 120), "{text}");
        assert!(lines[1].ends_with(','), "{text}");
    }
}
