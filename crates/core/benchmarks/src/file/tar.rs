//! A stream in the format of `tar` (POSIX.1-2017, pax, "ustar interchange format"), written without end, and its
//! reader.

use crate::BenchmarkError;

/// Bytes of a header, and the unit of all sizes.
pub(super) const HEADER: u64 = 512;
/// Bytes of each member that [`Writer`] writes.
pub(super) const MEMBER: u64 = 1 << 20;

const SIZE: std::ops::Range<usize> = 124..136;
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// The header of member `number`.
pub(super) fn header(number: u64) -> [u8; HEADER as usize] {
    let mut header = [0; HEADER as usize];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, &format!("member-{number:010}"));
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(SIZE.start, &format!("{MEMBER:011o}\0"));
    put(136, "00000000000\0");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum = checksum(&header);
    header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// Sum of the bytes of a header, with its checksum field as blanks.
fn checksum(header: &[u8]) -> u64 {
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    sum(header) - sum(&header[CHECKSUM]) + 8 * u64::from(b' ')
}

/// Number of headers in the first `bytes` of a stream that [`TarWriter`] writes.
pub(super) fn headers_until(bytes: u64) -> u64 {
    (bytes + MEMBER) / (HEADER + MEMBER)
}

/// Writes members in sequence.
#[derive(Debug, Default)]
pub(super) struct TarWriter {
    at: u64,
}

impl TarWriter {
    /// Fills a record with the next bytes of the stream; `content` is that of every member, [`MEMBER`] bytes.
    pub(super) fn fill(&mut self, record: &mut [u8], content: &[u8]) {
        let mut filled = 0;
        while filled < record.len() {
            let (number, within) = (self.at / (HEADER + MEMBER), self.at % (HEADER + MEMBER));
            let head;
            let source: &[u8] = if within < HEADER {
                head = header(number);
                &head[within as usize..]
            } else {
                &content[(within - HEADER) as usize..]
            };
            let count = source.len().min(record.len() - filled);
            record[filled..filled + count].copy_from_slice(&source[..count]);
            filled += count;
            self.at += count as u64;
        }
    }
}

/// Reads members, checking each header.
#[derive(Debug)]
pub(super) struct TarReader {
    /// Bytes of the present member that follow, padding included.
    rest: u64,
    header: [u8; HEADER as usize],
    filled: usize,
    /// Headers read.
    pub(super) headers: u64,
}

impl Default for TarReader {
    fn default() -> Self {
        Self { rest: 0, header: [0; HEADER as usize], filled: 0, headers: 0 }
    }
}

impl TarReader {
    /// Reads the next bytes of the stream. `false` at the end of the archive.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> Result<bool, BenchmarkError> {
        while !bytes.is_empty() {
            if self.rest > 0 {
                let count = self.rest.min(bytes.len() as u64);
                self.rest -= count;
                bytes = &bytes[count as usize..];
                continue;
            }
            let count = bytes.len().min(self.header.len() - self.filled);
            self.header[self.filled..self.filled + count].copy_from_slice(&bytes[..count]);
            self.filled += count;
            bytes = &bytes[count..];
            if self.filled == self.header.len() {
                self.filled = 0;
                if self.header.iter().all(|byte| *byte == 0) {
                    return Ok(false);
                }
                self.rest = content(&self.header)?.next_multiple_of(HEADER);
                self.headers += 1;
            }
        }
        Ok(true)
    }
}

/// Length of the content that follows a header, bytes.
fn content(header: &[u8]) -> Result<u64, BenchmarkError> {
    let broken = || BenchmarkError::new("the data is not a tar stream: a header is invalid");
    let octal = |field: &[u8]| {
        let text = std::str::from_utf8(field).ok()?;
        u64::from_str_radix(text.trim_matches(['\0', ' ']), 8).ok()
    };
    let sum = octal(&header[CHECKSUM]).ok_or_else(broken)?;
    if sum != checksum(header) {
        return Err(broken());
    }
    // Sizes beyond eight gibibytes are base-256 with the first bit set (GNU tar).
    match header[SIZE.start] & 0x80 {
        0 => octal(&header[SIZE]).ok_or_else(broken),
        _ => Ok(header[SIZE.end - 8..SIZE.end].iter().fold(0, |size, byte| size << 8 | u64::from(*byte))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_streams_are_read_in_records_of_any_size() {
        let content: Vec<u8> = (0..MEMBER).map(|index| (index % 251) as u8).collect();
        for record in [512, 10_240, 65_536, 1 << 20, 1_000_000] {
            let (mut writer, mut reader) = (TarWriter::default(), TarReader::default());
            let (mut buffer, mut total) = (vec![0; record], 0);
            for _ in 0..40 {
                writer.fill(&mut buffer, &content);
                assert!(reader.take(&buffer).unwrap());
                total += record as u64;
                assert_eq!(reader.headers, headers_until(total), "{record} {total}");
            }
        }
    }

    #[test]
    fn the_end_and_damage_are_detected() {
        let mut reader = TarReader::default();
        assert!(!reader.take(&[0; 1024]).unwrap());
        let mut broken = header(3);
        broken[5] ^= 1;
        assert!(TarReader::default().take(&broken).is_err());
        assert!(TarReader::default().take(&[7; 512]).is_err());
        let mut large = header(0);
        large[SIZE].copy_from_slice(&[0x80, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
        let sum = checksum(&large);
        large[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert_eq!(content(&large).unwrap(), 1 << 34);
    }

    /// The system's tar, if there is one, agrees.
    #[test]
    fn tar_lists_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("archive");
        let mut archive = vec![0; 2 * (HEADER + MEMBER) as usize];
        TarWriter::default().fill(&mut archive, &vec![1; MEMBER as usize]);
        archive.extend([0; 1024]);
        std::fs::write(&path, archive).unwrap();
        match std::process::Command::new("tar").arg("tf").arg(&path).output() {
            Ok(output) => assert_eq!(output.stdout, b"member-0000000000\nmember-0000000001\n"),
            Err(error) => testing::skip!("there is no tar: {error}"),
        }
    }
}
