//! Round trips of a remote procedure call by the operating system's RPC library.
//!
//! The client and the server are one C program, compiled here against libtirpc: the library that programs of today have
//! in place of the C library's own. Neither asks rpcbind: the port is known. The library polls before it reads, on both
//! sides.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::rc::Rc;

use super::remote::procedure;
use crate::peer_process::fold;
use crate::{BatchWork, BenchmarkContext, BenchmarkError, Kernel, Scratch, Unsupported, tool};

/// The program. Its argument is the protocol, and the server's CPU unless it is not pinned. It prints the server's
/// process id. Then, for each line with a count and a character, it prints the token of that many calls.
const PROGRAM: &str = include_str!("rpc_library.c");
/// Usual directories of the headers.
const HEADERS: [&str; 2] = ["/usr/include/tirpc", "/usr/local/include/tirpc"];

pub(super) struct LibraryCalls {
    program: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    _files: Rc<Scratch>,
    began: u8,
    character: u8,
}

impl LibraryCalls {
    /// Compiles the program and starts it over `protocol`: `udp` or `tcp`.
    pub(super) fn start(context: &mut BenchmarkContext, protocol: &str) -> Result<Self, Unsupported> {
        let files = context.scratch()?;
        let path = compile(&files, context)?;
        let mut command = tool::command(&path, files.path());
        command.arg(protocol).args(context.cpu(1).map(|cpu| cpu.to_string()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().map_err(|error| tool::start_fault(&command, &error))?;
        let (Some(to), Some(from)) = (program.stdin.take(), program.stdout.take()) else {
            return Err(Unsupported::new("the RPC program has no input or output"));
        };
        let character = context.seed() as u8;
        let mut calls = Self { program, to, from: BufReader::new(from), _files: files, began: character, character };
        let server = calls.line()?;
        let server: i32 = server.parse().map_err(|_| Unsupported::new(format!("the RPC program says: {server}")))?;
        context.watch(1, server);
        Ok(calls)
    }

    fn line(&mut self) -> Result<String, BenchmarkError> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        if line.ends_with('\n') {
            return Ok(line.trim_end().to_owned());
        }
        Err(BenchmarkError::new("the program that calls by the RPC library ended"))
    }
}

/// Compiles the program into a directory of this sample, and notes the library.
fn compile(files: &Rc<Scratch>, context: &mut BenchmarkContext) -> Result<PathBuf, Unsupported> {
    let compiler = tool::find(&["cc", "gcc", "clang"])?;
    let headers = HEADERS.iter().find(|path| std::path::Path::new(path).is_dir());
    let headers = headers.ok_or_else(|| Unsupported::new("the headers of libtirpc are not installed"))?;
    std::fs::write(files.path().join("rpc.c"), PROGRAM)?;
    let mut command = tool::command(&compiler, files.path());
    command.args(["-O2", "-I", headers, "-o", "rpc", "rpc.c", "-ltirpc"]);
    tool::output(&mut command)
        .map_err(|fault| Unsupported::new(format!("no program can be made with libtirpc: {fault}")))?;
    context.note("messages by libtirpc, which polls before it reads");
    Ok(files.path().join("rpc"))
}

impl Kernel for LibraryCalls {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.character;
        writeln!(self.to, "{ops} {}", self.character)?;
        let answer = self.line()?;
        let mut words = answer.split(' ').map(str::parse::<u64>);
        match (words.next(), words.next()) {
            (Some(Ok(token)), Some(Ok(character))) => {
                self.character = character as u8;
                Ok(BatchWork { ops, token })
            }
            _ => Err(BenchmarkError::new(format!("the program that calls by the RPC library says: {answer}"))),
        }
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let (mut character, mut token) = (self.began, 0);
        for _ in 0..done.ops {
            character = procedure(character);
            token = fold(token, u64::from(character));
        }
        BenchmarkError::unless_equal((done.token, self.character), (token, character))
    }

    /// Each batch sends one line to the program, which must be little compared with its calls.
    fn granule(&self) -> u64 {
        1000
    }
}

impl Drop for LibraryCalls {
    fn drop(&mut self) {
        // It has no other work, and its server ends with it.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
