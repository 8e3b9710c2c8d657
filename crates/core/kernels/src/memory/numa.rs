//! On which NUMA nodes memory lies: asked for by `set_mempolicy(2)`, and looked up by `move_pages(2)`.

use crate::error::{Error, Result};
use crate::memory::{Arena, page_size};

/// Pages of an arena that are looked up: spread evenly, for every page of a large one would take long.
const LOOKED_AT: usize = 256;
/// Nodes that a mask of ours can name.
const NODES: usize = 1024;
const WORD: usize = libc::c_ulong::BITS as usize;

type NodeMask = [libc::c_ulong; NODES / WORD];

/// A memory policy of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemoryPolicy {
    /// With its flags.
    mode: libc::c_int,
    mask: NodeMask,
}

impl MemoryPolicy {
    const DEFAULT: Self = Self { mode: libc::MPOL_DEFAULT, mask: [0; NODES / WORD] };

    /// The policy of this thread, inherited from the program's parent (`numactl`); the default one if the kernel does
    /// not report it, as under a filter of system calls.
    fn current() -> Self {
        let mut policy = Self::DEFAULT;
        // SAFETY: the kernel writes the mode and at most `NODES` bits of the mask; no address is looked up.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut policy.mode,
                policy.mask.as_mut_ptr(),
                NODES as libc::c_ulong,
                std::ptr::null::<u8>(),
                0 as libc::c_ulong,
            )
        };
        if answer == 0 { policy } else { Self::DEFAULT }
    }

    /// Makes it the policy of this thread.
    fn set(&self, what: &'static str) -> Result<()> {
        // Policies without nodes take no mask.
        let named = self.mask.iter().any(|word| *word != 0);
        let (mask, bits) = if named { (self.mask.as_ptr(), NODES + 1) } else { (std::ptr::null(), 0) };
        // SAFETY: the pointer and the number of bits describe the mask, which the kernel only reads; it counts one bit
        // more than it looks at.
        let answer = unsafe { libc::syscall(libc::SYS_set_mempolicy, self.mode, mask, bits as libc::c_ulong) };
        crate::error::check(what, i32::try_from(answer).unwrap_or(-1)).map(|_| ())
    }
}

/// Does something while memory that this thread touches first comes from one node, and nowhere else. Threads started in
/// it inherit that.
///
/// # Errors
/// When the kernel has no such node, or does not know NUMA; else what `work` says.
pub fn on_node<T, E: From<Error>>(
    node: usize,
    work: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    /// Puts the former policy back, also where the work panics.
    struct FormerPolicy(MemoryPolicy);
    impl Drop for FormerPolicy {
        fn drop(&mut self) {
            // The kernel gave it, so it takes it; a failure has no remedy.
            let _ = self.0.set("restore the memory policy");
        }
    }
    let what = "take memory from one NUMA node";
    if node >= NODES {
        return Err(Error::refused(what, format!("there is no node {node}")).into());
    }
    let mut mask: NodeMask = [0; NODES / WORD];
    mask[node / WORD] |= 1 << (node % WORD);
    let former = MemoryPolicy::current();
    MemoryPolicy { mode: libc::MPOL_BIND, mask }.set(what)?;
    let _former = FormerPolicy(former);
    work()
}

/// The nodes of an arena's pages, with their shares of the sampled pages; untouched pages do not count.
///
/// # Errors
/// When the kernel refuses to tell.
fn nodes_of(arena: &Arena) -> Result<Vec<(usize, f64)>> {
    let bytes = arena.bytes();
    let pages = (bytes.len() / page_size()).max(1);
    let step = pages.div_ceil(LOOKED_AT).max(1);
    let addresses: Vec<*const u8> = (0..pages).step_by(step).map(|page| bytes[page * page_size()..].as_ptr()).collect();
    let mut answers: Vec<libc::c_int> = vec![-libc::ENOENT; addresses.len()];
    // SAFETY: both pointers describe as many elements as the count says; without target nodes nothing is moved, the
    // kernel reads the addresses and writes the answers, and the pages belong to this process.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            addresses.len() as libc::c_ulong,
            addresses.as_ptr(),
            std::ptr::null::<libc::c_int>(),
            answers.as_mut_ptr(),
            0,
        )
    };
    if answer != 0 {
        return Err(Error::last("learn on which NUMA node memory lies"));
    }
    let mut nodes: Vec<usize> = answers.into_iter().filter_map(|node| usize::try_from(node).ok()).collect();
    nodes.sort_unstable();
    let all = nodes.len() as f64;
    let mut found: Vec<(usize, f64)> = Vec::new();
    for node in nodes {
        match found.last_mut().filter(|(known, _)| *known == node) {
            Some((_, share)) => *share += 1.0 / all,
            None => found.push((node, 1.0 / all)),
        }
    }
    Ok(found)
}

/// That the pages of an arena lie on a node, all that were looked at.
///
/// # Errors
/// An error names the actual nodes, or says that the kernel does not report them.
pub fn verify_node(arena: &Arena, node: usize) -> Result<()> {
    let found = nodes_of(arena)?;
    if found.iter().all(|(at, _)| *at == node) && !found.is_empty() {
        return Ok(());
    }
    let said: Vec<String> = found.iter().map(|(at, share)| format!("{:.0}% on node {at}", share * 100.0)).collect();
    let said = if said.is_empty() { "nowhere yet".to_owned() } else { said.join(", ") };
    Err(Error::refused(format!("take memory from node {node}"), format!("it lies {said}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Pages;

    #[test]
    fn memory_lies_where_it_was_asked_for_and_the_policy_ends() {
        let made = on_node(0, || Arena::populated(1 << 20, Pages::Base));
        let arena = match made {
            Ok(arena) => arena,
            Err(reason) => return testing::lacks!("memory of one node: {reason}"),
        };
        match nodes_of(&arena) {
            Ok(found) => assert_eq!(found.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [0]),
            Err(reason) => return testing::lacks!("move_pages(2): {reason}"),
        }
        verify_node(&arena, 0).unwrap();
        assert!(verify_node(&arena, 1).unwrap_err().to_string().contains("100% on node 0"));
        let untouched = Arena::reserve(1 << 20, Pages::Base).unwrap();
        assert!(verify_node(&untouched, 0).unwrap_err().to_string().contains("nowhere yet"));
        assert!(on_node(NODES, || Ok::<(), Error>(())).is_err());
        assert!(on_node(NODES - 1, || Arena::populated(4096, Pages::Base)).is_err(), "there is no such node");
        assert!(Arena::populated(1 << 16, Pages::Base).is_ok(), "the policy ended");
    }

    /// As `numactl --interleave` starts a program. The policy is that of this thread alone.
    #[test]
    fn the_policy_that_was_there_is_put_back() {
        let mut mask = [0; NODES / WORD];
        mask[0] = 1;
        let interleaved = MemoryPolicy { mode: libc::MPOL_INTERLEAVE, mask };
        if let Err(reason) = interleaved.set("interleave memory") {
            return testing::lacks!("memory policies: {reason}");
        }
        assert_eq!(MemoryPolicy::current(), interleaved);
        on_node(0, || {
            assert_eq!(MemoryPolicy::current().mode, libc::MPOL_BIND);
            Ok::<(), Error>(())
        })
        .unwrap();
        assert_eq!(MemoryPolicy::current(), interleaved);
        MemoryPolicy::DEFAULT.set("end the policy").unwrap();
        assert_eq!(MemoryPolicy::current(), MemoryPolicy::DEFAULT);
    }
}
