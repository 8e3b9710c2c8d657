//! Running a short command within a time: a scheduler that does not answer must not hold the farm.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// Most bytes of an answer.
const LIMIT: u64 = 8 << 20;

/// Runs a command with text on its standard input; its standard output.
///
/// # Errors
/// When it cannot be started, fails, or takes longer than `patience`.
pub(super) fn run(program: &str, arguments: &[String], input: &str, patience: Duration) -> Result<String> {
    let fail = |reason: String| Error::Start { node: format!("`{program}`"), reason };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| fail(error.to_string()))?;
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(fail("it has no input or output".to_owned()));
    };
    let text = input.to_owned();
    let read = |pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            // What was read before an error is what there is.
            let _ = pipe.take(LIMIT).read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        })
    };
    let (said, complained) = (read(Box::new(stdout)), read(Box::new(stderr)));
    let writer = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let deadline = Instant::now() + patience;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                break Err(format!("it did not answer within {} s", patience.as_secs()));
            }
            Err(error) => break Err(error.to_string()),
        }
    };
    let status = status.map_err(&fail)?;
    let _ = writer.join();
    let (said, complained) = (said.join().unwrap_or_default(), complained.join().unwrap_or_default());
    if status.success() { Ok(said) } else { Err(fail(format!("{status}: {}", complained.trim()))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_or_hangs_is_told() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(run("cat", &[], "hello", Duration::from_secs(10)).unwrap(), "hello");
        assert!(run("false", &[], "", Duration::from_secs(10)).is_err());
        assert!(run("no-such-program", &[], "", Duration::from_secs(10)).is_err());
        let began = Instant::now();
        assert!(run("sleep", &words(&["30"]), "", Duration::from_millis(200)).is_err());
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}
