//! Texts from the record, made fit for a terminal.

/// A text without control characters but line breaks and tabs: what a model wrote must not steer the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The beginning of a text, in one line of at most `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if count > 0 && count + 1 + length > width || length > width {
            let room = width.saturating_sub(count + 2);
            if count == 0 || room > 8 {
                if count > 0 {
                    line.push(' ');
                }
                line.extend(word.chars().take(room.max(1)));
            }
            line.push('…');
            break;
        }
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        line.push_str(word);
        count += length;
    }
    printable(&line)
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
                assert!(line.chars().count() <= width.max(2), "{line:?} in {width}");
            }
        }
        assert_eq!(one_line("a\nb\tc", 20), "a b c");
        assert_eq!(one_line("one two three", 9), "one two…");
    }

    #[test]
    fn escapes_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{7}"), "a\u{fffd}[31mb\nc\u{fffd}");
    }
}
