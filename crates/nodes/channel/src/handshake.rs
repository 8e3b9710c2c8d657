//! The handshake without I/O: bytes in, bytes out.
//!
//! ```text
//! server -> client   greeting   length (4 bytes) and JSON: version and nonce, in clear; older versions read it too
//! client -> server   first      48 bytes: Noise "-> psk, e"; that it opens shows that the client knows the token, now
//! server -> client   reply      1 byte (0: welcome, 1: wrong token) and 48 bytes: Noise "<- e, ee"
//! ```

use serde::{Deserialize, Serialize};
use snow::params::NoiseParams;
use snow::{Builder, HandshakeState, TransportState};

use crate::service::Service;
use crate::{Error, Result, nonce};

/// Pattern, curve, cipher and hash.
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// Bytes of each of the two handshake messages: a public key and an authentication tag.
pub(crate) const FIRST: usize = 48;
/// Bytes of the server's reply: a status and its handshake message.
pub(crate) const REPLY: usize = 1 + FIRST;
/// Longest greeting, bytes, without its length field.
pub(crate) const GREETING: usize = 1024;
const WELCOME: u8 = 0;
const WRONG_TOKEN: u8 = 1;

/// The server's first message. Its format is that of unencrypted versions, so that each side can report the other's
/// version.
#[derive(Debug, Serialize, Deserialize)]
struct HandshakeGreeting {
    says: String,
    version: u32,
    nonce: String,
}

/// The bytes of a greeting, and its nonce.
pub(crate) fn greet(service: &Service) -> Result<(Vec<u8>, String)> {
    let nonce = format!("{}-{}", service.name, nonce()?);
    let greeting = HandshakeGreeting { says: "challenge".to_owned(), version: service.version, nonce: nonce.clone() };
    let body = serde_json::to_vec(&greeting).map_err(|error| Error::Protocol(error.to_string()))?;
    Ok(([&(body.len() as u32).to_be_bytes()[..], &body].concat(), nonce))
}

/// The nonce of a greeting, if the service and version match.
pub(crate) fn read_greeting(body: &[u8], service: &Service) -> Result<String> {
    let no_greeting = || Error::Protocol("it sent no prony greeting; is it another program?".to_owned());
    let greeting: HandshakeGreeting = serde_json::from_slice(body).map_err(|_| no_greeting())?;
    if greeting.says != "challenge" {
        return Err(no_greeting());
    }
    let named = greeting.nonce.split_once('-').map(|(name, _)| name);
    if let Some(theirs) = named.filter(|name| *name != service.name) {
        // The other side chose this text: only characters of a valid name are shown.
        let theirs = theirs.chars().filter(char::is_ascii_lowercase).take(16).collect();
        return Err(Error::OtherService { theirs, ours: service.name });
    }
    if greeting.version != service.version {
        return Err(Error::Version { theirs: greeting.version, ours: service.version });
    }
    named.map(|_| greeting.nonce.clone()).ok_or_else(no_greeting)
}

fn noise(key: &[u8; 32], service: &Service, nonce: &str, initiator: bool) -> Result<HandshakeState> {
    let parameters: NoiseParams = PATTERN.parse().map_err(encryption)?;
    let prologue = format!("prony {service} {nonce}");
    let builder = Builder::new(parameters)
        .prologue(prologue.as_bytes())
        .and_then(|builder| builder.psk(0, key))
        .map_err(encryption)?;
    if initiator { builder.build_initiator() } else { builder.build_responder() }.map_err(encryption)
}

fn encryption(error: snow::Error) -> Error {
    Error::Encryption(error.to_string())
}

/// The client's side: the state and the message that follows the greeting.
pub(crate) fn begin(key: &[u8; 32], service: &Service, nonce: &str) -> Result<(HandshakeState, [u8; FIRST])> {
    let mut state = noise(key, service, nonce, true)?;
    let mut first = [0; FIRST];
    match state.write_message(&[], &mut first) {
        Ok(FIRST) => Ok((state, first)),
        Ok(_) => Err(Error::Encryption("the handshake message has a wrong length".to_owned())),
        Err(error) => Err(encryption(error)),
    }
}

/// The server's side: whether the client knows the token, by its first message in reply to this greeting.
pub(crate) fn verify(key: &[u8; 32], service: &Service, nonce: &str, first: &[u8; FIRST]) -> Result<HandshakeState> {
    let mut state = noise(key, service, nonce, false)?;
    match state.read_message(first, &mut [0; FIRST]) {
        Ok(0) => Ok(state),
        _ => Err(Error::WrongToken),
    }
}

