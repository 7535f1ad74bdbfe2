//! "Did you mean …?"

use eigentone_core::material::edit_distance;

/// The candidate that was probably meant: the nearest by single-letter edits, if at most half of the letters are wrong, and two or a third.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    let length = |s: &str| s.chars().take(LONGEST + 1).count();
    if length(word) > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .filter(|c| length(c) <= LONGEST)
        .map(|c| {
            let key = c.to_lowercase();
            // A key without its unit is one slip.
            let unit = !word.is_empty() && key.strip_prefix(&word).is_some_and(|rest| rest.starts_with('_'));
            (if unit { 1 } else { edit_distance(&word, &key) }, c)
        })
        .filter(|&(edits, c)| {
            let longer = length(&word).max(length(c));
            edits <= (longer / 3).max(2) && 2 * edits <= longer
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, c)| c)
}

/// `; did you mean …?`, or nothing.
pub(super) fn phrase<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map(|c| format!("; did you mean `{c}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_key_and_strangers_do_not() {
        let keys = ["position", "rotation", "spin", "box", "mass_kg"];
        for (slip, key) in
            [("postion", "position"), ("Position", "position"), ("spni", "spin"), ("bx", "box"), ("mass", "mass_kg")]
        {
            assert_eq!(nearest(slip, keys), Some(key), "{slip}");
        }
        for stranger in ["zzz", "", "q", "bar", "temperature"] {
            assert_eq!(nearest(stranger, keys), None, "{stranger}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), keys), None);
    }
}
