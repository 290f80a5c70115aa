//! Texts from the record, made fit for a terminal.

/// A text without control characters but line breaks and tabs: what a model wrote must not steer the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The same in one line: the end of a line is a control character too.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The beginning of a text, in one line of at most `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let space = if count > 0 { " " } else { "" };
        // A text may have megabytes; one character too many is enough to see that it goes on.
        for c in space.chars().chain(word.chars()).take((width + 1).saturating_sub(count)) {
            line.push(c);
            count += 1;
        }
        if count > width {
            let beginning: String = line.chars().take(width.saturating_sub(1)).collect();
            line = format!("{}…", beginning.trim_end());
            break;
        }
    }
    printable(&line)
}

/// `1 session`, `2 sessions`
pub(crate) fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The end of a text, in at most `width` characters.
pub(crate) fn tail(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    std::iter::once('…').chain(text.chars().skip(count + 1 - width.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_never_wider_than_asked() {
        for text in ["", "short", "a b c", "one two three four five six", "unbrokenunbrokenunbroken", "a unbrokenunbrokenunbroken"]
        {
            for width in 1..30 {
                let line = one_line(text, width);
                assert!(line.chars().count() <= width, "{line:?} in {width}");
            }
        }
        assert_eq!(one_line("a\nb\tc", 20), "a b c");
        assert_eq!(one_line("one two three", 9), "one two…");
    }

    #[test]
    fn a_tail_keeps_the_end() {
        assert_eq!(tail("/home/dev", 9), "/home/dev");
        assert_eq!(tail("/home/dév", 4), "…dév");
        assert_eq!(tail("/home/dev", 1), "…");
    }

    #[test]
    fn escapes_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{7}"), "a\u{fffd}[31mb\nc\u{fffd}");
        assert_eq!(line("a\u{9b}31mb\nc\t"), "a\u{fffd}31mb\u{fffd}c\u{fffd}");
    }
}
