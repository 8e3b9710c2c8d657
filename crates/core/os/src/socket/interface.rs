//! Addresses of this host's network interfaces.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

use crate::error::{Result, check};

/// All addresses of all interfaces that are up, with the name of the interface (`getifaddrs(3)`), in the order of the
/// kernel.
pub fn interfaces() -> Result<Vec<(String, IpAddr)>> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the pointer is writable; on success it holds a list, which `freeifaddrs` frees below.
    check("list the network interfaces", unsafe { libc::getifaddrs(&raw mut first) })?;
    let mut found = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: `next` is an element of the list, which is not freed before the end of the loop.
        let one = unsafe { &*next };
        let up = one.ifa_flags & libc::IFF_UP as libc::c_uint != 0;
        if let Some(address) = address(one.ifa_addr).filter(|_| up) {
            // SAFETY: the name is a C string that lives as long as the list.
            let name = unsafe { CStr::from_ptr(one.ifa_name) };
            found.push((name.to_string_lossy().into_owned(), address));
        }
        next = one.ifa_next;
    }
    // SAFETY: the list came from `getifaddrs` and no reference to it is kept.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// The IP address in a socket address; `None` for other families and for a null pointer.
fn address(raw: *const libc::sockaddr) -> Option<IpAddr> {
    if raw.is_null() {
        return None;
    }
    // SAFETY: not null, so it is a socket address, which begins with its family.
    let family = i32::from(unsafe { (*raw).sa_family });
    match family {
        libc::AF_INET => {
            // SAFETY: the family identifies this structure; read without assuming alignment.
            let inner = unsafe { ptr::read_unaligned(raw.cast::<libc::sockaddr_in>()) };
            Some(Ipv4Addr::from(u32::from_be(inner.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family identifies this structure; read without assuming alignment.
            let inner = unsafe { ptr::read_unaligned(raw.cast::<libc::sockaddr_in6>()) };
            Some(Ipv6Addr::from(inner.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_among_them() {
        let found = interfaces().unwrap();
        assert!(found.iter().any(|(name, address)| name.starts_with("lo") && address.is_loopback()), "{found:?}");
    }
}
