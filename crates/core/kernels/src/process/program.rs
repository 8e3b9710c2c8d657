//! A program that can be started in four ways: everything that allocates happens before the fork.

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::ptr;

use crate::error::{Error, Result, check};
use crate::process::child::Child;

/// Exit status of a child whose `exec` failed, as in the shell.
const CANNOT_EXEC: i32 = 127;
const STACK: usize = 64 * 1024;

/// A null-terminated array of C strings that owns them through raw pointers, so that moving it keeps them valid.
#[derive(Debug)]
struct Strings(Vec<*mut libc::c_char>);

impl Strings {
    fn new(all: impl IntoIterator<Item = CString>) -> Self {
        let mut pointers: Vec<_> = all.into_iter().map(CString::into_raw).collect();
        pointers.push(ptr::null_mut());
        Self(pointers)
    }
}

impl Drop for Strings {
    fn drop(&mut self) {
        for pointer in self.0.iter().filter(|pointer| !pointer.is_null()) {
            // SAFETY: each pointer came from `CString::into_raw`, is freed once, and C code only read through it.
            drop(unsafe { CString::from_raw(*pointer) });
        }
    }
}

/// Path, arguments and environment of a program, prepared for starting it many times.
///
/// The program inherits the signals that this process ignores, which for a Rust program is SIGPIPE.
/// `std::process::Command` resets that with an additional system call.
#[derive(Debug)]
pub struct PreparedProgram {
    path: CString,
    arguments: Strings,
    environment: Strings,
    output: Option<File>,
    stack: Vec<u128>,
}

// SAFETY: the raw pointers are owned strings that nothing writes to; they are valid in every thread.
unsafe impl Send for PreparedProgram {}

