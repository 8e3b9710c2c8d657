//! Texts with placeholders for cells, and patterns that cells match.

use super::description::Filter;
use super::table::PublishedRow;

/// A row and, where machines are columns, the cell in the machine's column.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    pub(super) row: PublishedRow<'a>,
    pub(super) value: &'a str,
}

impl Cells<'_> {
    /// The text with every `{column}` replaced by the row's cell; an unknown column stays as it is.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            match after.split_once('}') {
                Some((name, behind)) => {
                    match self.cell(name) {
                        Some(cell) => filled.push_str(cell),
                        None => {
                            filled.push('{');
                            filled.push_str(name);
                            filled.push('}');
                        }
                    }
                    rest = behind;
                }
                None => {
                    filled.push('{');
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    fn cell(&self, name: &str) -> Option<&str> {
        if name == "value" && !self.row.has("value") {
            Some(self.value)
        } else {
            self.row.has(name).then(|| self.row.text(name))
        }
    }

    /// Whether the row matches a filter.
    pub(super) fn fits(&self, filter: &Filter) -> bool {
        filter.iter().all(|(column, pattern)| {
            let (wanted, pattern) = pattern.strip_prefix('!').map_or((true, pattern.as_str()), |rest| (false, rest));
            model::glob(pattern, self.row.text(column)) == wanted
        })
    }
}
