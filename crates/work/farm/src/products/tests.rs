//! Products of attempts: published once, finished after a crash, refused where they leave their directory.

use super::*;

fn made(folder: &ProductFolder, chunk: u64, number: u64, text: &str) -> Vec<Product> {
    let place = folder.begin(chunk, number).unwrap();
    fs::create_dir(place.join("deep")).unwrap();
    fs::write(place.join("a"), text).unwrap();
    fs::write(place.join("deep/b"), "b").unwrap();
    folder.collect(chunk, number).unwrap()
}

#[test]
fn the_files_of_the_attempt_that_counts_are_published_once() {
    let root = tempfile::tempdir().unwrap();
    let folder = ProductFolder::create(root.path(), "run").unwrap();
    let (first, second) = (made(&folder, 7, 1, "first"), made(&folder, 7, 2, "second!"));
    assert_eq!(first.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["a", "deep/b"]);
    assert_eq!((folder.left().unwrap().len(), folder.strangers(&|_| true).unwrap().len()), (2, 0));
    folder.publish(7, 1, &first).unwrap();
    // Again, as after an answer that was lost.
    folder.publish(7, 1, &first).unwrap();
    assert!(folder.publish(7, 2, &second).is_err(), "another file was replaced");
    assert_eq!(fs::read_to_string(folder.of_chunk(7).join("a")).unwrap(), "first");
    folder.discard(7, 2).unwrap();
    assert!(
        folder.faults(7, &first, true).unwrap().is_empty() && folder.strangers(&|chunk| chunk == 7).unwrap().is_empty()
    );
    assert_eq!(folder.faults(7, &second, true).unwrap().len(), 1);
    assert_eq!(folder.faults(7, &first[..1], true).unwrap().len(), 1, "a file that is not in the ledger");
    assert_eq!(folder.strangers(&|_| false).unwrap().len(), 1);
    fs::write(folder.of_chunk(7).join("a"), "fIrst").unwrap();
    assert!(folder.faults(7, &first, true).unwrap()[0].contains("other contents"));
    fs::remove_file(folder.of_chunk(7).join("deep/b")).unwrap();
    assert_eq!(folder.faults(7, &first, true).unwrap().len(), 2);
}

#[test]
fn a_crash_anywhere_in_publishing_is_finished() {
    for step in 0..4 {
        let root = tempfile::tempdir().unwrap();
        let folder = ProductFolder::create(root.path(), "run").unwrap();
        let products = made(&folder, 0, 5, "mine");
        let (target, place) = (folder.of_chunk(0), root.path().join(".attempts/0-5"));
        made(&folder, 0, 6, "late");
        made(&folder, 1, 7, "open");
        // Leftovers of a process that died after this many steps.
        if step > 0 {
            fs::create_dir_all(target.join("deep")).unwrap();
            fs::hard_link(place.join("a"), target.join("a")).unwrap();
        }
        if step > 1 {
            fs::hard_link(place.join("deep/b"), target.join("deep/b")).unwrap();
        }
        if step > 2 {
            fs::remove_file(place.join("a")).unwrap();
        }
        let settled = folder.settle(&mut |chunk| Ok((chunk == 0).then(|| (5, products.clone())))).unwrap();
        assert_eq!(settled, Settled { published: 1, removed: 1, open: 1, lost: 0 }, "{step}");
        assert_eq!(folder.faults(0, &products, true).unwrap(), Vec::<String>::new(), "{step}");
    }
}

#[test]
fn another_run_and_a_directory_that_is_not_mounted_are_refused() {
    let root = tempfile::tempdir().unwrap();
    assert!(ProductFolder::join(root.path(), "run").is_err());
    ProductFolder::create(root.path(), "run").unwrap();
    ProductFolder::create(root.path(), "run").unwrap();
    ProductFolder::join(root.path(), "run").unwrap();
    assert!(ProductFolder::create(root.path(), "other").unwrap_err().to_string().contains("another run, run"));
}

#[test]
fn names_that_leave_their_directory_are_not_sound() {
    let named = |name: &str| Product { name: name.to_owned(), bytes: 0, sha256: "0".repeat(64) };
    assert!(named("a/b.root").is_sound());
    for name in ["", "/etc/passwd", "../a", "a/../../b", "a\n", &"x".repeat(201)] {
        assert!(!named(name).is_sound(), "{name}");
    }
    assert!(!Product { sha256: "0".repeat(63), ..named("a") }.is_sound());
    let root = tempfile::tempdir().unwrap();
    let folder = ProductFolder::create(root.path(), "run").unwrap();
    let place = folder.begin(0, 1).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place.join("link")).unwrap();
    assert!(folder.collect(0, 1).is_err(), "a symbolic link was taken for a product");
}

/// A list that no message holds would be offered again for ever.
#[test]
fn names_that_no_message_holds_are_a_failure_of_the_chunk() {
    let root = tempfile::tempdir().unwrap();
    let folder = ProductFolder::create(root.path(), "run").unwrap();
    let name = |file: usize, mark: &str| format!("{file:03}{}", mark.repeat(MAX_NAME - 3));
    let make = |number: u64, mark: &str| {
        let place = folder.begin(0, number).unwrap();
        (0..MAX_FILES).for_each(|file| fs::write(place.join(name(file, mark)), "").unwrap());
        folder.collect(0, number)
    };
    let plain = make(1, "x").unwrap();
    assert_eq!(plain.len(), MAX_FILES);
    let said = make(2, "\"").unwrap_err().to_string();
    assert!(said.contains("names of 128 files take"), "{said}");
}
