//! HTML tags that contain links. All other bytes are copied unchanged.

/// Elements whose content is text, even if it looks like tags.
const TEXT: [&str; 10] = [
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "script",
    "style",
    "textarea",
    "title",
    "xmp",
];

/// True if an attribute contains a link.
fn is_link(tag: &str, attribute: &str) -> bool {
    let links: &[&str] = match tag {
        "a" | "area" | "base" | "link" => &["href"],
        "applet" => &["codebase"],
        "audio" | "embed" | "script" | "source" => &["src"],
        "blockquote" | "del" | "ins" | "q" => &["cite"],
        "body" => &["background"],
        "button" => &["formaction"],
        "command" => &["icon"],
        "form" => &["action"],
        "frame" | "iframe" => &["longdesc", "src"],
        "head" => &["profile"],
        "html" => &["manifest"],
        "img" => &["longdesc", "src", "usemap"],
        "input" => &["formaction", "src", "usemap"],
        "object" => &["classid", "codebase", "data", "usemap"],
        "video" => &["poster", "src"],
        _ => &[],
    };
    links.contains(&attribute)
}

/// The page with `link` applied to its links.
pub(super) fn with_links(page: &[u8], link: &dyn Fn(&str) -> String) -> Vec<u8> {
    let mut reader = Reader {
        page,
        at: 0,
        copied: 0,
        out: Vec::with_capacity(page.len() + 256),
    };
    while let Some(offset) = reader.rest().iter().position(|byte| *byte == b'<') {
        reader.at += offset + 1;
        match reader.rest() {
            [b'!', b'-', b'-', ..] => reader.skip_past(b"-->"),
            [b'!' | b'?' | b'/', ..] => reader.skip_past(b">"),
            [first, ..] if first.is_ascii_alphabetic() => {
                let tag = reader.word(b"");
                reader.attributes(&tag, link);
                if TEXT.contains(&tag.as_str()) {
                    reader.skip_text(&tag);
                }
            }
            _ => {}
        }
    }
    reader.at = page.len();
    reader.copy();
    reader.out
}

/// Reads a page; bytes that were read but not copied are between `copied` and `at`.
struct Reader<'a> {
    page: &'a [u8],
    at: usize,
    copied: usize,
    out: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        self.page.get(self.at..).unwrap_or_default()
    }

    fn copy(&mut self) {
        self.out.extend_from_slice(&self.page[self.copied..self.at]);
        self.copied = self.at;
    }

    /// Continues behind `end`, or at the end of the page.
    fn skip_past(&mut self, end: &[u8]) {
        let found = self.rest().windows(end.len()).position(|window| window == end);
        self.at = found.map_or(self.page.len(), |found| self.at + found + end.len());
    }

    /// Continues at the tag that ends the element `tag`.
    fn skip_text(&mut self, tag: &str) {
        let is_end = |window: &[u8]| window.starts_with(b"</") && window[2..].eq_ignore_ascii_case(tag.as_bytes());
        let found = self.rest().windows(tag.len() + 2).position(is_end);
        self.at = found.map_or(self.page.len(), |found| self.at + found);
    }

    fn skip_while(&mut self, matches: impl Fn(u8) -> bool) {
        self.at += self.rest().iter().take_while(|byte| matches(**byte)).count();
    }

    /// A name in lower case, up to a space, a slash, the end of the tag or one of `ends`.
    fn word(&mut self, ends: &[u8]) -> String {
        let start = self.at;
        self.skip_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>') && !ends.contains(&byte));
        String::from_utf8_lossy(&self.page[start..self.at]).to_ascii_lowercase()
    }

    /// Reads the attributes of a tag, up to and including its end.
    fn attributes(&mut self, tag: &str, link: &dyn Fn(&str) -> String) {
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b'/');
            match self.rest().first() {
                None => return,
                Some(b'>') => {
                    self.at += 1;
                    return;
                }
                // An equals sign at the start of a name is part of the name.
                Some(b'=') => self.at += 1,
                Some(_) => {}
            }
            let name = self.word(b"=");
            self.skip_while(|byte| byte.is_ascii_whitespace());
            if self.rest().first() != Some(&b'=') {
                continue;
            }
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_whitespace());
            let rewrite = is_link(tag, &name).then_some(link);
            self.value(rewrite);
        }
    }

    /// Reads the value of an attribute, and applies `link` to it.
    fn value(&mut self, link: Option<&dyn Fn(&str) -> String>) {
        let start = self.at;
        let value = match self.rest().first() {
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                self.skip_while(|byte| byte != *quote);
                let value = &self.page[start + 1..self.at];
                self.at = self.page.len().min(self.at + 1);
                value
            }
            _ => {
                self.skip_while(|byte| !byte.is_ascii_whitespace() && byte != b'>');
                &self.page[start..self.at]
            }
        };
        let (Some(link), Ok(value)) = (link, std::str::from_utf8(value)) else {
            return;
        };
        let old = unescaped(value);
        let new = link(&old);
        if new != old {
            let end = std::mem::replace(&mut self.at, start);
            self.copy();
            self.out.extend_from_slice(format!("\"{}\"", escaped(&new)).as_bytes());
            self.at = end;
            self.copied = end;
        }
    }
}

