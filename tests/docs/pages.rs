//! The pages of the documentation for tests: fenced blocks and inline code, with their lines.
#![allow(dead_code, reason = "each of the two tests uses its part")]

use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub(crate) struct FencedBlock {
    /// Line of its first fence, from 1.
    pub(crate) line: usize,
    /// Text after the first fence: `sh`, `sh no-run: needs Slurm`, `text output`.
    pub(crate) info: String,
    /// Its content, with the last newline.
    pub(crate) text: String,
}

#[derive(Debug, Clone)]
pub(crate) struct DocumentationPage {
    /// Path from the root of the tree.
    pub(crate) name: String,
    pub(crate) text: String,
    /// Its fenced blocks, in order.
    pub(crate) blocks: Vec<FencedBlock>,
}

impl DocumentationPage {
    /// Code spans outside of blocks, with their lines. A span may continue in the next line.
    pub(crate) fn spans(&self) -> Vec<(usize, String)> {
        let mut outside = String::new();
        let mut fenced = false;
        for line in self.text.lines() {
            fenced ^= line.starts_with("```");
            outside.push_str(if fenced || line.starts_with("```") { "" } else { line });
            outside.push('\n');
        }
        let (mut spans, mut line, mut open) = (Vec::new(), 1, None::<(usize, String)>);
        for c in outside.chars() {
            match (&mut open, c) {
                (None, '`') => open = Some((line, String::new())),
                (Some(_), '`') => spans.extend(open.take()),
                (Some((_, text)), c) => text.push(if c == '\n' { ' ' } else { c }),
                (None, _) => {}
            }
            line += usize::from(c == '\n');
        }
        spans
    }
}

/// README and all pages under docs, except the generated reference.
pub(crate) fn pages(root: &Path) -> Vec<DocumentationPage> {
    let mut files: Vec<PathBuf> = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("reference") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let page = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        DocumentationPage { name, blocks: blocks(&text), text }
    };
    files.into_iter().map(page).collect()
}

pub(crate) fn blocks(text: &str) -> Vec<FencedBlock> {
    let (mut found, mut open) = (Vec::new(), None::<FencedBlock>);
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(info), None) => {
                open = Some(FencedBlock { line: at + 1, info: info.to_owned(), text: String::new() });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}
