//! Paths without parts that lead nowhere, as Go's libraries shorten them.

/// Returns the segments of `path` that are left without empty ones, `.`, and `..` with the segment before it.
#[must_use]
pub fn shortest_segments(path: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    segments
}

/// Returns the shortest path with the meaning of `path`, without a slash at its end: the one that Go's client requests.
#[must_use]
pub fn shortest_path(path: &str) -> String {
    format!("/{}", shortest_segments(path).join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_as_short_as_they_can_be() {
        for (path, expected) in [
            ("", "/"),
            ("/", "/"),
            ("/a/b", "/a/b"),
            ("/a//b/", "/a/b"),
            ("/a/./../b", "/b"),
            ("/../a", "/a"),
        ] {
            assert_eq!(shortest_path(path), expected, "{path}");
        }
    }
}
