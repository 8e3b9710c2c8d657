//! The synthetic program whose statements have the mix that R. P. Weicker counted in real ones: "Dhrystone: a synthetic
//! systems programming benchmark" (Communications of the ACM 27, 1984), in the form of its version 2.1 (SIGPLAN Notices
//! 23, 1988). The text is this project's own.
//!
//! One run is the published sequence: 15 calls of procedures and functions that are never inlined; assignments of
//! numbers, characters, a record of one string and a string of 30 characters; a comparison of two such strings; and
//! steps through two arrays. The globals pass through `black_box` before each run, so that no run can be left out, and
//! the finished state holds the number of runs. The register variables of the original have no counterpart: compilers
//! choose registers themselves.

use std::cmp::Ordering;
use std::hint::black_box;

/// Characters of a string, its terminator included.
const LENGTH: usize = 31;
/// Elements of the list, rows and columns of the table.
const SIZE: usize = 50;

type Text = [u8; LENGTH];

const FIRST: Text = *b"THE BRAKE OF PRONY, FIRST TEXT\0";
const SECOND: Text = *b"THE BRAKE OF PRONY, OTHER TEXT\0";
const THIRD: Text = *b"THE BRAKE OF PRONY, THIRD TEXT\0";
const KEPT: Text = *b"THE BRAKE OF PRONY, A KEPT ONE\0";

/// As wide as the original's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum Sign {
    One,
    Two,
    Three,
    Four,
    #[expect(dead_code, reason = "the published enumeration has five values, of which the program sets four")]
    Five,
}

/// Index of a record: as wide as the pointer of the original, and never outside the records, so that no index is
/// checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum RecordLink {
    First,
    Second,
}

/// The part that is passed around and copied whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record {
    next: RecordLink,
    plain: Sign,
    sign: Sign,
    number: i32,
    text: Text,
}

/// The globals, aligned as those of a program are and not as the stack happens to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub struct Dhrystone {
    number: i32,
    flag: bool,
    one: u8,
    two: u8,
    list: [i32; SIZE],
    table: [[i32; SIZE]; SIZE],
    /// The first record of the procedures; it and its copy refer to each other as the next.
    head: RecordLink,
    records: [Record; 2],
}

/// The locals of a run at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
struct Locals {
    one: i32,
    two: i32,
    three: i32,
    sign: Sign,
    first: Text,
    second: Text,
}

/// Procedures and functions that a run calls.
pub const CALLS: u64 = 15;

impl Default for Dhrystone {
    fn default() -> Self {
        let blank =
            Record { next: RecordLink::Second, plain: Sign::One, sign: Sign::One, number: 0, text: [0; LENGTH] };
        let head = Record { next: RecordLink::Second, plain: Sign::One, sign: Sign::Three, number: 40, text: KEPT };
        let mut table = [[0; SIZE]; SIZE];
        table[8][7] = 10;
        Self {
            number: 0,
            flag: false,
            one: 0,
            two: 0,
            list: [0; SIZE],
            table,
            head: RecordLink::First,
            records: [head, blank],
        }
    }
}

impl Dhrystone {
    /// Does `runs` runs on fresh globals and returns a checksum of all variables that the published program prints at
    /// its end, including the number of runs modulo 2^32.
    #[must_use]
    pub fn runs(runs: u64) -> u64 {
        let mut globals = Self::default();
        let mut locals = Locals { one: 0, two: 0, three: 0, sign: Sign::One, first: FIRST, second: [0; LENGTH] };
        for number in 0..runs {
            run(black_box(&mut globals), &mut locals, number as i32);
        }
        globals.sum(&locals)
    }

    /// Expected result of [`Dhrystone::runs`] (for at least one run), from the published values.
    #[must_use]
    pub fn expected(runs: u64) -> u64 {
        let next = Record { next: RecordLink::Second, plain: Sign::One, sign: Sign::Two, number: 18, text: KEPT };
        let head = Record { next: RecordLink::Second, plain: Sign::One, sign: Sign::Three, number: 17, text: KEPT };
        let mut globals =
            Self { number: 5, flag: true, one: b'A', two: b'B', records: [head, next], ..Self::default() };
        globals.list[8] = 7;
        globals.table[8][7] = (runs as i32).wrapping_add(10);
        globals.sum(&Locals { one: 5, two: 13, three: 7, sign: Sign::Two, first: FIRST, second: SECOND })
    }

    fn sum(&self, locals: &Locals) -> u64 {
        let [head, next] = &self.records;
        let numbers = [
            self.number,
            self.flag.into(),
            self.one.into(),
            self.two.into(),
            self.list[8],
            self.table[8][7],
            head.plain as i32,
            head.sign as i32,
            head.number,
            next.plain as i32,
            next.sign as i32,
            next.number,
            locals.one,
            locals.two,
            locals.three,
            locals.sign as i32,
        ];
        let texts = [head.text, next.text, locals.first, locals.second];
        let bytes = numbers.into_iter().flat_map(i32::to_le_bytes).chain(texts.into_iter().flatten());
        // FNV-1a.
        bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }
}