/// The server's reply to a client that knows the token.
pub(crate) fn reply(mut state: HandshakeState) -> Result<(TransportState, [u8; REPLY])> {
    let mut reply = [WELCOME; REPLY];
    match state.write_message(&[], &mut reply[1..]) {
        Ok(FIRST) => Ok((state.into_transport_mode().map_err(encryption)?, reply)),
        Ok(_) => Err(Error::Encryption("the handshake message has a wrong length".to_owned())),
        Err(error) => Err(encryption(error)),
    }
}

/// The server's reply to a client that does not.
pub(crate) const fn refusal() -> [u8; REPLY] {
    let mut reply = [0; REPLY];
    reply[0] = WRONG_TOKEN;
    reply
}

/// The client's last step.
pub(crate) fn complete(mut state: HandshakeState, reply: &[u8; REPLY]) -> Result<TransportState> {
    match reply[0] {
        WELCOME => {}
        WRONG_TOKEN => return Err(Error::WrongToken),
        other => return Err(Error::Protocol(format!("status {other} in the reply to the handshake"))),
    }
    match state.read_message(&reply[1..], &mut [0; FIRST]) {
        Ok(0) => state.into_transport_mode().map_err(encryption),
        _ => Err(Error::Impostor),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Token;

    const SERVICE: Service = Service { name: "test", version: 7 };

    fn key() -> [u8; 32] {
        Token::parse("0123456789abcdef").unwrap().key(&SERVICE).unwrap()
    }

    #[test]
    fn two_sides_with_the_same_token_can_communicate() {
        let (greeting, nonce) = greet(&SERVICE).unwrap();
        assert_eq!(read_greeting(&greeting[4..], &SERVICE).unwrap(), nonce);
        let (client, first) = begin(&key(), &SERVICE, &nonce).unwrap();
        let (mut server, reply) = reply(verify(&key(), &SERVICE, &nonce, &first).unwrap()).unwrap();
        let mut client = complete(client, &reply).unwrap();
        let (mut sealed, mut plain) = ([0; 64], [0; 64]);
        let length = server.write_message(b"hello", &mut sealed).unwrap();
        assert_eq!(client.read_message(&sealed[..length], &mut plain).unwrap(), 5);
        assert_eq!(&plain[..5], b"hello");
    }

    #[test]
    fn every_changed_bit_is_noticed_and_no_message_can_be_replayed() {
        let (_, nonce) = greet(&SERVICE).unwrap();
        let (_, first) = begin(&key(), &SERVICE, &nonce).unwrap();
        for bit in 0..8 * FIRST {
            let mut changed = first;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(verify(&key(), &SERVICE, &nonce, &changed).is_err(), "bit {bit} of the first message");
        }
        let (_, another) = greet(&SERVICE).unwrap();
        assert!(matches!(verify(&key(), &SERVICE, &another, &first), Err(Error::WrongToken)));
        let other = Service { version: 8, ..SERVICE };
        assert!(verify(&key(), &other, &nonce, &first).is_err(), "another version was told to the other side");
        let (_, answer) = reply(verify(&key(), &SERVICE, &nonce, &first).unwrap()).unwrap();
        for bit in 8..8 * REPLY {
            let (client, first) = begin(&key(), &SERVICE, &nonce).unwrap();
            let (_, mut changed) = reply(verify(&key(), &SERVICE, &nonce, &first).unwrap()).unwrap();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(complete(client, &changed), Err(Error::Impostor)), "bit {bit} of the reply");
        }
        let (client, _) = begin(&key(), &SERVICE, &nonce).unwrap();
        assert!(matches!(complete(client, &answer), Err(Error::Impostor)), "a reply to an earlier handshake");
    }

    #[test]
    fn a_mismatch_is_reported_with_its_cause() {
        let (_, nonce) = greet(&SERVICE).unwrap();
        let wrong = Token::draw().unwrap().key(&SERVICE).unwrap();
        let (client, first) = begin(&wrong, &SERVICE, &nonce).unwrap();
        assert!(matches!(verify(&key(), &SERVICE, &nonce, &first), Err(Error::WrongToken)));
        assert!(matches!(complete(client, &refusal()), Err(Error::WrongToken)));
        let greeted = |version, nonce: &str| {
            read_greeting(
                format!(r#"{{"says":"challenge","version":{version},"nonce":"{nonce}"}}"#).as_bytes(),
                &SERVICE,
            )
        };
        assert!(matches!(greeted(8, "test-00"), Err(Error::Version { theirs: 8, ours: 7 })));
        // The greeting of versions before channels.
        assert!(matches!(greeted(2, "00112233"), Err(Error::Version { theirs: 2, .. })));
        let other = greeted(7, "farm-00").unwrap_err().to_string();
        assert!(other.contains("'farm'") && other.contains("'test'"), "{other}");
        assert!(matches!(read_greeting(b"HTTP/1.1 400", &SERVICE), Err(Error::Protocol(_))));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_greeting_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_greeting(&bytes, &SERVICE);
        }
    }
}
