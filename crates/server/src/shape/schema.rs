//! Writing a shape as a JSON schema (2020-12, which OpenAPI 3.1 takes as it is).

use super::{Field, Shape};
use annalist_schema::Json;
use annalist_schema::raw::Object;

/// The schema of a shape. Shapes with a name are written into `named` and referred to.
pub(crate) fn schema(shape: &Shape, named: &mut Object<'static>) -> Object<'static> {
    let typed = |name: &str| Object::tagged("type", name);
    match shape {
        Shape::Any => Object::new(),
        Shape::Text => typed("string"),
        Shape::Bool => typed("boolean"),
        Shape::Number => typed("number"),
        Shape::Count => {
            let mut schema = typed("integer");
            schema.set("minimum", 0_i64);
            schema
        }
        Shape::Id(prefix) => {
            let mut schema = typed("string");
            schema.set_text("pattern", &format!("^{prefix}"));
            schema
        }
        Shape::Words(words) => {
            let mut schema = typed("string");
            schema.set("enum", list(words.iter().map(|word| Json::text(word))));
            schema
        }
        Shape::Record => typed("object"),
        Shape::Map(inner) => {
            let mut schema = typed("object");
            schema.set("additionalProperties", self::schema(inner, named));
            schema
        }
        Shape::List(inner) | Shape::Some(inner) => {
            let mut schema = typed("array");
            schema.set("items", self::schema(inner, named));
            if matches!(shape, Shape::Some(_)) {
                schema.set("minItems", 1_i64);
            }
            schema
        }
        Shape::Object(fields) => object(None, fields, named),
        Shape::Tagged { tag, variants, .. } => {
            let variants = variants.iter().map(|(word, fields)| Json::from(object(Some((tag, word)), fields, named)));
            let mut schema = Object::new();
            schema.set("anyOf", list(variants));
            schema
        }
        Shape::Named(name, inner) => {
            if !named.has(name) {
                // The name first: a shape may contain itself.
                named.set(name, Object::new());
                let inner = self::schema(inner, named);
                named.set(name, inner);
            }
            Object::tagged("$ref", &format!("#/components/schemas/{name}"))
        }
    }
}

fn object(tag: Option<(&str, &str)>, fields: &[Field], named: &mut Object<'static>) -> Object<'static> {
    let mut properties = Object::new();
    let mut required = Vec::new();
    if let Some((tag, word)) = tag {
        let mut constant = Object::tagged("type", "string");
        constant.set_text("const", word);
        properties.set(tag, constant);
        required.push(Json::text(tag));
    }
    for field in fields {
        properties.set(field.name, schema(&field.shape, named));
        if field.required {
            required.push(Json::text(field.name));
        }
    }
    let mut schema = Object::tagged("type", "object");
    schema.set("properties", properties);
    if !required.is_empty() {
        schema.set("required", list(required.into_iter()));
    }
    schema
}

/// A JSON array.
pub(crate) fn list(items: impl Iterator<Item = Json<'static>>) -> Json<'static> {
    use annalist_schema::Field as _;
    items.collect::<Vec<_>>().to_json()
}
