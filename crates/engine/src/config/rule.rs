//! Permission rules from configuration, and what they say (reference-storage 6.6).

use annalist_schema::raw::{Json, Object};

/// A rule: what it is about, what it is to touch, and `allow`, `deny` or `ask`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// what a tool wants to do, such as `edit`; `*` matches any run of letters
    pub permission: String,
    /// what it wants to do it to
    pub pattern: String,
    /// `allow`, `deny` or `ask`
    pub action: String,
}

impl Rule {
    pub(super) fn new(permission: &str, pattern: &str, action: &str) -> Self {
        Rule { permission: permission.to_owned(), pattern: pattern.to_owned(), action: action.to_owned() }
    }

    pub(super) fn shown(&self) -> Object<'static> {
        let mut rule = Object::new();
        rule.set_text("permission", &self.permission);
        rule.set_text("pattern", &self.pattern);
        rule.set_text("action", &self.action);
        rule
    }
}

/// The rules of a `permission` member: one word for all, or by permission a word or words by pattern.
pub(super) fn read(json: &Json<'_>) -> Vec<Rule> {
    let Some(object) = json.as_object() else {
        return json.as_text().map(|action| Rule::new("*", "*", &action)).into_iter().collect();
    };
    let mut rules = Vec::new();
    for entry in object.entries() {
        let permission = entry.key();
        match entry.value().as_object() {
            Some(patterns) => {
                let action =
                    |entry: &annalist_schema::raw::Entry<'_>| Some(Rule::new(&permission, &entry.key(), &entry.value().as_text()?));
                rules.extend(patterns.entries().iter().filter_map(action));
            }
            None => rules.extend(entry.value().as_text().map(|action| Rule::new(&permission, "*", &action))),
        }
    }
    rules
}

/// What the rules say of touching something: the last that matches decides.
pub fn decide<'r>(rules: &'r [Rule], permission: &str, target: &str) -> &'r str {
    let matching = rules.iter().rev().find(|rule| matches(&rule.permission, permission) && matches(&rule.pattern, target));
    matching.map_or("ask", |rule| &rule.action)
}

/// `*` stands for anything, `?` for one character; ` *` at the end also for nothing.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.replace('\\', "/"), text.replace('\\', "/"));
    if let Some(start) = pattern.strip_suffix(" *")
        && glob(start, &text)
    {
        return true;
    }
    glob(&pattern, &text)
}

fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on if the last `*` has to take one character more.
    let mut again: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                again = Some((p + 1, t));
                p += 1;
            }
            Some(wanted) if *wanted == '?' || text.get(t) == Some(wanted) => {
                p += 1;
                t += 1;
            }
            _ => match again {
                Some((after, from)) => {
                    again = Some((after, from + 1));
                    (p, t) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn the_last_match_decides() {
        let rules = read(&Json::parse(r#"{"*":"allow","bash":{"*":"ask","git *":"allow","rm ?":"deny"}}"#).unwrap());
        assert_eq!(decide(&rules, "edit", "x"), "allow");
        assert_eq!(decide(&rules, "bash", "ls"), "ask");
        assert_eq!(decide(&rules, "bash", "git"), "allow");
        assert_eq!(decide(&rules, "bash", "git log\n-p"), "allow");
        assert_eq!(decide(&rules, "bash", "rm x"), "deny");
        assert_eq!(decide(&rules, "bash", "rm xy"), "ask");
        assert_eq!(decide(&read(&Json::parse("\"deny\"").unwrap()), "a", "b"), "deny");
        assert_eq!(decide(&[], "a", "b"), "ask");
        assert!(glob("a*b*c", "axxbyybc") && !glob("a*b*c", "axxbyyb"));
    }
}
