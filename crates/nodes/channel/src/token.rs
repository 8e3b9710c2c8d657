//! The secret that two sides share, and the keys derived from it.

use std::fmt::Write;

use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use rand::TryRngCore;
use rand::rngs::OsRng;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::error::{LONGEST_TOKEN, SHORTEST_TOKEN};
use crate::{Error, Result, Service};

/// A secret of at least 16 characters. Its `Debug` output hides it.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// A new token of 128 random bits.
    ///
    /// # Errors
    /// When the system has no random bits.
    pub fn draw() -> Result<Self> {
        Ok(Self(nonce()?))
    }

    /// Parses a token that a person typed or a file holds.
    ///
    /// # Errors
    /// When it is too short, so that it can be guessed, or too long.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if !(SHORTEST_TOKEN..=LONGEST_TOKEN).contains(&text.len()) {
            return Err(Error::BadToken);
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret itself, for handing it to a client.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Key of a service's handshakes (HKDF-SHA-256, RFC 5869). Each service and version has its own key.
    pub(crate) fn key(&self, service: &Service) -> Result<[u8; 32]> {
        let mut key = [0; 32];
        Hkdf::<Sha256>::new(Some(b"prony channel key"), self.0.as_bytes())
            .expand(service.to_string().as_bytes(), &mut key)
            .map_err(|error| Error::Encryption(error.to_string()))?;
        Ok(key)
    }

    fn mac(&self, parts: &[&str]) -> Result<Hmac<Sha256>> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).map_err(|error| Error::Encryption(error.to_string()))?;
        // Lengths come first, so that no two lists of parts give the same text.
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        Ok(mac)
    }

    /// A tag that only holders of this secret can make (HMAC-SHA-256, RFC 2104). The first part names its purpose.
    ///
    /// # Errors
    /// Never with a secret that [`Token`] allows.
    pub fn tag(&self, parts: &[&str]) -> Result<String> {
        Ok(hexadecimal(&self.mac(parts)?.finalize().into_bytes()))
    }

    /// Whether a tag belongs to these parts, compared in constant time.
    #[must_use]
    pub fn verify(&self, tag: &str, parts: &[&str]) -> bool {
        let (Some(bytes), Ok(mac)) = (bytes(tag), self.mac(parts)) else { return false };
        mac.verify_slice(&bytes).is_ok()
    }
}

/// A random number of 128 bits for one use, as 32 hexadecimal digits.
///
/// # Errors
/// When the system has no random bits.
pub fn nonce() -> Result<String> {
    let mut bytes = [0; 16];
    OsRng.try_fill_bytes(&mut bytes).map_err(|error| Error::Encryption(format!("no random bits: {error}")))?;
    Ok(hexadecimal(&bytes))
}

/// Whether two texts are equal, in a time that does not depend on where they differ.
#[must_use]
pub fn equal_in_constant_time(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_holds_for_its_parts_and_token_only() {
        let token = Token::parse("0123456789abcdef").unwrap();
        let tag = token.tag(&["use", "a", "b"]).unwrap();
        assert!(token.verify(&tag, &["use", "a", "b"]));
        for wrong in [&["other", "a", "b"][..], &["use", "b", "a"], &["use", "ab", ""], &["use", "ab"], &[]] {
            assert!(!token.verify(&tag, wrong), "{wrong:?}");
        }
        assert!(!Token::draw().unwrap().verify(&tag, &["use", "a", "b"]));
        for wrong in ["", "zz", &tag[..62], &"é".repeat(32)] {
            assert!(!token.verify(wrong, &["use", "a", "b"]), "{wrong}");
        }
        assert!(Token::parse("short").is_err() && Token::parse(&"x".repeat(300)).is_err());
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn every_token_service_and_version_has_a_key_of_its_own() {
        let (one, other) = (Token::parse("0123456789abcdef").unwrap(), Token::parse("0123456789abcdeg").unwrap());
        let service = |name, version| Service { name, version };
        let keys = [
            one.key(&service("a", 1)).unwrap(),
            one.key(&service("b", 1)).unwrap(),
            one.key(&service("a", 2)).unwrap(),
            other.key(&service("a", 1)).unwrap(),
        ];
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[..place].contains(key));
        }
        assert_eq!(keys[0], one.key(&service("a", 1)).unwrap());
    }

    /// RFC 4231, test case 2, and RFC 5869, test case 1, through the same primitives.
    #[test]
    fn the_primitives_are_hmac_and_hkdf_with_sha_256() {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"Jefe").unwrap();
        mac.update(b"what do ya want for nothing?");
        let said = hexadecimal(&mac.finalize().into_bytes());
        assert_eq!(said, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let salt: Vec<u8> = (0..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let mut okm = [0; 42];
        Hkdf::<Sha256>::new(Some(&salt), &[0x0b; 22]).expand(&info, &mut okm).unwrap();
        let expected = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
        assert_eq!(hexadecimal(&okm), expected);
    }
}
