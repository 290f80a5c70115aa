//! JSON as the tests see it: an independent, simple reader that keeps every spelling, and strategies that make texts.

use proptest::prelude::*;

/// A value with all of its spellings: scalars and keys are the texts that stood there.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Scalar(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// Reads a text that is known to be JSON.
    pub fn parse(text: &str) -> Tree {
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        let tree = value(&chars, &mut at);
        space(&chars, &mut at);
        assert_eq!(at, chars.len(), "text after the value: {text}");
        tree
    }

    /// The text without white space.
    pub fn print(&self) -> String {
        match self {
            Tree::Scalar(text) => text.clone(),
            Tree::Array(elements) => format!("[{}]", elements.iter().map(Tree::print).collect::<Vec<_>>().join(",")),
            Tree::Object(members) => {
                let members: Vec<String> = members.iter().map(|(key, value)| format!("{key}:{}", value.print())).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// The value at a path of keys and indexes joined with dots.
    pub fn at(&mut self, path: &str) -> &mut Tree {
        path.split('.').fold(self, |tree, step| match tree {
            Tree::Object(members) => {
                let key = format!("\"{step}\"");
                &mut members.iter_mut().rev().find(|(name, _)| *name == key).unwrap_or_else(|| panic!("no {step}")).1
            }
            Tree::Array(elements) => &mut elements[step.parse::<usize>().unwrap()],
            Tree::Scalar(text) => panic!("{step} of {text}"),
        })
    }

    /// Calls for every object, from the outside in.
    pub fn each_object(&mut self, visit: &mut impl FnMut(&mut Vec<(String, Tree)>)) {
        match self {
            Tree::Scalar(_) => {}
            Tree::Array(elements) => elements.iter_mut().for_each(|element| element.each_object(visit)),
            Tree::Object(members) => {
                for (_, member) in members.iter_mut() {
                    member.each_object(visit);
                }
                visit(members);
            }
        }
    }
}

fn space(chars: &[char], at: &mut usize) {
    while chars.get(*at).is_some_and(|c| " \n\r\t".contains(*c)) {
        *at += 1;
    }
}

fn string(chars: &[char], at: &mut usize) -> String {
    let start = *at;
    assert_eq!(chars[start], '"');
    *at += 1;
    while chars[*at] != '"' {
        *at += if chars[*at] == '\\' { 2 } else { 1 };
    }
    *at += 1;
    chars[start..*at].iter().collect()
}

fn value(chars: &[char], at: &mut usize) -> Tree {
    space(chars, at);
    match chars[*at] {
        '"' => Tree::Scalar(string(chars, at)),
        '[' => {
            let mut elements = Vec::new();
            *at += 1;
            loop {
                space(chars, at);
                match chars[*at] {
                    ']' => break,
                    ',' => *at += 1,
                    _ => elements.push(value(chars, at)),
                }
            }
            *at += 1;
            Tree::Array(elements)
        }
        '{' => {
            let mut members = Vec::new();
            *at += 1;
            loop {
                space(chars, at);
                match chars[*at] {
                    '}' => break,
                    ',' => *at += 1,
                    _ => {
                        let key = string(chars, at);
                        space(chars, at);
                        assert_eq!(chars[*at], ':');
                        *at += 1;
                        members.push((key, value(chars, at)));
                    }
                }
            }
            *at += 1;
            Tree::Object(members)
        }
        _ => {
            let start = *at;
            while chars.get(*at).is_some_and(|c| !",]} \n\r\t".contains(*c)) {
                *at += 1;
            }
            Tree::Scalar(chars[start..*at].iter().collect())
        }
    }
}

/// The inside of a string: plain, escaped, outside of the first plane, and halves of surrogate pairs.
fn inside() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9 .,:{}\\[\\]/-]{0,6}",
        "[\u{e9}\u{4e2d}\u{1f600}\u{2028}\u{7f}]",
        Just(r"\n".to_owned()),
        Just(r"\/".to_owned()),
        Just("\\\"".to_owned()),
        Just(r"\\".to_owned()),
        Just(r"\u0000".to_owned()),
        Just(r"\u00e9".to_owned()),
        Just(r"\uD83D\uDE00".to_owned()),
        Just(r"\ud83d".to_owned()),
        Just(r"\udc00x".to_owned()),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn scalar() -> impl Strategy<Value = Tree> {
    let numbers = prop::sample::select(vec![
        "0",
        "-0",
        "1",
        "1.0",
        "1e3",
        "1E+3",
        "-1.50",
        "0.1e-7",
        "12345678901234567890",
        "1e999",
        "0.30000000000000004",
        "-9007199254740993",
    ]);
    prop_oneof![
        numbers.prop_map(|n| Tree::Scalar(n.to_owned())),
        any::<i64>().prop_map(|n| Tree::Scalar(n.to_string())),
        inside().prop_map(|text| Tree::Scalar(format!("\"{text}\""))),
        prop::sample::select(vec!["null", "true", "false"]).prop_map(|word| Tree::Scalar(word.to_owned())),
    ]
}

/// Any JSON value; keys may stand twice.
pub fn tree() -> impl Strategy<Value = Tree> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Array),
            prop::collection::vec((inside().prop_map(|key| format!("\"{key}\"")), inner), 0..4).prop_map(Tree::Object),
        ]
    })
}

/// Members that no version knows, each with the place where to put it.
pub fn strangers() -> impl Strategy<Value = Vec<(String, Tree, prop::sample::Index)>> {
    let key = inside().prop_map(|rest| format!("\"x-{rest}\""));
    prop::collection::vec((key, tree(), any::<prop::sample::Index>()), 1..4)
}

/// The tree with strangers in each of its objects.
pub fn with_strangers(mut tree: Tree, strangers: &[(String, Tree, prop::sample::Index)]) -> Tree {
    tree.each_object(&mut |members| {
        for (key, value, place) in strangers {
            let at = place.index(members.len() + 1);
            members.insert(at, (key.clone(), value.clone()));
        }
    });
    tree
}