impl PreparedProgram {
    /// The program at `path`, which is not searched for, with `arguments` after its own name and the present
    /// environment of this process.
    pub fn new(path: impl AsRef<Path>, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Self> {
        let path = path.as_ref();
        let c_path = c_string(path.as_os_str())?;
        let mut all = vec![c_path.clone()];
        for argument in arguments {
            all.push(c_string(argument.as_ref())?);
        }
        let environment = env::vars_os().map(assignment).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            path: c_path,
            arguments: Strings::new(all),
            environment: Strings::new(environment),
            output: None,
            stack: Vec::new(),
        })
    }

    /// Sends standard output of the started program to `/dev/null`.
    pub fn silent(mut self) -> Result<Self> {
        let null = File::options().write(true).open("/dev/null").map_err(|e| Error::os("open /dev/null", e))?;
        self.output = Some(null);
        Ok(self)
    }

    /// Starts it by fork and exec. A program that cannot be executed ends with status 127.
    pub fn fork_exec(&self) -> Result<Child> {
        // SAFETY: the child calls only `dup2`, `execve` and `_exit`, which are async-signal-safe, on memory prepared
        // before the fork.
        match unsafe { libc::fork() } {
            -1 => Err(Error::last("fork")),
            0 => self.become_program(),
            pid => Ok(Child::adopt(pid)),
        }
    }

    /// Starts it like `vfork` and exec: the child uses this process's memory until it execs, and this thread waits for
    /// that. Implemented by `clone(CLONE_VM | CLONE_VFORK)` with a separate stack, because a function that returns
    /// twice on one stack, as `vfork` does, cannot be called from Rust.
    pub fn vfork_exec(&mut self) -> Result<Child> {
        extern "C" fn start(program: *mut libc::c_void) -> libc::c_int {
            // SAFETY: the pointer is `this` below, a `PreparedProgram` that is alive because the parent waits until the
            // child execs or ends.
            unsafe { &*program.cast::<PreparedProgram>() }.become_program()
        }
        self.stack.resize(STACK / size_of::<u128>(), 0);
        // SAFETY: one past the end of the stack, as `clone` requires for stacks that grow down; aligned as a u128 is.
        let top = unsafe { self.stack.as_mut_ptr().add(self.stack.len()) };
        let this = ptr::from_ref::<Self>(self).cast_mut().cast();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the child runs `start` on its own 64 KiB, calls only async-signal-safe functions, changes no memory
        // but that stack and `errno`, and `CLONE_VFORK` suspends this thread until the child no longer uses its memory.
        let pid = check("vfork", unsafe { libc::clone(start, top.cast(), flags, this) })?;
        Ok(Child::adopt(pid))
    }

    /// Starts it by `posix_spawn`. A program that cannot be executed is an error here.
    pub fn spawn(&self) -> Result<Child> {
        let mut pid = 0;
        let actions = self.output.as_ref().map(|file| Actions::output_to(file.as_raw_fd())).transpose()?;
        let actions = actions.as_ref().map_or(ptr::null(), |actions| &raw const *actions.0);
        // SAFETY: path, arguments and environment are null-terminated and outlive the call; `actions` is null or
        // initialised; no attributes are given.
        let answer = unsafe {
            libc::posix_spawn(
                &raw mut pid,
                self.path.as_ptr(),
                actions,
                ptr::null(),
                self.arguments.0.as_ptr(),
                self.environment.0.as_ptr(),
            )
        };
        match answer {
            0 => Ok(Child::adopt(pid)),
            errno => Err(Error::os("spawn a program", std::io::Error::from_raw_os_error(errno))),
        }
    }

    /// Replaces this process by the program. Returns only if that failed.
    #[must_use = "this process goes on when it could not be replaced"]
    pub fn exec(&self) -> Error {
        if let Err(error) = self.redirect() {
            return error;
        }
        // SAFETY: path, arguments and environment are null-terminated and outlive the call.
        unsafe {
            libc::execve(self.path.as_ptr(), self.arguments.0.as_ptr().cast(), self.environment.0.as_ptr().cast())
        };
        Error::last(format!("execute {}", self.path.to_string_lossy()))
    }

    fn redirect(&self) -> Result<()> {
        match &self.output {
            // SAFETY: both descriptors are open; standard output is replaced, never closed.
            Some(file) => check("redirect output", unsafe { libc::dup2(file.as_raw_fd(), 1) }).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The child's part, with async-signal-safe calls only.
    fn become_program(&self) -> ! {
        if self.redirect().is_ok() {
            // SAFETY: path, arguments and environment are null-terminated and outlive the call.
            unsafe {
                libc::execve(self.path.as_ptr(), self.arguments.0.as_ptr().cast(), self.environment.0.as_ptr().cast())
            };
        }
        // SAFETY: ends the child immediately.
        unsafe { libc::_exit(CANNOT_EXEC) }
    }
}

/// File actions of `posix_spawn`, destroyed when dropped.
struct Actions(Box<libc::posix_spawn_file_actions_t>);

impl Actions {
    fn output_to(fd: RawFd) -> Result<Self> {
        const WHAT: &str = "prepare the output of a program";
        // SAFETY: every pattern of bits is valid for the C structure; `init` initialises it before any other use.
        let mut actions: Box<libc::posix_spawn_file_actions_t> = Box::new(unsafe { std::mem::zeroed() });
        // SAFETY: the structure is valid and writable.
        let answer = unsafe { libc::posix_spawn_file_actions_init(&raw mut *actions) };
        if answer != 0 {
            return Err(Error::os(WHAT, std::io::Error::from_raw_os_error(answer)));
        }
        let mut actions = Self(actions);
        // SAFETY: the structure is initialised.
        match unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut *actions.0, fd, 1) } {
            0 => Ok(actions),
            errno => Err(Error::os(WHAT, std::io::Error::from_raw_os_error(errno))),
        }
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: initialised in `output_to`, destroyed once.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut *self.0) };
    }
}

fn c_string(text: &OsStr) -> Result<CString> {
    CString::new(text.as_bytes())
        .map_err(|_| Error::refused("start a program", format!("{text:?} contains a zero byte")))
}

fn assignment((name, value): (OsString, OsString)) -> Result<CString> {
    let mut both = name.into_vec();
    both.push(b'=');
    both.extend(value.into_vec());
    c_string(&OsString::from_vec(both))
}
