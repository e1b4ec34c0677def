//! The time in which a request is answered.

use std::time::Duration;

/// The time of a request, with that in which it has to arrive.
const USUAL: Duration = Duration::from_secs(60);
/// The time of a request that may wait for a place, for endpoints, for games or for many results.
const LONG: Duration = Duration::from_secs(120);
/// The time of a request that may read all games of a tournament.
const LONGEST: Duration = Duration::from_secs(600);

/// The time in which each method answers, by its path.
pub(crate) type Deadlines = fn(&str) -> Option<Duration>;

/// The time in which a method answers; if the answer is a stream, in which it begins. Uploads have a
/// time for each chunk instead.
pub(crate) fn of(path: &str) -> Option<Duration> {
    match path.rsplit('/').next().unwrap_or_default() {
        "UploadBinary" => None,
        "PlanTournament" | "StartTournament" | "RegisterAgent" | "RegisterRuleset" | "Replay"
        | "Lease" | "Report" => Some(LONG),
        "GetStandings" | "RetryTournament" => Some(LONGEST),
        _ => Some(USUAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::door::paths;

    #[test]
    fn all_methods_but_uploads_have_a_deadline() {
        let mut endless = paths();
        endless.retain(|path| of(path).is_none());
        assert_eq!(endless, ["/arena.v1.CoordinatorService/UploadBinary"]);
    }
}