#[inline(never)]
fn run(globals: &mut Dhrystone, locals: &mut Locals, number: i32) {
    reset(globals);
    letters(globals);
    locals.one = 2;
    locals.two = 3;
    locals.second = SECOND;
    locals.sign = Sign::Two;
    globals.flag = !is_later(globals, &locals.first, &locals.second);
    while locals.one < locals.two {
        locals.three = 5 * locals.one - locals.two;
        plus_two(locals.one, locals.two, &mut locals.three);
        locals.one += 1;
    }
    arrays(globals, locals.one, locals.three);
    let head = globals.head;
    record(globals, head);
    let mut letter = b'A';
    while letter <= globals.two {
        if locals.sign == same(globals, letter, b'C') {
            choose(globals, Sign::One, &mut locals.sign);
            locals.second = THIRD;
            locals.two = number;
            globals.number = number;
        }
        letter += 1;
    }
    locals.two *= locals.one;
    locals.one = locals.two.wrapping_div(locals.three);
    locals.two = 7 * (locals.two - locals.three) - locals.one;
    settle(globals, &mut locals.one);
}

#[inline(never)]
fn record(globals: &mut Dhrystone, at: RecordLink) {
    let next = globals.records[at as usize].next;
    globals.records[next as usize] = globals.records[globals.head as usize];
    globals.records[at as usize].number = 5;
    globals.records[next as usize].number = globals.records[at as usize].number;
    globals.records[next as usize].next = globals.records[at as usize].next;
    let mut link = globals.records[next as usize].next;
    follow(globals, &mut link);
    globals.records[next as usize].next = link;
    if globals.records[next as usize].plain == Sign::One {
        globals.records[next as usize].number = 6;
        let mut sign = globals.records[next as usize].sign;
        choose(globals, globals.records[at as usize].sign, &mut sign);
        globals.records[next as usize].sign = sign;
        globals.records[next as usize].next = globals.records[globals.head as usize].next;
        plus_two(globals.records[next as usize].number, 10, &mut globals.records[next as usize].number);
    } else {
        globals.records[at as usize] = globals.records[next as usize];
    }
}

#[inline(never)]
fn settle(globals: &mut Dhrystone, number: &mut i32) {
    let mut local = *number + 10;
    let mut sign = Sign::Two;
    while sign != Sign::One {
        if globals.one == b'A' {
            local -= 1;
            *number = local - globals.number;
            sign = Sign::One;
        }
    }
}

#[inline(never)]
fn follow(globals: &mut Dhrystone, link: &mut RecordLink) {
    *link = globals.records[globals.head as usize].next;
    plus_two(10, globals.number, &mut globals.records[globals.head as usize].number);
}

#[inline(never)]
fn letters(globals: &mut Dhrystone) {
    let is_first = globals.one == b'A';
    globals.flag |= is_first;
    globals.two = b'B';
}

#[inline(never)]
fn reset(globals: &mut Dhrystone) {
    globals.one = b'A';
    globals.flag = false;
}

#[inline(never)]
fn choose(globals: &Dhrystone, sign: Sign, chosen: &mut Sign) {
    *chosen = sign;
    if !is_third(sign) {
        *chosen = Sign::Four;
    }
    match sign {
        Sign::One => *chosen = Sign::One,
        Sign::Two => *chosen = if globals.number > 100 { Sign::One } else { Sign::Four },
        Sign::Three => *chosen = Sign::Two,
        Sign::Four => {}
        Sign::Five => *chosen = Sign::Three,
    }
}

#[inline(never)]
fn plus_two(one: i32, two: i32, sum: &mut i32) {
    let local = one + 2;
    *sum = two + local;
}

#[inline(never)]
fn arrays(globals: &mut Dhrystone, one: i32, two: i32) {
    let at = (one + 5) as usize;
    // One check for all indices.
    assert!((1..SIZE - 30).contains(&at), "the index of the published program");
    globals.list[at] = two;
    globals.list[at + 1] = globals.list[at];
    globals.list[at + 30] = at as i32;
    for column in at..at + 2 {
        globals.table[at][column] = at as i32;
    }
    globals.table[at][at - 1] = globals.table[at][at - 1].wrapping_add(1);
    globals.table[at + 20][at] = globals.list[at];
    globals.number = 5;
}

#[inline(never)]
fn same(globals: &mut Dhrystone, one: u8, two: u8) -> Sign {
    let local = one;
    if local != two {
        return Sign::One;
    }
    globals.one = local;
    Sign::Two
}

#[inline(never)]
fn is_later(globals: &mut Dhrystone, first: &Text, second: &Text) -> bool {
    let mut at = 2;
    let mut letter = 0;
    while at <= 2 {
        if same(globals, first[at], second[at + 1]) == Sign::One {
            letter = b'A';
            at += 1;
        }
    }
    if (b'W'..b'Z').contains(&letter) {
        at = 7;
    }
    if letter == b'R' {
        return true;
    }
    // The length is opaque, so that the library compares instead of two vector instructions. It is one value, so that
    // it is checked once.
    let length = black_box(LENGTH).min(LENGTH);
    if first[..length].cmp(&second[..length]) == Ordering::Greater {
        globals.number = at as i32 + 7;
        return true;
    }
    false
}

#[inline(never)]
fn is_third(sign: Sign) -> bool {
    let local = sign;
    local == Sign::Three
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_the_published_one() {
        for runs in [1, 2, 3, 1000, 12_345] {
            assert_eq!(Dhrystone::runs(runs), Dhrystone::expected(runs), "{runs} runs");
        }
        assert_ne!(Dhrystone::runs(99), Dhrystone::expected(100));
        assert_ne!(Dhrystone::runs(0), Dhrystone::expected(0), "nothing was done");
    }
}
