//! Programs that do not read, do not end, or leave a process that holds their pipes: every wait ends.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use os::process::{Attended, EndingOutput, Stream, Supervised, Supply, TimedInput, serve};

/// Far more than these tests take; a wait without a limit would be much longer.
const LONG: Duration = Duration::from_secs(100);
/// Time for which an escaped process would hold a pipe.
const ESCAPED: &str = "setsid sleep 1000 & echo $!";

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

fn start(script: &str, input: Option<Vec<u8>>) -> Supervised {
    Supervised::start(&mut shell(script), Supply { input, own_group: true, ..Supply::default() }).unwrap()
}

/// Reads the output of a program to its end: the reason of the end, and the output.
fn read_until(program: &mut Supervised, patience: Duration) -> (Attended, String) {
    let mut said = Vec::new();
    let why = program
        .read_until(Instant::now() + patience, LONG, &|| false, &mut |stream, bytes| {
            if stream == Stream::Output {
                said.extend_from_slice(bytes);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    (why, String::from_utf8(said).unwrap())
}

/// Ends a process that escaped its group, which only a test that started it can identify.
fn bury(pid: &str) {
    os::process::send(pid.trim().parse().unwrap(), Some(kernels::signal::Signal::Kill)).unwrap();
}

#[test]
fn input_goes_in_and_output_comes_out_whatever_their_size() {
    let text = "0123456789abcdef".repeat(100_000);
    let mut program = start("cat; echo end >&2", Some(text.clone().into_bytes()));
    let (why, said) = read_until(&mut program, LONG);
    assert_eq!((why, said == text), (Attended::Ended, true));
    assert!(program.over() && program.ended().unwrap().1.success());
}

#[test]
fn what_escaped_the_group_and_holds_the_pipes_is_not_waited_for() {
    let began = Instant::now();
    let mut program = start(&format!("{ESCAPED}; echo said; exit 3"), None);
    let (why, said) = read_until(&mut program, LONG);
    let (pid, rest) = said.split_once('\n').unwrap();
    bury(pid);
    assert_eq!((why, rest), (Attended::Ended, "said\n"));
    assert_eq!(program.ended().unwrap().1.code(), Some(3));
    assert!(began.elapsed() < LONG / 2);
}

#[test]
fn what_escaped_and_never_falls_silent_is_not_heard_for_ever() {
    let mut program = start("setsid sh -c 'echo $$; exec yes' & sleep 0.3; exit 4", None);
    let (why, said) = read_until(&mut program, LONG);
    bury(said.split_once('\n').unwrap().0);
    assert_eq!((why, program.ended().unwrap().1.code()), (Attended::Ended, Some(4)));
}

#[test]
fn a_program_that_does_not_read_is_given_up_at_the_deadline() {
    let mut program = start("exec sleep 1000", Some(vec![b'x'; 1 << 22]));
    assert_eq!(read_until(&mut program, Duration::from_millis(300)).0, Attended::Late);
    let status = program.end(Duration::ZERO, &mut |_, _| {}).unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
}

#[test]
fn a_stop_is_followed_and_a_listener_may_have_enough() {
    let mut program = start("echo word; exec sleep 1000", None);
    let enough =
        program.read_until(Instant::now() + LONG, LONG, &|| false, &mut |_, _| ControlFlow::Break(())).unwrap();
    assert_eq!(enough, Attended::Enough);
    let stopped = program
        .read_until(Instant::now() + LONG, Duration::from_millis(5), &|| true, &mut |_, _| ControlFlow::Continue(()))
        .unwrap();
    assert_eq!(stopped, Attended::Stopped);
}

#[test]
fn many_programs_are_heard_at_once_and_each_by_its_place() {
    let mut programs: Vec<Supervised> = (0..20).map(|n| start(&format!("echo {n}"), None)).collect();
    let mut said = vec![String::new(); programs.len()];
    let deadline = Instant::now() + LONG;
    while !programs.iter().all(Supervised::over) && Instant::now() < deadline {
        serve(&mut programs, LONG, &mut |place, _, bytes| said[place].push_str(std::str::from_utf8(bytes).unwrap()))
            .unwrap();
    }
    assert!(said.iter().enumerate().all(|(n, text)| text == &format!("{n}\n")), "{said:?}");
    assert!(programs.iter().all(|program| program.ended().is_some_and(|(_, status)| status.success())));
}

#[test]
fn a_conversation_has_deadlines_too() {
    let mut child =
        shell(&format!("{ESCAPED}; exec sleep 0.2")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = TimedInput::new(child.stdin.take().unwrap(), Duration::from_millis(100)).unwrap();
    let error = input.write_all(&vec![b'x'; 1 << 22]).unwrap_err();
    assert!(matches!(error.kind(), std::io::ErrorKind::TimedOut | std::io::ErrorKind::BrokenPipe), "{error}");
    let output = child.stdout.take().unwrap();
    let mut said = String::new();
    let pid = child.id().cast_signed();
    EndingOutput::new(output, pid).unwrap().read_to_string(&mut said).unwrap();
    bury(&said);
    assert!(child.wait().unwrap().success());
}
