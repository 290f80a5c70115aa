//! Whether two JSON texts say the same: the log has its keys in the order of a schema, the row in that of whoever wrote it.

use annalist_schema::Json;
use annalist_schema::raw::Kind;

/// Equal but for the order of keys and the spelling of numbers and strings. Iterative: stored values nest as they like.
pub(super) fn same(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let (Ok(a), Ok(b)) = (Json::parse(a), Json::parse(b)) else { return false };
    let mut waiting = vec![(a.into_static(), b.into_static())];
    while let Some((a, b)) = waiting.pop() {
        if a.as_str() == b.as_str() {
            continue;
        }
        if a.kind() != b.kind() {
            return false;
        }
        match a.kind() {
            Kind::Null | Kind::Bool => return false,
            Kind::Number => {
                let (a, b) = (a.as_number().map(|n| n.as_f64()), b.as_number().map(|n| n.as_f64()));
                if a != b {
                    return false;
                }
            }
            Kind::String => {
                // Half a surrogate pair has no text that could be compared; then only the same spelling is the same.
                if a.has_lone_surrogate() || b.has_lone_surrogate() || a.as_text() != b.as_text() {
                    return false;
                }
            }
            Kind::Array => {
                let (Some(a), Some(b)) = (a.into_array(), b.into_array()) else { return false };
                if a.len() != b.len() {
                    return false;
                }
                waiting.extend(a.into_iter().zip(b));
            }
            Kind::Object => {
                let (Some(a), Some(b)) = (a.into_object(), b.into_object()) else { return false };
                if a.entries().len() != b.entries().len() {
                    return false;
                }
                for entry in a.entries() {
                    let Some(other) = b.get(&entry.key()) else { return false };
                    waiting.push((entry.value().clone(), other.clone()));
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn order_and_spelling_do_not_matter_and_values_do() {
        assert!(same(r#"{"a":1,"b":["x",{"c":null}]}"#, r#"{"b":["\u0078",{"c":null}],"a":1.0}"#));
        assert!(!same(r#"{"a":1}"#, r#"{"a":2}"#));
        assert!(!same(r#"{"a":1}"#, r#"{"a":"1"}"#));
        assert!(!same(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#));
        assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":1}"#));
        assert!(!same(r#"{"a":"\ud83d"}"#, r#"{"a":"\ud83e"}"#));
        assert!(!same("not json", "{}"));
    }

    #[test]
    fn deep_values_cost_no_stack() {
        let deep = |leaf: &str| format!("{}{leaf}{}", "[".repeat(2_000), "]".repeat(2_000));
        assert!(same(&deep("1"), &deep("1.0")));
        assert!(!same(&deep("1"), &deep("2")));
    }
}
