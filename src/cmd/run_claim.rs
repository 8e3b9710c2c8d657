//! The claim of this process on its run: two processes that measure one run would overwrite each other's results.

use anyhow::{Result, ensure};

/// Claims a run until this process ends, in order to do `what`.
///
/// # Errors
/// When another process of this system measures it.
pub(crate) fn claim(id: &str, what: &str) -> Result<()> {
    ensure!(is_free(id), "could not {what}: another process measures it now");
    Ok(())
}

/// A name that one socket has at a time, which the kernel frees however its process ends: no file is left behind.
fn is_free(id: &str) -> bool {
    use std::collections::BTreeMap;
    use std::io::ErrorKind;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};
    use std::sync::{Mutex, PoisonError};

    static HELD: Mutex<BTreeMap<String, UnixListener>> = Mutex::new(BTreeMap::new());
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if held.contains_key(id) {
        return true;
    }
    let bound =
        SocketAddr::from_abstract_name(format!("prony-run-{id}")).and_then(|name| UnixListener::bind_addr(&name));
    match bound {
        Ok(listener) => {
            held.insert(id.to_owned(), listener);
            true
        }
        // Whether another process measures it is unknown otherwise, which does not prevent measuring.
        Err(error) => error.kind() != ErrorKind::AddrInUse,
    }
}
