//! Tokens: an id that may be shown, and a secret that may not.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tonic::codegen::http::HeaderValue;

const PREFIX: &str = "arena";
const ID_BYTES: usize = 4;
const SECRET_BYTES: usize = 32;

/// A token. Its text is `arena-ID-SECRET` in hexadecimal digits.
#[derive(Clone)]
pub struct Token {
    id: [u8; ID_BYTES],
    secret: [u8; SECRET_BYTES],
}

/// Why a text is no token. It does not repeat the text, which may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a token: expected arena-ID-SECRET, with 8 and 64 hexadecimal digits")]
pub struct TokenError;

impl Token {
    /// Draws a token of 256 random bits.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let (mut id, mut secret) = ([0; ID_BYTES], [0; SECRET_BYTES]);
        getrandom::fill(&mut id)?;
        getrandom::fill(&mut secret)?;
        Ok(Self { id, secret })
    }

    /// The token in the headers of a request: `authorization: Bearer TOKEN`. The case of the scheme does not
    /// matter (RFC 9110).
    #[must_use]
    pub fn of_header(header: &HeaderValue) -> Option<Self> {
        let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("Bearer");
        token.parse().ok().filter(|_| is_bearer)
    }

    /// The id, which is no secret: eight hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> String {
        hex::encode(self.id)
    }

    /// The text that clients send.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{PREFIX}-{}-{}", self.id(), hex::encode(self.secret))
    }

    /// What a coordinator keeps of it.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.secret).into()
    }

    /// True if this is the token with a hash; takes the same time for all others.
    #[must_use]
    pub fn has_hash(&self, hash: &[u8]) -> bool {
        self.hash().ct_eq(hash).into()
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let mut parts = text.splitn(3, '-');
        let (mut id, mut secret) = ([0; ID_BYTES], [0; SECRET_BYTES]);
        if parts.next() != Some(PREFIX) {
            return Err(TokenError);
        }
        for (digits, bytes) in parts.by_ref().zip([&mut id[..], &mut secret[..]]) {
            hex::decode_to_slice(digits, bytes).map_err(|_| TokenError)?;
        }
        // An absent part leaves its bytes at zero, which no draw yields.
        let is_whole = secret != [0; SECRET_BYTES];
        is_whole.then_some(Self { id, secret }).ok_or(TokenError)
    }
}

/// A text without the secrets of tokens in it, for logs and errors.
#[must_use]
pub fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(PREFIX) {
        let (before, found) = rest.split_at(place + PREFIX.len());
        shown.push_str(before);
        rest = found;
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_hexdigit).count();
        let Some(id) = rest.strip_prefix('-').map(digits) else {
            continue;
        };
        let secret = rest.get(1 + id..).and_then(|rest| rest.strip_prefix('-'));
        if let Some(secret) = secret.filter(|_| id == 2 * ID_BYTES) {
            shown.push_str(&rest[..id + 2]);
            let hidden = digits(secret);
            if hidden > 0 {
                shown.push('…');
            }
            rest = &secret[hidden..];
        }
    }
    shown + rest
}

/// Takes the same time for all other tokens.
impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.secret.ct_eq(&other.secret).into()
    }
}

impl Eq for Token {}

/// Shows the id only.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Token({})", self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_back() {
        let token = Token::draw().expect("random numbers");
        assert_eq!(token.text().parse(), Ok(token.clone()));
        assert!(token.has_hash(&token.hash()));
        assert_eq!(token.text().len(), "arena-".len() + 8 + 1 + 64);
    }

    #[test]
    fn other_texts_are_refused() {
        let text = Token::draw().expect("random numbers").text();
        let zeros = format!("arena-00000000-{}", "0".repeat(64));
        for wrong in ["", "arena", "arena-", "arena-01234567", &text[1..], &zeros] {
            assert_eq!(wrong.parse::<Token>(), Err(TokenError), "{wrong}");
        }
        for wrong in [
            format!("{text}0"),
            format!("{text} "),
            text.replace("arena-", "arena_"),
        ] {
            assert_eq!(wrong.parse::<Token>(), Err(TokenError), "{wrong}");
        }
    }

    #[test]
    fn scheme_of_a_header_has_any_case() {
        let token = Token::draw().expect("random numbers");
        let of = |scheme: &str| {
            let header = HeaderValue::try_from(format!("{scheme}{}", token.text()));
            Token::of_header(&header.expect("ASCII"))
        };
        for scheme in ["Bearer ", "bearer ", "BEARER ", "bEaReR "] {
            assert_eq!(of(scheme), Some(token.clone()), "{scheme}");
        }
        for scheme in ["", " ", "Bearer", "Bearers ", "Basic ", "Bearer\t"] {
            assert_eq!(of(scheme), None, "{scheme:?}");
        }
    }

    #[test]
    fn hash_of_other_token_does_not_match() {
        let [first, second] = [(); 2].map(|()| Token::draw().expect("random numbers"));
        assert!(!first.has_hash(&second.hash()));
        assert!(!first.has_hash(&[]));
    }

    #[test]
    fn debug_hides_secret() {
        let token = Token::draw().expect("random numbers");
        assert_eq!(format!("{token:?}"), format!("Token({})", token.id()));
    }

    #[test]
    fn secrets_are_cut_from_texts() {
        let token = Token::draw().expect("random numbers");
        let (text, id) = (token.text(), token.id());
        let shown = without_secrets(&format!("revoke {text}, arena-store, {text}"));
        let hidden = format!("arena-{id}-…");
        assert_eq!(shown, format!("revoke {hidden}, arena-store, {hidden}"));
        // As far as a cut text has it.
        let cut = &text[..text.len() - 9];
        assert_eq!(without_secrets(cut), hidden);
        for other in [
            "",
            "arena",
            "arena-",
            "arena-demo-3f9a0c1b22",
            "ärena-é-arena-ä",
        ] {
            assert_eq!(without_secrets(other), other);
        }
    }
}
