//! The three tables everything else is written in: objects with fields, objects told apart by a tag, and closed words.

/// A typed view over a raw object.
///
/// Each line is `required|optional|nullable "wireName" getter / setter: Type,`. A getter of a required field gives
/// `Result<Type, Problem>`, of an optional one `Result<Option<Type>, Problem>` (absent and `null` both read as `None`);
/// the setter of an optional one takes an `Option` and removes the key for `None`. `nullable` is an optional field where
/// `null` is no problem and `None` writes it. An id says of what behind its type (`Cow<'_, str> as Session`) and must
/// start with that kind's prefix. `FIELDS` lists the wire names in the reference's schema order.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$doc:meta])* $need:ident $wire:literal $get:ident / $set:ident : $ty:ty $(as $kind:ident)? ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name<'a>($crate::raw::Object<'a>);

        impl<'a> $name<'a> {
            /// The fields this version knows, in the order of the reference's schema; others are kept as they are. The tag
            /// that tells a variant and the ids that all variants share are not among them.
            pub const FIELDS: &'static [&'static str] = &[$($wire),*];

            /// A view over an object that was decoded elsewhere; nothing is checked.
            #[must_use]
            pub fn from_object(object: $crate::raw::Object<'a>) -> Self {
                Self(object)
            }

            /// Splits a JSON text.
            ///
            /// # Errors
            /// If it is not JSON, or not an object.
            pub fn parse(text: &'a str) -> Result<Self, $crate::raw::Malformed> {
                $crate::raw::Object::parse(text).map(Self)
            }

            /// The raw members.
            #[must_use]
            pub fn object(&self) -> &$crate::raw::Object<'a> {
                &self.0
            }

            /// The raw members, to change.
            pub fn object_mut(&mut self) -> &mut $crate::raw::Object<'a> {
                &mut self.0
            }

            /// The raw members themselves.
            #[must_use]
            pub fn into_object(self) -> $crate::raw::Object<'a> {
                self.0
            }

            /// The same value with texts of its own.
            #[must_use]
            pub fn into_static(self) -> $name<'static> {
                $name(self.0.into_static())
            }

            /// The JSON text.
            #[must_use]
            pub fn to_text(&self) -> String {
                self.0.to_text()
            }

            /// Everything that does not fit the model, at every level; empty for a sound value.
            #[must_use]
            pub fn problems(&self) -> Vec<$crate::field::Problem> {
                let mut path = $crate::field::Path::default();
                self.check_fields(&mut path);
                path.into_problems()
            }

            #[allow(unused_variables, reason = "an object without fields has nothing to check")]
            pub(crate) fn check_fields(&self, path: &mut $crate::field::Path) {
                $( object!(@check $need self path $wire [$ty] [$($kind)?]); )*
            }

            $( object!(@access $(#[$doc])* $need $wire $get $set [$ty] [$($kind)?]); )*
        }

        impl<'a> $crate::field::Field<'a> for $name<'a> {
            fn read(json: $crate::raw::Json<'a>) -> Result<Self, $crate::field::Wrong> {
                <$crate::raw::Object<'a> as $crate::field::Field<'a>>::read(json).map(Self)
            }

            fn write(&self, out: &mut String) {
                self.0.write(out);
            }

            fn check(json: $crate::raw::Json<'a>, path: &mut $crate::field::Path) {
                match <Self as $crate::field::Field<'a>>::read(json) {
                    Ok(value) => value.check_fields(path),
                    Err(wrong) => path.report(wrong),
                }
            }
        }

        impl<'a> From<$name<'a>> for $crate::raw::Json<'static> {
            fn from(value: $name<'a>) -> Self {
                value.0.into()
            }
        }

        serde_by_text!($name);
    };

    (@check required $self:ident $path:ident $wire:literal $ty:tt $kind:tt) => {
        $path.within($wire, |path| match $self.object().get($wire) {
            Some(json) => object!(@check_value $ty $kind json path),
            None => path.report($crate::field::Wrong::Missing),
        });
    };
    (@check optional $self:ident $path:ident $wire:literal $ty:tt $kind:tt) => {
        if let Some(json) = $self.object().get($wire) {
            $path.within($wire, |path| object!(@check_value $ty $kind json path));
        }
    };
    (@check nullable $self:ident $path:ident $wire:literal $ty:tt $kind:tt) => {
        if let Some(json) = $self.object().get($wire).filter(|json| json.kind() != $crate::raw::Kind::Null) {
            $path.within($wire, |path| object!(@check_value $ty $kind json path));
        }
    };

    (@check_value [$ty:ty] [] $json:ident $path:ident) => {
        <$ty as $crate::field::Field<'_>>::check($json.borrowed(), $path)
    };
    (@check_value [$ty:ty] [$kind:ident] $json:ident $path:ident) => {
        if let Err(wrong) = $crate::field::read_id($crate::id::Kind::$kind, $json.borrowed()) {
            $path.report(wrong);
        }
    };

    (@read [$ty:ty] [] $wire:literal $json:ident) => {
        <$ty as $crate::field::Field<'_>>::read($json.borrowed()).map_err(|wrong| $crate::field::Problem::new($wire, wrong))
    };
    (@read [$ty:ty] [$kind:ident] $wire:literal $json:ident) => {
        $crate::field::read_id($crate::id::Kind::$kind, $json.borrowed())
            .map_err(|wrong| $crate::field::Problem::new($wire, wrong))
    };

    (@access $(#[$doc:meta])* required $wire:literal $get:ident $set:ident [$ty:ty] $kind:tt) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// If the field is missing or of another shape.
        pub fn $get(&self) -> Result<$ty, $crate::field::Problem> {
            match self.object().get($wire) {
                Some(json) => object!(@read [$ty] $kind $wire json),
                None => Err($crate::field::Problem::new($wire, $crate::field::Wrong::Missing)),
            }
        }

        #[doc = concat!("Sets `", $wire, "`.")]
        pub fn $set(&mut self, value: $ty) -> &mut Self {
            self.object_mut().set($wire, $crate::field::Field::to_json(&value));
            self
        }
    };
    (@access $(#[$doc:meta])* optional $wire:literal $get:ident $set:ident [$ty:ty] $kind:tt) => {
        object!(@get_option $(#[$doc])* $wire $get [$ty] $kind);

        #[doc = concat!("Sets `", $wire, "`; `None` removes it.")]
        pub fn $set(&mut self, value: Option<$ty>) -> &mut Self {
            match value {
                Some(value) => self.object_mut().set($wire, $crate::field::Field::to_json(&value)),
                None => {
                    self.object_mut().remove($wire);
                }
            }
            self
        }
    };
    (@access $(#[$doc:meta])* nullable $wire:literal $get:ident $set:ident [$ty:ty] $kind:tt) => {
        object!(@get_option $(#[$doc])* $wire $get [$ty] $kind);

        #[doc = concat!("Sets `", $wire, "`; `None` sets it to `null`.")]
        pub fn $set(&mut self, value: Option<$ty>) -> &mut Self {
            let json = value.map_or_else($crate::raw::Json::null, |value| $crate::field::Field::to_json(&value));
            self.object_mut().set($wire, json);
            self
        }
    };
    (@get_option $(#[$doc:meta])* $wire:literal $get:ident [$ty:ty] $kind:tt) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// If the field is there and of another shape. Absent and `null` are `None`.
        pub fn $get(&self) -> Result<Option<$ty>, $crate::field::Problem> {
            match self.object().get($wire) {
                Some(json) if json.kind() != $crate::raw::Kind::Null => object!(@read [$ty] $kind $wire json).map(Some),
                _ => Ok(None),
            }
        }
    };
}

/// Objects told apart by the text of one key: part types, roles, tool statuses, error names.
///
/// Each line is `"wire-name" | "older-name" => Variant(View),`. Whatever else stands there becomes `Unknown` and is
/// carried along untouched.
///
/// Behind the lines may stand `identity { "wireName" getter / setter: Kind, ... }`: ids that every variant has on the wire
/// and that the columns of a row hold instead of its data. The enum and every view get them; nobody misses them.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $key:literal, $what:literal {
            $( $(#[$doc:meta])* $wire:literal $(| $older:literal)* => $variant:ident($view:ident) ),* $(,)?
        }
    ) => {
        tagged! {
            $(#[$meta])*
            pub enum $name by $key, $what {
                $( $(#[$doc])* $wire $(| $older)* => $variant($view), )*
            }
            identity {}
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $key:literal, $what:literal {
            $( $(#[$doc:meta])* $wire:literal $(| $older:literal)* => $variant:ident($view:ident) ),* $(,)?
        }
        identity $ids:tt
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name<'a> {
            $( $(#[$doc])* #[doc = concat!("`", $wire, "`")] $variant($view<'a>), )*
            /// Anything else, carried along as it is.
            Unknown($crate::raw::Object<'a>),
        }

        impl<'a> $name<'a> {
            /// The names this version knows, as they stand on the wire.
            pub const NAMES: &'static [&'static str] = &[$($wire),*];

            /// Tells the kind of an object; never fails.
            #[must_use]
            pub fn from_object(object: $crate::raw::Object<'a>) -> Self {
                let tag = object.text($key).map(std::borrow::Cow::into_owned);
                match tag.as_deref() {
                    $( Some($wire $(| $older)*) => Self::$variant($view::from_object(object)), )*
                    _ => Self::Unknown(object),
                }
            }

            /// Splits a JSON text and tells its kind.
            ///
            /// # Errors
            /// If it is not JSON, or not an object.
            pub fn parse(text: &'a str) -> Result<Self, $crate::raw::Malformed> {
                $crate::raw::Object::parse(text).map(Self::from_object)
            }

            /// The name on the wire, as written (an older spelling stays one); nothing if it is missing or no string.
            #[must_use]
            pub fn tag(&self) -> Option<std::borrow::Cow<'_, str>> {
                self.object().text($key)
            }

            /// The name that this version has for it, also where an older one is written; nothing for `Unknown`.
            #[must_use]
            pub fn wire_name(&self) -> Option<&'static str> {
                match self {
                    $( Self::$variant(_) => Some($wire), )*
                    Self::Unknown(_) => None,
                }
            }

            /// The raw members.
            #[must_use]
            pub fn object(&self) -> &$crate::raw::Object<'a> {
                match self {
                    $( Self::$variant(view) => view.object(), )*
                    Self::Unknown(object) => object,
                }
            }

            /// The raw members, to change. Changing the tag does not change the variant.
            pub fn object_mut(&mut self) -> &mut $crate::raw::Object<'a> {
                match self {
                    $( Self::$variant(view) => view.object_mut(), )*
                    Self::Unknown(object) => object,
                }
            }

            /// The raw members themselves.
            #[must_use]
            pub fn into_object(self) -> $crate::raw::Object<'a> {
                match self {
                    $( Self::$variant(view) => view.into_object(), )*
                    Self::Unknown(object) => object,
                }
            }

            /// The same value with texts of its own.
            #[must_use]
            pub fn into_static(self) -> $name<'static> {
                match self {
                    $( Self::$variant(view) => $name::$variant(view.into_static()), )*
                    Self::Unknown(object) => $name::Unknown(object.into_static()),
                }
            }

            /// The JSON text.
            #[must_use]
            pub fn to_text(&self) -> String {
                self.object().to_text()
            }

            /// Everything that does not fit the model, at every level; empty for a sound value.
            #[must_use]
            pub fn problems(&self) -> Vec<$crate::field::Problem> {
                let mut path = $crate::field::Path::default();
                self.check_fields(&mut path);
                path.into_problems()
            }

            pub(crate) fn check_fields(&self, path: &mut $crate::field::Path) {
                identity!(@check self path $ids);
                match self {
                    $( Self::$variant(view) => view.check_fields(path), )*
                    Self::Unknown(object) => path.within($key, |path| {
                        path.report(match object.get($key) {
                            None => $crate::field::Wrong::Missing,
                            Some(json) => match json.as_text() {
                                Some(value) => $crate::field::Wrong::Unknown { what: $what, value: value.into_owned() },
                                None => $crate::field::mismatch("a string", json.kind()),
                            },
                        });
                    }),
                }
            }
        }

        impl<'a> $crate::field::Field<'a> for $name<'a> {
            fn read(json: $crate::raw::Json<'a>) -> Result<Self, $crate::field::Wrong> {
                <$crate::raw::Object<'a> as $crate::field::Field<'a>>::read(json).map(Self::from_object)
            }

            fn write(&self, out: &mut String) {
                self.object().write(out);
            }

            fn check(json: $crate::raw::Json<'a>, path: &mut $crate::field::Path) {
                match <Self as $crate::field::Field<'a>>::read(json) {
                    Ok(value) => value.check_fields(path),
                    Err(wrong) => path.report(wrong),
                }
            }
        }

        identity!($name $ids);

        $(
            identity!($view $ids);

            impl<'a> From<$view<'a>> for $name<'a> {
                fn from(value: $view<'a>) -> Self {
                    Self::$variant(value)
                }
            }
        )*

        impl<'a> From<$name<'a>> for $crate::raw::Json<'static> {
            fn from(value: $name<'a>) -> Self {
                value.into_object().into()
            }
        }

        serde_by_text!($name);
    };
}

/// The ids of a [`tagged!`] type, as accessors and as checks.
macro_rules! identity {
    ($name:ident {}) => {};
    ($name:ident { $( $(#[$doc:meta])* $wire:literal $get:ident / $set:ident : $kind:ident ),* $(,)? }) => {
        impl $name<'_> {
            $( object!(@access $(#[$doc])* required $wire $get $set [std::borrow::Cow<'_, str>] [$kind]); )*
        }
    };
    (@check $self:ident $path:ident { $( $(#[$doc:meta])* $wire:literal $get:ident / $set:ident : $kind:ident ),* $(,)? }) => {
        $( object!(@check optional $self $path $wire [std::borrow::Cow<'_, str>] [$kind]); )*
    };
}

/// A closed set of words on the wire; a word of a later version reads as `Other`.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident, $what:literal {
            $( $(#[$doc:meta])* $wire:literal => $variant:ident ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name<'a> {
            $( $(#[$doc])* $variant, )*
            /// A word this version does not know.
            Other(std::borrow::Cow<'a, str>),
        }

        impl<'a> $name<'a> {
            /// The words this version knows.
            pub const WORDS: &'static [&'static str] = &[$($wire),*];

            /// Tells a word; never fails.
            #[must_use]
            pub fn from_word(word: impl Into<std::borrow::Cow<'a, str>>) -> Self {
                let word = word.into();
                match &*word {
                    $( $wire => Self::$variant, )*
                    _ => Self::Other(word),
                }
            }

            /// The same word with a text of its own.
            #[must_use]
            pub fn into_static(self) -> $name<'static> {
                match self {
                    $( Self::$variant => $name::$variant, )*
                    Self::Other(word) => $name::Other(std::borrow::Cow::Owned(word.into_owned())),
                }
            }

            /// The word on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $wire, )*
                    Self::Other(word) => word,
                }
            }
        }

        impl<'a> $crate::field::Field<'a> for $name<'a> {
            fn read(json: $crate::raw::Json<'a>) -> Result<Self, $crate::field::Wrong> {
                <std::borrow::Cow<'a, str> as $crate::field::Field<'a>>::read(json).map(Self::from_word)
            }

            fn write(&self, out: &mut String) {
                $crate::raw::write_string(out, self.as_str());
            }

            fn check(json: $crate::raw::Json<'a>, path: &mut $crate::field::Path) {
                match <Self as $crate::field::Field<'a>>::read(json) {
                    Ok(Self::Other(word)) => {
                        path.report($crate::field::Wrong::Unknown { what: $what, value: word.into_owned() });
                    }
                    Ok(_) => {}
                    Err(wrong) => path.report(wrong),
                }
            }
        }
    };
}

/// Serde goes through the raw text, so that it is as lossless as everything else.
macro_rules! serde_by_text {
    ($name:ident) => {
        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.object().serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name<'static> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$crate::raw::Object<'static> as serde::Deserialize>::deserialize(deserializer).map(Self::from_object)
            }
        }
    };
}
