//! The Markdown files of the workspace, and what in them can be checked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// A Markdown file.
#[derive(Default)]
pub(crate) struct Page {
    /// Relative to the workspace.
    pub(crate) path: PathBuf,
    pub(crate) blocks: Vec<Block>,
    /// Targets of links and images.
    pub(crate) links: Vec<String>,
    /// Inline code.
    pub(crate) code: BTreeSet<String>,
    /// What `#...` may name.
    pub(crate) anchors: BTreeSet<String>,
}

/// A fenced block.
pub(crate) struct Block {
    pub(crate) line: usize,
    /// What stands behind the opening fence.
    pub(crate) info: String,
    pub(crate) text: String,
    /// The HTML comment right before it, without its marks.
    pub(crate) note: Option<String>,
}

impl Page {
    pub(crate) fn load(path: &Path) -> Self {
        let text = fs_err::read_to_string(root().join(path)).unwrap();
        let mut page = Self { path: path.to_path_buf(), ..Self::default() };
        page.read(&text);
        page
    }

    fn read(&mut self, text: &str) {
        let mut note = None;
        let mut block: Option<Block> = None;
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Html(html) if html.trim().starts_with("<!--") => {
                    note = Some(html.trim().trim_start_matches("<!--").trim_end_matches("-->").trim().to_owned());
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    let line = text[..range.start].matches('\n').count() + 1;
                    block = Some(Block { line, info: info.to_string(), text: String::new(), note: note.take() });
                }
                Event::End(TagEnd::CodeBlock) => self.blocks.extend(block.take()),
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => self.anchors.extend(heading.take().map(|text| anchor(&text))),
                Event::Start(Tag::Paragraph) => note = None,
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    self.links.push(dest_url.to_string());
                }
                Event::Text(part) | Event::Code(part) if heading.is_some() => {
                    heading.get_or_insert_default().push_str(&part);
                }
                Event::Text(part) => {
                    if let Some(block) = &mut block {
                        block.text.push_str(&part);
                    }
                }
                Event::Code(part) => {
                    self.code.insert(part.to_string());
                }
                _ => {}
            }
        }
    }

    /// A place in this page, for messages.
    pub(crate) fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    /// Whether a word stands in inline code, alone or as a word of a longer piece.
    pub(crate) fn has_code(&self, word: &str) -> bool {
        let is_word = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        self.code.iter().any(|code| code == word || code.split(is_word).any(|part| part == word))
    }
}

/// The anchor that both forges and mdBook give a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// Every page: those at the root, the book, and the examples'.
pub(crate) fn all() -> Vec<Page> {
    let mut found = Vec::new();
    for (dir, deep) in [("", false), ("docs", true), ("examples", true)] {
        walk(Path::new(dir), deep, &mut found);
    }
    found.sort();
    found.iter().map(|path| Page::load(path)).collect()
}

fn walk(dir: &Path, deep: bool, found: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(root().join(dir)).unwrap() {
        let entry = entry.unwrap();
        let path = dir.join(entry.file_name());
        if deep && entry.path().is_dir() {
            walk(&path, deep, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}
