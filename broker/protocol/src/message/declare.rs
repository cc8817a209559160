//! The one way to declare a message: as data, from which encoder and decoder of every version come.
//!
//! ```text
//! declare! {
//!     FetchRequest: request Fetch -> FetchResponse, versions 0..=17, flexible 12;
//!     struct FetchRequest {
//!         max_wait_ms: i32 [0..=17],                          present in these versions
//!         replica_id: i32 [0..=14] = -1,                      with a default
//!         cluster_id: Option<String> [12..=17 null 12 tag 0], may be null from 12 on, and is tagged
//!         topics: Vec<FetchTopic> [0..=17],
//!         rack_id: String [11..=17 ignorable],                dropped without complaint before 11
//!     }
//!     struct FetchTopic { .. }
//! }
//! ```
//! Names, versions, nullability, tags and defaults are those of Kafka's own message definitions.

use std::ops::RangeInclusive;

use crate::wire::{DecodeError, EncodeError, Field, Form, Reader, Writer};

/// Where a field is: the versions, from when on it may be null, its tag, and whether it may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Presence {
    pub(super) first: i16,
    pub(super) last: i16,
    pub(super) null_from: i16,
    pub(super) tag: Option<u32>,
    pub(super) ignorable: bool,
}

impl Presence {
    pub(super) const fn new(first: i16, last: i16) -> Self {
        Self { first, last, null_from: i16::MAX, tag: None, ignorable: false }
    }

    pub(super) const fn null(self, null_from: i16) -> Self {
        Self { null_from, ..self }
    }

    pub(super) const fn tag(self, tag: u32) -> Self {
        Self { tag: Some(tag), ..self }
    }

    pub(super) const fn ignorable(self) -> Self {
        Self { ignorable: true, ..self }
    }

    pub(super) fn has(self, version: i16) -> bool {
        self.first <= version && version <= self.last
    }

    pub(super) fn form(self, name: &'static str, form: Form) -> Form {
        Form { nullable: form.version >= self.null_from, name, ..form }
    }
}

/// Reads a field of the body, or gives its default where the version does not have it.
pub(super) fn decode_field<T: Field>(
    reader: &mut Reader,
    name: &'static str,
    presence: Presence,
    form: Form,
    default: T,
) -> Result<T, DecodeError> {
    if presence.tag.is_some() || !presence.has(form.version) {
        return Ok(default);
    }
    reader.named(name, |reader| T::decode(reader, presence.form(name, form)))
}

/// Writes a field of the body, or into the list of tagged fields when it has a tag and is not its default.
pub(super) fn encode_field<T: Field + PartialEq>(
    writer: &mut Writer,
    tagged: &mut Vec<(u32, Writer)>,
    name: &'static str,
    presence: Presence,
    form: Form,
    value: &T,
    default: &T,
) -> Result<(), EncodeError> {
    if !presence.has(form.version) {
        if presence.ignorable || form.lenient || value == default {
            return Ok(());
        }
        return Err(EncodeError::Unavailable { field: name, version: form.version });
    }
    match presence.tag {
        None => value.encode(writer, presence.form(name, form)),
        Some(_) if value == default => Ok(()),
        Some(tag) => {
            let mut own = Writer::new();
            value.encode(&mut own, presence.form(name, form))?;
            tagged.push((tag, own));
            Ok(())
        }
    }
}

/// Returns whether a declaration's kind is that of an answer.
pub(super) fn answers(kind: &str) -> bool {
    kind == "response"
}

/// A message, as a request's or response's body.
pub trait Message: Sized + Default {
    /// Its name in Kafka's own definitions.
    const NAME: &'static str;
    /// The versions it has.
    const VERSIONS: RangeInclusive<i16>;
    /// The first flexible version, if any is.
    const FLEXIBLE_FROM: Option<i16>;

    /// Reads the message.
    ///
    /// # Errors
    /// When there is no such version or the bytes are not such a message. Bytes behind it are left to the caller.
    fn decode(reader: &mut Reader, version: i16) -> Result<Self, DecodeError>;

    /// Writes the message.
    ///
    /// # Errors
    /// When there is no such version, or a field is set that the version cannot carry and that may not be dropped.
    fn encode(&self, writer: &mut Writer, version: i16) -> Result<(), EncodeError>;

    /// Returns whether a version is a flexible one.
    fn is_flexible(version: i16) -> bool {
        Self::FLEXIBLE_FROM.is_some_and(|first| version >= first)
    }
}

/// A message that asks for something.
pub trait Request: Message {
    /// Its key.
    const KEY: super::ApiKey;
    /// What answers it.
    type Response: Message;
}

