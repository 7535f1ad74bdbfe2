//! The secret that a page must know: made anew at each start, compared in constant time.

use std::fmt;

/// 128 random bits in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|b| format!("{b:02x}")).collect()))
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether this is it. Takes as long for a wrong one as for the right one.
    pub fn matches(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        let mut differences = u8::from(own.len() != other.len());
        for (i, byte) in own.iter().enumerate() {
            differences |= byte ^ other.get(i).copied().unwrap_or(0);
        }
        std::hint::black_box(differences) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_matches() {
        let (a, b) = (Token::new().unwrap(), Token::new().unwrap());
        assert!(a.matches(a.text()) && !a.matches(b.text()));
        assert!(!a.matches("") && !a.matches(&a.text()[..31]) && !a.matches(&format!("{}0", a.text())));
        assert_eq!(a.text().len(), 32);
    }
}
