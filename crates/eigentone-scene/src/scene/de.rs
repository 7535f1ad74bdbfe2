//! From parsed TOML to types, with errors that know where they are.
//!
//! Serde's own errors say which field is unknown but forget in which table; this walk over the parsed document keeps the keys on the way and the place in the text.

use super::suggest;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

/// A key and its value.
pub(super) type Entry<'t> = (Spanned<DeString<'t>>, Spanned<DeValue<'t>>);

/// Something wrong at a place.
#[derive(Debug)]
pub(super) struct Fault {
    /// Keys on the way to it, innermost first.
    path: Vec<String>,
    /// Byte in the text.
    pub at: Option<usize>,
    what: What,
}

#[derive(Debug)]
enum What {
    Unknown { key: String, known: &'static [&'static str] },
    Missing { key: &'static str },
    Other(String),
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), at: None, what: What::Other(message.into()) }
    }

    pub fn at(mut self, at: usize) -> Self {
        self.at.get_or_insert(at);
        self
    }

    pub fn under(mut self, key: impl Into<String>, at: usize) -> Self {
        self.path.push(key.into());
        self.at(at)
    }

    /// What is wrong in a table, for instance `[[body]] no. 3`. `more` are keys that the table also knows.
    pub fn told(&self, table: &str, more: &[&str]) -> String {
        let path = self.path.iter().rev().fold(String::new(), |mut path, key| {
            if !path.is_empty() && !key.starts_with('[') {
                path.push('.');
            }
            path + key
        });
        let within = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match &self.what {
            What::Unknown { key, known } => {
                // Nested tables do not know the keys of the outer one.
                let more = if path.is_empty() { more } else { &[] };
                let meant = suggest::phrase(key, known.iter().chain(more).copied());
                let list = if meant.is_empty() && known.len() + more.len() <= 10 && !known.is_empty() {
                    let quoted: Vec<String> = known.iter().chain(more).map(|k| format!("`{k}`")).collect();
                    format!("; known are {}", quoted.join(", "))
                } else {
                    meant
                };
                format!("unknown key `{}` in {table}{list}", within(key))
            }
            What::Missing { key } => format!("`{}` is missing in {table}; give it", within(key)),
            What::Other(message) if path.is_empty() => format!("{table}: {message}"),
            What::Other(message) => format!("`{path}` in {table}: {message}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told("the scene", &[]))
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self { path: Vec::new(), at: None, what: What::Unknown { key: key.to_owned(), known } }
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        let all: Vec<String> = known.iter().map(|k| format!("`{k}`")).collect();
        let meant = suggest::phrase(found, known.iter().copied());
        Self::new(format!("expected one of {}, found `{found}`{meant}", all.join(", ")))
    }

    fn missing_field(key: &'static str) -> Self {
        Self { path: Vec::new(), at: None, what: What::Missing { key } }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Str(s) if s.chars().count() <= 40 => format!("the text {s:?}"),
            Unexpected::Str(_) => "a text".to_owned(),
            Unexpected::Bool(b) => format!("`{b}`"),
            Unexpected::Signed(n) => format!("{n}"),
            Unexpected::Unsigned(n) => format!("{n}"),
            Unexpected::Float(x) => format!("{x:?}"),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            other => other.to_string(),
        };
        Self::new(format!("expected {}, found {found}", plain(expected)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {}, found {found} values", plain(expected)))
    }
}

/// What serde expects, in words for people who do not know Rust.
fn plain(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "f64" | "f32" => "a number".to_owned(),
        "u64" | "u32" | "u8" | "usize" => "a whole number, 0 or more".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ if words.starts_with("struct ") || words == "a map" => "a table such as { key = value }".to_owned(),
        _ => words.replacen("an array of length", "a list of length", 1),
    }
}

/// The entries of a table.
pub(super) fn entries<'t>(table: DeTable<'t>) -> Vec<Entry<'t>> {
    table.into_iter().collect()
}

/// A value on its way into a type.
pub(super) struct Value<'t>(pub Spanned<DeValue<'t>>);

/// The entries of a table on their way into a type.
pub(super) struct Entries<'t> {
    rest: std::vec::IntoIter<Entry<'t>>,
    next: Option<Entry<'t>>,
}

impl<'t> Entries<'t> {
    pub fn new(entries: Vec<Entry<'t>>) -> Self {
        Self { rest: entries.into_iter(), next: None }
    }
}

