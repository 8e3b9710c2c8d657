//! The secret that lets a client in, and how both sides prove that they know it without saying it.

use std::fmt::Write;

use hmac::{Hmac, Mac};
use rand::TryRngCore;
use rand::rngs::OsRng;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::{Error, Result};

/// A secret of at least 16 characters, never printed by mistake.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// A new one of 128 random bits.
    ///
    /// # Errors
    /// When the system has no random bits.
    pub fn draw() -> Result<Self> {
        Ok(Self(hexadecimal(&random::<16>()?)))
    }

    /// One that somebody typed.
    ///
    /// # Errors
    /// When it is so short that it can be guessed.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.len() < 16 || text.len() > 256 {
            return Err(Error::Usage("use a token of 16 to 256 characters".to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret itself, to be handed to who shall get in.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn mac(&self, who: Role, server: &str, client: &str) -> Result<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes())
            .map_err(|error| Error::Denied(format!("no key: {error}")))?;
        // Lengths first, so that no two pairs of nonces make the same text.
        for part in [who.label(), server, client] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        Ok(mac)
    }

    /// Proof that `who` knows the token, bound to both nonces (HMAC-SHA-256, RFC 2104).
    ///
    /// # Errors
    /// Never with a key that [`Token`] allows.
    pub fn proof(&self, who: Role, server: &str, client: &str) -> Result<String> {
        Ok(hexadecimal(&self.mac(who, server, client)?.finalize().into_bytes()))
    }

    /// Whether a proof holds, compared in constant time.
    #[must_use]
    pub fn holds(&self, proof: &str, who: Role, server: &str, client: &str) -> bool {
        let (Some(bytes), Ok(mac)) = (bytes(proof), self.mac(who, server, client)) else { return false };
        mac.verify_slice(&bytes).is_ok()
    }
}

/// Who proves something: the two sides' proofs differ, so that neither can be sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Who listens.
    Server,
    /// Who came.
    Client,
}

impl Role {
    const fn label(self) -> &'static str {
        match self {
            Self::Server => "prony server 1",
            Self::Client => "prony client 1",
        }
    }
}

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    OsRng.try_fill_bytes(&mut bytes).map_err(|error| Error::Denied(format!("no random bits: {error}")))?;
    Ok(bytes)
}

/// A number used once, of 128 bits, as 32 hexadecimal digits.
///
/// # Errors
/// When the system has no random bits.
pub fn nonce() -> Result<String> {
    Ok(hexadecimal(&random::<16>()?))
}

/// Whether two texts are equal, in a time that does not tell where they differ.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
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
    fn a_proof_holds_for_its_role_nonces_and_token_only() {
        let token = Token::parse("0123456789abcdef").unwrap();
        let proof = token.proof(Role::Client, "a", "b").unwrap();
        assert!(token.holds(&proof, Role::Client, "a", "b"));
        assert!(!token.holds(&proof, Role::Server, "a", "b"));
        assert!(!token.holds(&proof, Role::Client, "b", "a"));
        assert!(!token.holds(&proof, Role::Client, "ab", ""));
        assert!(!Token::draw().unwrap().holds(&proof, Role::Client, "a", "b"));
        for wrong in ["", "zz", &proof[..62], &"é".repeat(32)] {
            assert!(!token.holds(wrong, Role::Client, "a", "b"), "{wrong}");
        }
        assert!(Token::parse("short").is_err());
        assert!(!format!("{token:?}").contains("0123"));
    }

    /// RFC 4231, test case 2, through the same primitive.
    #[test]
    fn the_primitive_is_hmac_sha_256() {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"Jefe").unwrap();
        mac.update(b"what do ya want for nothing?");
        let said = hexadecimal(&mac.finalize().into_bytes());
        assert_eq!(said, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
