//! What a broker understands.

use std::collections::BTreeMap;

use ottla_protocol::message::{ApiKey, ApiVersionsResponse, Message as _};

/// The versions that a broker told, by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions(BTreeMap<i16, (i16, i16)>);

impl Versions {
    /// Takes them from the broker's answer.
    #[must_use]
    pub fn of(response: &ApiVersionsResponse) -> Self {
        let ranges = response.api_keys.iter().map(|row| (row.api_key, (row.min_version, row.max_version)));
        Self(ranges.collect())
    }

    /// Returns the highest version of `api` that both sides know.
    #[must_use]
    pub fn highest(&self, api: ApiKey) -> Option<i16> {
        let (lowest, highest) = self.0.get(&api.number())?;
        let ours = api.versions();
        let common = *ours.end().min(highest);
        (common >= *ours.start() && common >= *lowest).then_some(common)
    }

    /// Returns the lowest and highest version of the key with this number, as the broker told.
    #[must_use]
    pub fn range(&self, number: i16) -> Option<(i16, i16)> {
        self.0.get(&number).copied()
    }

    /// Returns every key the broker told, with its range.
    pub fn iter(&self) -> impl Iterator<Item = (i16, (i16, i16))> + '_ {
        self.0.iter().map(|(key, range)| (*key, *range))
    }
}

/// The version of ApiVersions that is asked in first.
pub(crate) const ASK_IN: i16 = *ottla_protocol::message::ApiVersionsRequest::VERSIONS.end();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_common_version_is_found() {
        // told by the broker → common; ours are 0 to 17
        let cases = [((0, 4), Some(4)), ((4, 40), Some(17)), ((18, 19), None), ((0, 0), Some(0))];
        for (told, expected) in cases {
            let versions = Versions(BTreeMap::from([(ApiKey::Fetch.number(), told)]));
            assert_eq!(versions.highest(ApiKey::Fetch), expected, "{told:?}");
        }
        assert_eq!(Versions::default().highest(ApiKey::Fetch), None);
    }
}