fn integer<'de, V: Visitor<'de>>(n: &DeInteger<'_>, visitor: V) -> Result<V::Value, Fault> {
    if let Ok(n) = i64::from_str_radix(n.as_str(), n.radix()) {
        visitor.visit_i64(n)
    } else if let Ok(n) = u64::from_str_radix(n.as_str(), n.radix()) {
        visitor.visit_u64(n)
    } else {
        Err(Fault::new("the whole number is too large"))
    }
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let at = self.0.span().start;
        match self.0.into_inner() {
            DeValue::String(s) => visitor.visit_str(&s),
            DeValue::Integer(n) => integer(&n, visitor),
            DeValue::Float(x) => match x.as_str().parse() {
                Ok(x) => visitor.visit_f64(x),
                Err(_) => Err(Fault::new("this is no number")),
            },
            DeValue::Boolean(b) => visitor.visit_bool(b),
            DeValue::Datetime(_) => Err(Fault::new("dates mean nothing in a scene; times are seconds")),
            DeValue::Array(values) => {
                let all = values.len();
                let mut items = Items { next: 0, rest: values.into_iter() };
                let value = visitor.visit_seq(&mut items)?;
                match items.next {
                    read if read == all => Ok(value),
                    read => Err(Fault::new(format!("expected {read} values, found {all}"))),
                }
            }
            DeValue::Table(table) => visitor.visit_map(Entries::new(entries(table))),
        }
        .map_err(|fault| fault.at(at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let at = self.0.span().start;
        match self.0.into_inner() {
            DeValue::String(s) => visitor.visit_enum(StrDeserializer::<Fault>::new(&s)),
            DeValue::Table(table) if table.len() == 1 => match entries(table).pop() {
                Some(entry) => visitor.visit_enum(Choice(entry)),
                None => Err(Fault::new("the table is empty")),
            },
            _ => {
                let all: Vec<String> = known.iter().map(|k| format!("`{k}`")).collect();
                Err(Fault::new(format!("expected exactly one of {}", all.join(", "))))
            }
        }
        .map_err(|fault| fault.at(at))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de, 't> MapAccess<'de> for Entries<'t> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(entry) = self.rest.next() else { return Ok(None) };
        let at = entry.0.span().start;
        let key = seed.deserialize(StrDeserializer::new(entry.0.get_ref())).map_err(|fault: Fault| fault.at(at))?;
        self.next = Some(entry);
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some((key, value)) = self.next.take() else { return Err(Fault::new("a value without a key")) };
        let at = key.span().start;
        seed.deserialize(Value(value)).map_err(|fault| fault.under(key.into_inner(), at))
    }
}

impl<'de> IntoDeserializer<'de, Fault> for Entries<'_> {
    type Deserializer = serde::de::value::MapAccessDeserializer<Self>;

    fn into_deserializer(self) -> Self::Deserializer {
        serde::de::value::MapAccessDeserializer::new(self)
    }
}

/// The values of a list.
struct Items<'t> {
    next: usize,
    rest: std::vec::IntoIter<Spanned<DeValue<'t>>>,
}

impl<'de> SeqAccess<'de> for &mut Items<'_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(value) = self.rest.next() else { return Ok(None) };
        let (at, index) = (value.span().start, self.next);
        self.next += 1;
        seed.deserialize(Value(value)).map(Some).map_err(|fault| fault.under(format!("[{index}]"), at))
    }
}

/// A key that names a variant, and its value.
pub(super) struct Choice<'t>(pub Entry<'t>);

impl<'de, 't> EnumAccess<'de> for Choice<'t> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        let at = self.0.0.span().start;
        let variant = seed.deserialize(StrDeserializer::new(self.0.0.get_ref())).map_err(|f: Fault| f.at(at))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_> {
    type Error = Fault;

    /// Variants without content are written `key = true`.
    fn unit_variant(self) -> Result<(), Fault> {
        let (key, value) = self.0;
        match value.get_ref() {
            DeValue::Boolean(true) => Ok(()),
            _ => {
                let message = format!("write `{} = true`, or leave it out", key.get_ref());
                Err(Fault::new(message).under(key.get_ref().clone(), value.span().start))
            }
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        let (key, value) = self.0;
        let at = key.span().start;
        seed.deserialize(Value(value)).map_err(|fault| fault.under(key.into_inner(), at))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.struct_variant(&[], visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Fault> {
        let (key, value) = self.0;
        let at = key.span().start;
        Value(value).deserialize_any(visitor).map_err(|fault| fault.under(key.into_inner(), at))
    }
}

impl<'de> Deserializer<'de> for Choice<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
