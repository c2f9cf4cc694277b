//! What an object is: metadata, codecs, scheme, conversion, patches.
