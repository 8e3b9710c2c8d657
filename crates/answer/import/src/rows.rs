//! On which lines the rows of a comma-separated table begin.

/// Line numbers of rows that are asked for in order. The reader's own numbers are one low behind a carriage return,
/// whose line feed it counts to the next row, and those of empty lines before a row.
pub(crate) struct RowLines<'a> {
    text: &'a str,
    byte: usize,
    line: usize,
}

impl<'a> RowLines<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, byte: 0, line: 1 }
    }

    /// The line, from 1, on which the row at this position begins.
    pub(crate) fn at(&mut self, position: Option<&csv::Position>) -> usize {
        let bytes = self.text.as_bytes();
        let stated = position.and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or_default();
        let start = stated.clamp(self.byte, bytes.len());
        let ends = bytes[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line += memchr::memchr_iter(b'\n', &bytes[self.byte..start + ends]).count();
        self.byte = start + ends;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_where_their_first_cell_stands() {
        for text in ["a,b\n1,2\n\n\"x\ny\",4\n5,6\n", "a,b\r\n1,2\r\n\r\n\"x\r\ny\",4\r\n5,6\r\n"] {
            let mut rows = RowLines::new(text);
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let lines: Vec<usize> = reader.records().map(|record| rows.at(record.unwrap().position())).collect();
            assert_eq!(lines, [2, 4, 6], "{text:?}");
        }
        assert_eq!(RowLines::new("").at(None), 1);
    }
}
