//! The state of audits.

use arena_wire::v1;

use crate::units;

/// Why standings include games whose records are known to be false, or may be; none if they do not.
/// `deviating` is the number of workers whose scores deviate.
#[must_use]
pub fn unsound(audits: Option<&v1::Audits>, deviating: u32, id: &str) -> Option<String> {
    let of_audits = audits.and_then(|audits| of_audits(audits, id));
    of_audits.or_else(|| {
        (deviating > 0).then(|| {
            "the standings are not sound: scores differ between workers by more than chance explains, as the \
             notes say; play the tournament again with `--again`, without workers that you do not trust \
             or whose machines are slower"
                .to_owned()
        })
    })
}

fn of_audits(audits: &v1::Audits, id: &str) -> Option<String> {
    if audits.refuted > 0 {
        return Some(format!(
            "the standings are not sound: a third play refuted the records of {}; see `arena audit \
             list {id}`, then replay them with `arena tournament retry {id}`",
            units::plural(audits.refuted, "game")
        ));
    }
    if audits.contradicted > 0 {
        return Some(format!(
            "the standings are not sound: in {}, crashes, timeouts or failed starts, or what followed them, \
             differ between workers of different owners; see the log of the coordinator for the workers, \
             then replay them with `arena tournament retry {id}`",
            units::plural(audits.contradicted, "game")
        ));
    }
    if audits.claims > 0 {
        return Some(format!(
            "the standings are not final: workers of one owner alone reported crashes, timeouts or failed \
             starts in {}, which a worker of another owner still has to replay",
            units::plural(audits.claims, "game")
        ));
    }
    if audits.disputed > 0 {
        return Some(format!(
            "the standings are not final: two workers sent different records of {}, which a third \
             worker has to play; see `arena audit list {id}`",
            units::plural(audits.disputed, "game")
        ));
    }
    if audits.unverified > 0 {
        return Some(format!(
            "the standings are not verified: no worker of another owner could replay {}, so they rest on the \
             word of one owner; the log of the coordinator has the reasons; connect a worker of another owner \
             that can start all agents, or play again with `audit_share = 0` if you trust the workers",
            units::plural(audits.unverified, "game")
        ));
    }
    (audits.pending > 0).then(|| {
        format!(
            "the standings are not final: workers of other owners still have to replay {}; \
             `arena tournament watch {id}` waits for them",
            units::plural(audits.pending, "game")
        )
    })
}

/// The state of audits as text.
#[must_use]
pub fn format_audits(audits: &v1::Audits) -> String {
    let mut text = format!(
        "audit: {} of {} games replayed, {} differ",
        audits.agreed + audits.differing + audits.sampled,
        audits.due,
        audits.differing
    );
    if audits.sampled > 0 {
        text += &format!(", {} played again as second samples", audits.sampled);
    }
    if audits.same_owner > 0 {
        text += &format!(
            ", {} of them by another worker of the same owner, which proves less",
            audits.same_owner
        );
    }
    if audits.differing > 0 {
        text += " (see `arena audit list`)";
    }
    if audits.refuted > 0 {
        text += &format!("; {} records refuted by a third play", audits.refuted);
    }
    if audits.contradicted > 0 {
        text += &format!(
            "; {} with faults that differ between owners",
            audits.contradicted
        );
    }
    if audits.disputed > 0 {
        text += &format!("; {} waiting for a third play", audits.disputed);
    }
    if audits.waiting > 0 {
        text += &format!(
            "; {} still to be replayed by another worker",
            audits.waiting
        );
    }
    if audits.given_up > 0 {
        text += &format!(
            "; {} given up after failed attempts, until another worker joins",
            audits.given_up
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standings::view;

    #[test]
    fn open_audits_and_deviating_workers_make_standings_unsound() {
        let audits = |pending, waiting| v1::Audits {
            due: 10,
            agreed: 5,
            waiting,
            pending,
            ..v1::Audits::default()
        };
        let text = |audits: &v1::Audits, deviating| unsound(Some(audits), deviating, "cup-1");
        // The worker of another owner has gone.
        assert_eq!(text(&audits(0, 5), 0), None);
        let open = text(&audits(5, 5), 0).expect("not final");
        assert!(open.contains("still have to replay 5 games"), "{open}");
        assert!(open.contains("`arena tournament watch cup-1`"), "{open}");
        let unverified = v1::Audits {
            given_up: 3,
            unverified: 3,
            ..v1::Audits::default()
        };
        let unverified = text(&unverified, 0).expect("not verified");
        assert!(unverified.contains("could replay 3 games"), "{unverified}");
        let uneven = text(&audits(0, 0), 2).expect("not sound");
        assert!(uneven.contains("scores differ between workers"), "{uneven}");
        assert_eq!(unsound(None, 2, "cup-1"), Some(uneven));
    }

    #[test]
    fn given_up_audits_are_shown_apart() {
        let audits = v1::Audits {
            due: 10,
            agreed: 5,
            differing: 1,
            waiting: 3,
            given_up: 1,
            unverified: 0,
            disputed: 4,
            refuted: 5,
            sampled: 0,
            same_owner: 2,
            contradicted: 7,
            claims: 0,
            pending: 0,
        };
        let text = format_audits(&audits);
        let parts = [
            "6 of 10",
            "1 differ",
            "3 still",
            "1 given up",
            "4 waiting",
            "5 records",
            "7 with faults",
            "2 of them by another worker of the same owner",
        ];
        for part in parts {
            assert!(text.contains(part), "{text}");
        }
        let json = serde_json::to_value(view::audits(&audits)).expect("numbers");
        assert_eq!(
            (&json["waiting"], &json["given_up"]),
            (&3.into(), &1.into())
        );
    }
}
