//! Entering the kernel by the instruction itself, without a function of the C library around it.
//!
//! Loops of a call through such a function have sharp levels, 7 to 20% apart, that last for thousands of calls, most likely
//! mispredictions of its branches; loops of the instruction have none (METHODOLOGY, "Levels of system calls").

/// Calls the kernel without arguments; a negative result is an error number.
///
/// # Safety
/// The call must need no arguments and access no memory of this process.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call around the instruction is what this avoids")]
pub(super) unsafe fn enter(number: libc::c_long) -> isize {
    // SAFETY: the caller's promise; unused arguments are ignored.
    unsafe { enter_with(number, [0; 3]) }
}

/// Calls the kernel with up to three arguments; a negative result is an error number.
///
/// # Safety
/// As the call requires of its arguments.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call around the instruction is what this avoids")]
pub(super) unsafe fn enter_with(number: libc::c_long, arguments: [usize; 3]) -> isize {
    let result: isize;
    // SAFETY: the instruction changes the declared registers alone; memory is the caller's promise.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Calls the kernel with up to three arguments; a negative result is an error number.
///
/// # Safety
/// As the call requires of its arguments.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call around the instruction is what this avoids")]
pub(super) unsafe fn enter_with(number: libc::c_long, arguments: [usize; 3]) -> isize {
    let result: isize;
    // SAFETY: the instruction changes the declared register alone; memory is the caller's promise.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number as usize,
            inlateout("x0") arguments[0] as isize => result,
            in("x1") arguments[1],
            in("x2") arguments[2],
            options(nostack),
        );
    }
    result
}

/// Calls the kernel with up to three arguments; a negative result is an error number.
///
/// # Safety
/// As the call requires of its arguments.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) unsafe fn enter_with(number: libc::c_long, arguments: [usize; 3]) -> isize {
    // SAFETY: the caller's promise.
    let result = unsafe { libc::syscall(number, arguments[0], arguments[1], arguments[2]) };
    if result < 0 { -(std::io::Error::last_os_error().raw_os_error().unwrap_or(0) as isize) } else { result as isize }
}
