//! Imports and arrays in rustfmt's layout.

/// The line width set in `rustfmt.toml`.
const WIDTH: usize = 120;

/// Returns `use path::{A, B};`, on several lines if it is long.
pub(super) fn use_line(path: &str, names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.sort_unstable();
    if let [name] = names.as_slice() {
        return format!("use {path}::{name};\n");
    }
    let line = format!("use {path}::{{{}}};\n", names.join(", "));
    // Rustfmt reserves space for a comma and a bracket.
    if line.trim_end().len() <= WIDTH - 2 {
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

/// The maximum width of an array or tuple that rustfmt puts on one line.
const ARRAY: usize = WIDTH * 60 / 100;

/// Returns `&[(first, second), ...]` as the value of an item at the start of a line.
pub(in crate::generate) fn pairs(pairs: &[(String, String)]) -> String {
    let listed: Vec<String> = pairs
        .iter()
        .map(|(first, second)| match first.len() + second.len() + 2 {
            0..=ARRAY => format!("({first}, {second})"),
            _ => format!("(\n        {first},\n        {second},\n    )"),
        })
        .collect();
    let line = listed.join(", ");
    if line.len() <= ARRAY {
        return format!("&[{line}]");
    }
    if let [(first, second)] = pairs {
        return format!("&[(\n    {first},\n    {second},\n)]");
    }
    format!("&[\n    {},\n]", listed.join(",\n    "))
}

/// Returns `&[Name { ... }, ...]` as the value of a field; each body is unindented.
pub(super) fn structs(name: &str, bodies: &[String]) -> String {
    let (deep, close) = if bodies.len() == 1 { (8, 4) } else { (12, 8) };
    let listed = bodies.iter().map(|body| {
        let lines: String = body.lines().map(|line| format!("{:deep$}{line}\n", "")).collect();
        format!("{name} {{\n{lines}{:close$}}}", "")
    });
    let listed: Vec<String> = listed.collect();
    match listed.as_slice() {
        [one] => format!("&[{one}]"),
        several => {
            let lines: String = several.iter().map(|one| format!("        {one},\n")).collect();
            format!("&[\n{lines}    ]")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{pairs, structs, use_line};

    #[test]
    fn arrays_are_laid_out_like_rustfmt_does() {
        let of = |texts: &[(&str, &str)]| {
            let owned: Vec<_> = texts
                .iter()
                .map(|(first, second)| ((*first).to_owned(), (*second).to_owned()))
                .collect();
            pairs(&owned)
        };
        let long = "a-name-that-takes-most-of-what-fits-into-one-line-of-code";
        assert_eq!(of(&[("a", "B"), ("c", "D")]), "&[(a, B), (c, D)]");
        assert_eq!(
            of(&[(long, "AND_ANOTHER_NAME")]),
            format!("&[(\n    {long},\n    AND_ANOTHER_NAME,\n)]")
        );
        assert_eq!(
            of(&[(long, "A"), ("b", "C"), ("d", "E")]),
            format!("&[\n    ({long}, A),\n    (b, C),\n    (d, E),\n]")
        );
        let body = "a: 1,\nb: 2,\n".to_owned();
        assert_eq!(
            structs("S", std::slice::from_ref(&body)),
            "&[S {\n        a: 1,\n        b: 2,\n    }]"
        );
        let two = "&[\n        S {\n            a: 1,\n            b: 2,\n        },\n        S {\n            a: 1,\n            b: 2,\n        },\n    ]";
        assert_eq!(structs("S", &[body.clone(), body]), two);
    }

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