macro_rules! declare {
    (
        $(#[$doc:meta])*
        $message:ident: $kind:ident $($key:ident -> $response:ident)?, versions $first:literal..=$last:literal
            $(, flexible $flexible:literal)?;
        $($structs:tt)*
    ) => {
        $crate::message::declare::structs! { $($structs)* }

        impl $crate::message::Message for $message {
            const NAME: &'static str = stringify!($message);
            const VERSIONS: std::ops::RangeInclusive<i16> = $first..=$last;
            #[allow(unused_assignments, unused_mut, reason = "not every message has flexible versions")]
            const FLEXIBLE_FROM: Option<i16> = {
                let mut from = None;
                $(from = Some($flexible);)?
                from
            };

            fn decode(
                reader: &mut $crate::wire::Reader,
                version: i16,
            ) -> Result<Self, $crate::wire::DecodeError> {
                if !Self::VERSIONS.contains(&version) {
                    return Err(reader.error($crate::wire::DecodeErrorKind::Version(version)));
                }
                let flexible = <Self as $crate::message::Message>::is_flexible(version);
                let form = $crate::wire::Form { version, flexible, nullable: false, lenient: $crate::message::declare::answers(stringify!($kind)), name: stringify!($message) };
                <Self as $crate::wire::Field>::decode(reader, form)
            }

            fn encode(
                &self,
                writer: &mut $crate::wire::Writer,
                version: i16,
            ) -> Result<(), $crate::wire::EncodeError> {
                if !Self::VERSIONS.contains(&version) {
                    return Err($crate::wire::EncodeError::Version { message: Self::NAME, version });
                }
                let flexible = <Self as $crate::message::Message>::is_flexible(version);
                let form = $crate::wire::Form { version, flexible, nullable: false, lenient: $crate::message::declare::answers(stringify!($kind)), name: stringify!($message) };
                <Self as $crate::wire::Field>::encode(self, writer, form)
            }
        }

        $(
            impl $crate::message::Request for $message {
                const KEY: $crate::message::ApiKey = $crate::message::ApiKey::$key;
                type Response = $response;
            }
        )?
    };
}

macro_rules! structs {
    ($(
        $(#[$doc:meta])*
        struct $name:ident {
            $($field:ident: $type:ty [$first:literal..=$last:literal $($mark:ident $($value:literal)?)*] $(= $default:expr)?),* $(,)?
        }
    )*) => {$(
        $(#[$doc])*
        #[doc = concat!("The structure `", stringify!($name), "` of Kafka's message definitions.")]
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $(
                #[doc = concat!("`", stringify!($field), "`, in versions ", $first, " to ", $last, ".")]
                pub $field: $type,
            )*
            /// Tagged fields that this version of the definitions does not know.
            pub unknown_tagged_fields: $crate::wire::TaggedFields,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $crate::message::declare::default_of!($($default)?),)*
                    unknown_tagged_fields: $crate::wire::TaggedFields::new(),
                }
            }
        }

        impl $crate::wire::Field for $name {
            // Counting the fields of every version would be exact; one byte is enough to bound a count.
            const LEAST_BYTES: usize = 1;

            fn decode(
                reader: &mut $crate::wire::Reader,
                form: $crate::wire::Form,
            ) -> Result<Self, $crate::wire::DecodeError> {
                #[allow(unused_mut, reason = "not every structure has tagged fields")]
                let mut this = Self {
                    $($field: $crate::message::declare::decode_field(
                        reader,
                        stringify!($field),
                        const {
                            $crate::message::declare::Presence::new($first, $last)
                                $(.$mark($($value)?))*
                        },
                        form,
                        $crate::message::declare::default_of!($($default)?),
                    )?,)*
                    unknown_tagged_fields: $crate::wire::TaggedFields::new(),
                };
                if form.flexible {
                    let unknown = reader.tagged_fields(|reader, tag| {
                        $(
                            let presence = const {
                                $crate::message::declare::Presence::new($first, $last)
                                    $(.$mark($($value)?))*
                            };
                            if presence.tag == Some(tag) && presence.has(form.version) {
                                let inner = presence.form(stringify!($field), form);
                                this.$field = reader.named(stringify!($field), |reader| {
                                    <$type as $crate::wire::Field>::decode(reader, inner)
                                })?;
                                return Ok(true);
                            }
                        )*
                        let _ = (reader, tag);
                        Ok(false)
                    })?;
                    this.unknown_tagged_fields = unknown;
                }
                Ok(this)
            }

            fn encode(
                &self,
                writer: &mut $crate::wire::Writer,
                form: $crate::wire::Form,
            ) -> Result<(), $crate::wire::EncodeError> {
                #[allow(unused_mut, reason = "not every structure has fields")]
                let mut tagged = Vec::new();
                $($crate::message::declare::encode_field(
                    writer,
                    &mut tagged,
                    stringify!($field),
                    const {
                        $crate::message::declare::Presence::new($first, $last)
                            $(.$mark($($value)?))*
                    },
                    form,
                    &self.$field,
                    &$crate::message::declare::default_of!($($default)?),
                )?;)*
                if form.flexible {
                    writer.tagged_fields(tagged, &self.unknown_tagged_fields)?;
                }
                Ok(())
            }
        }
    )*};
}

/// The default that a declaration gives, or the type's own.
macro_rules! default_of {
    () => {
        Default::default()
    };
    ($default:expr) => {
        $default
    };
}

pub(super) use declare;
pub(super) use default_of;
pub(super) use structs;
