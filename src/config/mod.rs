//! Profiles, settings, key map and theme files as typed values.
