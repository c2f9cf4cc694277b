//! Servers with much content: the memory beside the bytes that clients receive, and the start.

use anyhow::Result;
use planesmith_e2e::Connection;

use super::lifecycle::megabytes;
use super::load::{Pool, WRITERS, Writes};
use super::objects::{self, Sample};
use super::subject::{Program, Subject};

/// Objects of one kind, and the rows about them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    sample: Sample,
    objects: usize,
    start: Option<&'static str>,
    /// The memory before a restart, and after it.
    memory: [&'static str; 2],
}

/// The contents, each of which is measured once.
const ALL: [Content; 2] = [
    Content {
        sample: Sample::ConfigMap,
        objects: 200_000,
        start: None,
        memory: ["memory-many", "memory-many-restarted"],
    },
    Content {
        sample: Sample::SmallConfigMap,
        objects: 1_000_000,
        start: Some("million-start"),
        memory: ["million-memory", "million-memory-restarted"],
    },
];

/// The content that the row called `name` is about.
pub(crate) fn of(name: &str) -> Option<Content> {
    let is_about = |content: &Content| content.start == Some(name) || content.memory.contains(&name);
    ALL.into_iter().find(is_about)
}

impl Content {
    /// Fills a server, kills it, and starts it again. Returns all rows.
    pub(crate) async fn measure(self, program: &Program, quick: bool) -> Result<Vec<(&'static str, f64)>> {
        let objects = if quick { self.objects / 10 } else { self.objects };
        let (subject, _) = program.start().await?;
        let idle = megabytes(&subject)?;
        subject.prepare().await?;
        eprintln!("    filling a server with {objects} objects");
        let pool = Pool::open(&subject.endpoint, WRITERS).await?;
        let fill = Writes::creates(self.sample, objects::READ_NAMESPACE, objects);
        fill.run(&pool).await?;
        drop(pool);
        let wire = self.wire_megabytes(&subject).await?;
        let bytes = wire * 1e6 / objects as f64;
        eprintln!("    {wire:.1} MB on the wire, {bytes:.0} bytes per object");
        let filled = settled_megabytes(&subject).await? - idle;
        // The journal has all writes.
        let (subject, taken) = subject.restarted(program).await?;
        eprintln!("    ready {:.2} s after it was started again", taken.as_secs_f64());
        let restarted = settled_megabytes(&subject).await? - idle;
        let [before, after] = self.memory;
        let start = self.start.map(|row| (row, taken.as_secs_f64() * 1e3));
        let memory = [(before, filled / wire), (after, restarted / wire)];
        Ok(memory.into_iter().chain(start).collect())
    }

    /// The bytes that a client receives for all objects, page by page.
    async fn wire_megabytes(self, subject: &Subject) -> Result<f64> {
        let connection = Connection::open(&subject.endpoint).await?;
        let collection = self.sample.collection(objects::READ_NAMESPACE);
        let (mut bytes, mut next) = (0, String::new());
        loop {
            let page = format!("{collection}?limit=500{next}");
            let page = connection.get(&page).await?.expect(200)?;
            bytes += page.body.len();
            match continue_token(&page.body) {
                Some(token) => next = format!("&continue={token}"),
                None => return Ok(bytes as f64 / 1e6),
            }
        }
    }
}

/// The resident memory once unused memory was returned.
async fn settled_megabytes(subject: &Subject) -> Result<f64> {
    tokio::time::sleep(super::lifecycle::SETTLE).await;
    megabytes(subject)
}

/// The continue token, which is at the beginning of a list: parsing the whole page would take longer than sending it.
fn continue_token(list: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&list[..list.len().min(1000)]).into_owned();
    let (_, rest) = head.split_once("\"continue\":\"")?;
    let (token, _) = rest.split_once('"')?;
    (!token.is_empty()).then(|| token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{continue_token, of};

    #[test]
    fn the_token_of_a_page_is_found() {
        let list =
            br#"{"kind":"List","metadata":{"resourceVersion":"7","continue":"abc","remainingItemCount":1},"items":[]}"#;
        assert_eq!(continue_token(list).as_deref(), Some("abc"));
        assert_eq!(
            continue_token(br#"{"kind":"List","metadata":{"resourceVersion":"7"},"items":[]}"#),
            None
        );
    }

    #[test]
    fn each_row_is_about_one_content() {
        assert!(of("million-start").is_some() && of("memory-many-restarted").is_some());
        assert!(of("get").is_none());
    }
}
