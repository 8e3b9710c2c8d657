//! Descriptors, direct I/O, locks and pipes work as documented on any machine.
#![allow(clippy::unwrap_used, reason = "all of this is a test")]

use std::fs::OpenOptions;
use std::os::fd::AsFd;

use kernels::file::{self, Advice, AlignedBuffer, Lock};

#[test]
fn bare_calls_read_what_was_written() {
    let file = tempfile::tempfile().unwrap();
    assert_eq!(file::write(&file, b"hello").unwrap(), 5);
    assert_eq!(file::write_at(&file, b"J", 0).unwrap(), 1);
    let mut back = [0u8; 8];
    assert_eq!(file::read_at(&file, &mut back, 1).unwrap(), 4);
    assert_eq!(&back[..4], b"ello");
    assert_eq!(file::read(&file, &mut back).unwrap(), 0);
    assert!(file::read_at(&file, &mut back, u64::MAX).is_err());
    file::sync(&file).unwrap();
    file::sync_data(&file).unwrap();
    file::advise(&file, Advice::DontNeed).unwrap();
    file::advise(&file, Advice::Sequential).unwrap();
    let (from, _to) = std::io::pipe().unwrap();
    assert!(file::advise(&from, Advice::Normal).is_err());
}

#[test]
fn direct_io_works_or_says_no() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("direct");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = match file::open_direct(&path, &options) {
        Ok(file) => file,
        Err(reason) => {
            testing::skip!("direct I/O: {reason}");
            return;
        }
    };
    let mut buffer = AlignedBuffer::new(64 * 1024).unwrap();
    buffer.fill(7);
    assert_eq!(file::write_at(&file, &buffer, 0).unwrap(), 64 * 1024);
    buffer.fill(0);
    assert_eq!(file::read_at(&file, &mut buffer, 0).unwrap(), 64 * 1024);
    assert!(buffer.iter().all(|byte| *byte == 7));
}

#[test]
fn locks_of_one_process_do_not_exclude() {
    let file = tempfile::tempfile().unwrap();
    file::set_lock(file.as_fd(), Some(Lock::Exclusive), 0, 10).unwrap();
    file::set_lock(file.as_fd(), Some(Lock::Exclusive), 5, 0).unwrap();
    assert!(file::set_lock(file.as_fd(), Some(Lock::Shared), u64::MAX, 0).is_err());
    let read_only = std::fs::File::open("/dev/null").unwrap();
    assert!(file::set_lock(read_only.as_fd(), Some(Lock::Exclusive), 0, 1).is_err());
}

#[test]
fn a_pipe_grows() {
    let (_from, to) = std::io::pipe().unwrap();
    let wanted = 128 * 1024;
    match file::set_pipe_capacity(&to, wanted) {
        Ok(got) => assert!(got >= wanted),
        Err(reason) => testing::skip!("{reason}"),
    }
    assert!(file::set_pipe_capacity(&to, usize::MAX).is_err());
}
