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

/// Megabits per second, and the first and last bits of the link modes that have them (`enum
/// ethtool_link_mode_bit_indices`).
const MODES: &[(f64, &[(usize, usize)])] = &[
    (10.0, &[(0, 1)]),
    (100.0, &[(2, 3)]),
    (1e3, &[(4, 5), (17, 17), (41, 41), (68, 68)]),
    (2.5e3, &[(15, 15), (47, 47)]),
    (5e3, &[(48, 48)]),
    (1e4, &[(12, 12), (18, 20), (42, 46)]),
    (2e4, &[(21, 22)]),
    (2.5e4, &[(31, 33)]),
    (4e4, &[(23, 26)]),
    (5e4, &[(34, 35), (40, 40), (52, 56)]),
    (5.6e4, &[(27, 30)]),
    (1e5, &[(36, 39), (57, 61), (75, 79)]),
    (2e5, &[(62, 66), (80, 84)]),
    (4e5, &[(69, 73), (85, 89)]),
    (8e5, &[(93, 98)]),
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
    let known = MODES.iter().rev().find(|(_, bits)| bits.iter().any(|(first, last)| (*first..=*last).any(has)));
    known.map(|(megabits, _)| megabits * 1e6 / 8.0)
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
