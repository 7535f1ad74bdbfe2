//! Lines and numbers of text formats, over bytes: names in them need not be UTF-8.

use crate::error::{Fault, quote};
use std::str::FromStr;

/// Lines with their numbers, counted from one, without line ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    text.split(|&b| b == b'\n').zip(1..).map(|(line, number)| (number, line.strip_suffix(b"\r").unwrap_or(line)))
}

/// Words between white space.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A number, or `None` if the word is not one.
pub(crate) fn parse<T: FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The next word as a number.
pub(crate) fn number<'a, T: FromStr>(
    words: &mut impl Iterator<Item = &'a [u8]>,
    line: usize,
    what: &str,
) -> Result<T, Fault> {
    let word = words.next().ok_or_else(|| Fault::at_line(line, what, "the end of the line"))?;
    parse(word).ok_or_else(|| Fault::at_line(line, what, quote(word)))
}
