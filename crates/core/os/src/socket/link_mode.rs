//! The fastest mode that a network card supports.

use std::mem::size_of_val;

use crate::error::{Error, Result, check};

const WHAT: &str = "ask the network card for its modes";
/// Request and command of `include/uapi/linux/sockios.h` and `ethtool.h`.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const GET_LINK_SETTINGS: u32 = 0x4c;
/// `struct ethtool_link_settings` in words of 32 bits, and the most words of each of the three masks behind it.
const HEAD: usize = 12;
const MOST_WORDS: usize = 127;
/// Byte 15 of the structure: the words of a mask, below 0 where the kernel wants another number.
const COUNT: usize = 15;

/// Link modes by their first and last bit, with their megabits per second (`enum ethtool_link_mode_bit_indices`).
const MODES: &[(usize, usize, f64)] = &[
    (0, 1, 10.0),
    (2, 3, 100.0),
    (4, 5, 1e3),
    (12, 12, 1e4),
    (15, 15, 2.5e3),
    (17, 17, 1e3),
    (18, 20, 1e4),
    (21, 22, 2e4),
    (23, 26, 4e4),
    (27, 30, 5.6e4),
    (31, 33, 2.5e4),
    (34, 35, 5e4),
    (36, 39, 1e5),
    (40, 40, 5e4),
    (41, 41, 1e3),
    (42, 46, 1e4),
    (47, 47, 2.5e3),
    (48, 48, 5e3),
    (52, 56, 5e4),
    (57, 61, 1e5),
    (62, 66, 2e5),
    (68, 68, 1e3),
    (69, 73, 4e5),
    (75, 79, 1e5),
    (80, 84, 2e5),
    (85, 89, 4e5),
    (93, 98, 8e5),
];

/// Bytes per second of the fastest supported mode of an interface (`ETHTOOL_GLINKSETTINGS`).
pub fn fastest_mode(interface: &str) -> Result<f64> {
    let socket =
        std::net::UdpSocket::bind(("127.0.0.1", 0)).map_err(|error| Error::refused(WHAT, error.to_string()))?;
    let mut words = vec![0_u32; HEAD + 3 * MOST_WORDS];
    words[0] = GET_LINK_SETTINGS;
    // The first call says how many words a mask has, the second one fills them.
    ask(&socket, interface, &mut words)?;
    let count = words[COUNT / 4].to_ne_bytes()[COUNT % 4] as i8;
    let count = usize::from(count.unsigned_abs()).min(MOST_WORDS);
    words[0] = GET_LINK_SETTINGS;
    let mut bytes = words[COUNT / 4].to_ne_bytes();
    bytes[COUNT % 4] = count as u8;
    words[COUNT / 4] = u32::from_ne_bytes(bytes);
    ask(&socket, interface, &mut words)?;
    fastest(&words[HEAD..HEAD + count]).ok_or_else(|| Error::refused(WHAT, "it names none".to_owned()))
}

fn ask(socket: &std::net::UdpSocket, interface: &str, words: &mut [u32]) -> Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: all zeros is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if interface.len() >= size_of_val(&request.ifr_name) {
        return Err(Error::refused(WHAT, "its name is too long".to_owned()));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the name ends with a zero, and the words have room for the structure with the longest masks, which is
    // all that the kernel writes.
    check(WHAT, unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) }).map(drop)
}

/// Bytes per second of the fastest mode in a mask.
fn fastest(mask: &[u32]) -> Option<f64> {
    let has = |bit: usize| mask.get(bit / 32).is_some_and(|word| word >> (bit % 32) & 1 == 1);
    let known = MODES.iter().filter(|(first, last, _)| (*first..=*last).any(has));
    known.map(|(_, _, megabits)| megabits * 1e6 / 8.0).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_of_a_recorded_mask() {
        // A card of 25 Gb/s: 1000baseT, 10000baseKR and 25000baseCR, pause and autonegotiation.
        assert_eq!(fastest(&[1 << 5 | 1 << 6 | 1 << 13 | 1 << 19, 0]), Some(1.25e9));
        assert_eq!(fastest(&[1 << 5 | 1 << 19 | 1 << 31, 0]), Some(3.125e9));
        assert_eq!(fastest(&[1 << 6]), None);
    }

    #[test]
    fn an_interface_without_a_card_says_why() {
        assert!(fastest_mode("lo").is_err());
        assert!(fastest_mode("a-name-that-no-interface-can-have").unwrap_err().to_string().contains("too long"));
    }
}
