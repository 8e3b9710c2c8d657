//! A desk calculator at work.

use std::fs::{self, File};
use std::path::PathBuf;

use super::tool;
use crate::Scratch;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "shell.dc",
    title: "square root by dc",
    about: "Starts dc, which works out the square root of 2 to 99 places and prints it; each time the digits are compared.",
    metric: ProbeMetric::higher(Unit::PerSecond, "square roots"),
    class: Class::Process,
    stresses: &[Primitive::Fork, Primitive::Exec, Primitive::DynamicLink, Primitive::IntegerAlu],
    sources: &[
        DefinitionSource::new("BYTE", "Dc: sqrt(2) to 99 decimal places", "UnixBench, pgms/dc.dat"),
        DefinitionSource::new("CyberLife", "Dc: sqrt(2) to 99 decimal places", "CyberLife Labs notes, 2004"),
    ],
    batch: BatchRule::at_most(64),
    prepare,
    ..Probe::BLANK
};

struct Dc {
    program: PathBuf,
    files: Rc<Scratch>,
    expected: String,
}

fn prepare(_: &Point, bench: &mut ProbeContext) -> Result<Trial, Unsupported> {
    let program = tool::find(&["dc"])?;
    bench.note(format!("dc: {} is {}", program.display(), tool::version(&program, "--version")));
    let files = bench.scratch()?;
    fs::write(files.path().join("question"), "99k2vp\n")?;
    let mut dc = Dc { program, files, expected: root() };
    let done = dc.batch(1)?;
    dc.check(&done)?;
    Ok(Trial::one(dc))
}

const PLACES: usize = 99;

/// The square root of 2, cut after 99 places, digit by digit: the largest `d` with (20 r + d) d <= the rest, where r is the
/// root so far. The numbers are decimal digits, the last first.
fn root() -> String {
    let (mut root, mut rest) = (vec![], vec![2_u8]);
    for _ in 0..=PLACES {
        let mut digit = 0;
        // (20 r + d) d grows by 20 r + 2 d + 1 from one d to the next.
        loop {
            let mut step: Vec<u8> = vec![0];
            step.extend(double(&root));
            add(&mut step, 2 * digit + 1);
            match subtract(&rest, &step) {
                Some(less) => rest = less,
                None => break,
            }
            digit += 1;
        }
        root.insert(0, digit);
        rest.splice(0..0, [0, 0]);
    }
    let digits: String = root.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
    format!("{}.{}", &digits[..1], &digits[1..])
}

fn double(number: &[u8]) -> Vec<u8> {
    let mut result = vec![];
    let mut carry = 0;
    for digit in number {
        result.push((2 * digit + carry) % 10);
        carry = (2 * digit + carry) / 10;
    }
    result.push(carry);
    result
}

fn add(number: &mut Vec<u8>, mut carry: u8) {
    for digit in number.iter_mut() {
        let sum = *digit + carry % 10;
        carry = carry / 10 + sum / 10;
        *digit = sum % 10;
    }
    number.push(carry);
}

/// `None` where it would be negative.
fn subtract(from: &[u8], what: &[u8]) -> Option<Vec<u8>> {
    let mut result = vec![];
    let mut borrow = 0;
    for index in 0..from.len().max(what.len()) {
        let digit = |number: &[u8]| number.get(index).copied().unwrap_or(0).cast_signed();
        let difference = digit(from) - digit(what) - borrow;
        borrow = i8::from(difference < 0);
        result.push((difference + 10 * borrow).cast_unsigned());
    }
    (borrow == 0).then_some(result)
}

/// What dc printed: long numbers go on in the next line behind a backslash.
fn digits(printed: &[u8]) -> String {
    String::from_utf8_lossy(printed).chars().filter(|c| c.is_ascii_digit() || *c == '.').collect()
}

impl Kernel for Dc {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let mut right = 0;
        for _ in 0..ops {
            let mut command = tool::command(&self.program, self.files.path());
            let printed = tool::output(command.stdin(File::open(self.files.path().join("question"))?))?;
            right += u64::from(digits(&printed) == self.expected);
        }
        Ok(BatchWork { ops, token: right })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        ProbeError::unless_equal(done.token, done.ops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_that_of_the_tables() {
        let root = root();
        assert_eq!(root.len(), PLACES + 2);
        assert!(root.starts_with("1.4142135623730950488016887242096980785696718753769"));
        assert_eq!(digits(b"1.41\\\n42\n"), "1.4142");
    }
}