/// Characters that attributes escape; the first form is the one that is written.
const ENTITIES: [(char, &[&str]); 5] = [
    ('"', &["&#34;", "&quot;", "&#x22;"]),
    ('\'', &["&#39;", "&apos;", "&#x27;"]),
    ('<', &["&lt;"]),
    ('>', &["&gt;"]),
    ('&', &["&amp;", "&#38;"]),
];

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut known = ENTITIES
            .iter()
            .flat_map(|(char, forms)| forms.iter().map(move |form| (char, form)));
        let (char, form) = known
            .find(|(_, form)| rest.starts_with(**form))
            .map_or((&'&', "&"), |(char, form)| (char, *form));
        plain.push(*char);
        rest = &rest[form.len()..];
    }
    plain.push_str(rest);
    plain
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match ENTITIES.iter().find(|(special, _)| *special == char) {
            Some((_, forms)) => escaped.push_str(forms[0]),
            None => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expected: &str) {
        let link = |link: &str| match link.starts_with('/') {
            true => format!("/p{link}"),
            false => link.to_owned(),
        };
        let found = with_links(page.as_bytes(), &link);
        assert_eq!(String::from_utf8(found).unwrap(), expected);
    }

    #[test]
    fn links_change_and_nothing_else() {
        check(r#"<A HREF="/x">t</A>"#, r#"<A HREF="/p/x">t</A>"#);
        check(
            "<img src=/x usemap='/y' alt=/z>",
            "<img src=\"/p/x\" usemap=\"/p/y\" alt=/z>",
        );
        check(r#"<a class=b href="x">"#, r#"<a class=b href="x">"#);
        check(r#"<p href="/x"><br/> 1 < 2"#, r#"<p href="/x"><br/> 1 < 2"#);
        check(r#"<a href="/x?a=1&amp;b=2">"#, r#"<a href="/p/x?a=1&amp;b=2">"#);
        check(r#"<a href = '/x"y'/>"#, r#"<a href = "/p/x&#34;y"/>"#);
    }

    #[test]
    fn text_and_comments_hold_no_links() {
        check(r#"<!-- <a href="/x"> -->"#, r#"<!-- <a href="/x"> -->"#);
        check(
            r#"<script src="/s">"<a href='/x'>"</SCRIPT><a href="/y">"#,
            r#"<script src="/p/s">"<a href='/x'>"</SCRIPT><a href="/p/y">"#,
        );
        check(
            "<!doctype html><title><a href=/x></title>",
            "<!doctype html><title><a href=/x></title>",
        );
    }

    #[test]
    fn broken_pages_stay_as_they_are() {
        for page in [
            "<",
            "<a",
            "<a href",
            "<a href=",
            "<a =",
            "<a href=\"",
            "<script>",
            "<!--",
            "</",
        ] {
            check(page, page);
        }
        check("<a href=\"/x", "<a href=\"/p/x\"");
    }
}
