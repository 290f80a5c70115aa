//! The order of names in a list: that of Unicode's root collation, as far as names of files need it.
//!
//! Letters count first, without case and accents; then accents, then case, small letters first. Signs stand before digits and
//! digits before letters. Scripts beside Latin stand behind it, by code point.

/// The signs in their order; white space stands before them.
const SIGNS: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Accented letters by their base.
const ACCENTED: &[(char, &str)] = &[
    ('a', "àáâãäåāăą"),
    ('c', "çćĉċč"),
    ('d', "ď"),
    ('e', "èéêëēĕėęě"),
    ('g', "ĝğġģ"),
    ('h', "ĥ"),
    ('i', "ìíîïĩīĭįı"),
    ('j', "ĵ"),
    ('k', "ķ"),
    ('l', "ĺļľ"),
    ('n', "ñńņň"),
    ('o', "òóôõöōŏő"),
    ('r', "ŕŗř"),
    ('s', "śŝşš"),
    ('t', "ţť"),
    ('u', "ùúûüũūŭůűų"),
    ('w', "ŵ"),
    ('y', "ýÿŷ"),
    ('z', "źżž"),
];

/// A name's place in the order; compared member by member.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// kind and place of each character, without case and accents
    letters: Vec<(u8, u32)>,
    accents: Vec<usize>,
    capitals: Vec<bool>,
    name: String,
}

/// The place of a name.
pub(super) fn key(name: &str) -> Key {
    let mut letters = Vec::with_capacity(name.len());
    let mut accents = Vec::new();
    let mut capitals = Vec::new();
    for character in name.chars() {
        let small = character.to_lowercase().next().unwrap_or(character);
        let accented = ACCENTED.iter().find_map(|(base, list)| Some((*base, list.chars().position(|c| c == small)? + 1)));
        let (base, accent) = accented.unwrap_or((small, 0));
        letters.push(match base {
            space if space.is_whitespace() => (0, u32::from(space)),
            sign if SIGNS.contains(sign) => (1, SIGNS.find(sign).unwrap_or(0) as u32),
            digit if digit.is_ascii_digit() => (3, u32::from(digit)),
            letter if letter.is_alphabetic() => (4, u32::from(letter)),
            other => (2, u32::from(other)),
        });
        accents.push(accent);
        capitals.push(small != character);
    }
    Key { letters, accents, capitals, name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which the reference listed these.
    #[test]
    fn the_order_of_a_recorded_folder() {
        let recorded = [
            " s", "_x", "-x", ".x", "(p)", "@a", "#h", "+p", "~t", "$d", "1", "10", "2", "a", "A", "ä", "a.b", "a1", "ab", "b",
            "B", "e", "é", "f", "x y", "x_y", "x-y", "x.y", "xy", "z", "Z", "日",
        ];
        let mut sorted = recorded;
        sorted.reverse();
        sorted.sort_by_cached_key(|name| key(name));
        // `ä` stands before `a.b` there: an accent counts only where all letters are the same.
        assert_eq!(sorted, recorded);
    }
}
