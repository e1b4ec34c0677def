//! Records of a ruleset that is a package: another worker replays them before they count.

use arena_wire::{
    reasons,
    v1::{self, Role, TournamentState},
};
use tonic::Code;

use super::{
    door::owners,
    fixture::{FakeWorker, refused, won},
    pig::{GAMES, Pig, answer, job, replay, reporting, sound, try_replay, wrong},
};

#[tokio::test]
async fn record_counts_once_another_owner_has_replayed_it() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    let mut other = pig.replayer("other", 2).await;
    let mut replayed = 0;
    while replayed < GAMES {
        let (lease, report) = reporting(&mut player).await;
        let job = job(&mut other).await;
        assert_eq!(job.records.len(), lease.games.len());
        assert_eq!(job.tournament_id, pig.id);
        assert!(job.setup.is_some_and(|setup| setup.rules.is_some()));
        assert!(!report.is_finished());
        assert_eq!(pig.tournament().await.games_done, replayed);
        let verdict = v1::ReplayVerdict {
            job_id: job.job_id,
            ..Default::default()
        };
        assert_eq!(replay(&mut other, Some(verdict)).await.expect("ok"), None);
        answer(report).await.expect("it counts");
        replayed += lease.games.len() as u64;
    }
    let tournament = pig.tournament().await;
    assert_eq!(tournament.state(), TournamentState::Finished);
    assert_eq!(pig.unverified().await, None);
}

#[tokio::test]
async fn records_count_unverified_without_another_worker() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    player.play_all().await;
    let note = pig.unverified().await.expect("a note");
    assert!(note.contains("40 of 40 games"), "{note}");
}

#[tokio::test]
async fn worker_of_another_owner_replays_while_there_is_one() {
    let pig = Pig::new().await;
    let token = pig.arena.create(Role::Worker).await;
    let same = |name, process| FakeWorker::join_with(pig.arena.connection(&token), name, process);
    let (mut player, mut same) = (same("player", 1).await, same("same", 2).await);
    assert_eq!(replay(&mut same, None).await.expect("ok"), None);
    // Without another owner, another process of the same one replays.
    let (_, report) = reporting(&mut player).await;
    let first = job(&mut same).await;
    replay(&mut same, sound(&first)).await.expect("ok");
    answer(report).await.expect("it counts");
    let mut other = pig.replayer("other", 3).await;
    let (_, report) = reporting(&mut player).await;
    assert_eq!(try_replay(&mut same, None, 100).await.expect("ok"), None);
    let second = job(&mut other).await;
    replay(&mut other, sound(&second)).await.expect("ok");
    answer(report).await.expect("it counts");
}

#[tokio::test]
async fn record_that_two_workers_refute_is_refused() {
    let pig = Pig::new().await;
    let mut liar = pig.replayer("liar", 1).await;
    let [mut second, mut third] = [
        pig.replayer("second", 2).await,
        pig.replayer("third", 3).await,
    ];
    let (_, report) = reporting(&mut liar).await;
    let first = job(&mut second).await;
    replay(&mut second, wrong(&first)).await.expect("ok");
    let again = job(&mut third).await;
    assert_eq!(again.records, first.records);
    replay(&mut third, wrong(&again)).await.expect("ok");
    let text = refused(
        answer(report).await,
        Code::InvalidArgument,
        reasons::RECORD_INVALID,
    );
    assert!(text.contains("two other workers"), "{text}");
    refused(
        liar.try_lease(0).await,
        Code::PermissionDenied,
        reasons::WORKER_QUARANTINED,
    );
    refused(
        replay(&mut liar, None).await,
        Code::PermissionDenied,
        reasons::WORKER_QUARANTINED,
    );
    assert_eq!(pig.tournament().await.games_done, 0);
}

#[tokio::test]
async fn rules_that_contradict_themselves_pause_the_tournament() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    let mut other = pig.replayer("other", 2).await;
    let mut third = pig.replayer("third", 3).await;
    let mut reports = Vec::new();
    for (replayer, paused) in [(&mut other, false), (&mut third, true)] {
        reports.push(reporting(&mut player).await.1);
        let first = job(replayer).await;
        let verdict = v1::ReplayVerdict {
            job_id: first.job_id,
            failed: "two answers".to_owned(),
            rules_failed: true,
            ..Default::default()
        };
        replay(replayer, Some(verdict)).await.expect("ok");
        let state = pig.tournament().await.state();
        let is_paused = state == TournamentState::Paused;
        assert_eq!(is_paused, paused, "one owner alone pauses nothing");
    }
    for report in reports {
        answer(report).await.expect("no worker is charged");
    }
    assert_eq!(pig.tournament().await.games_done, 0, "they do not count");
    let leased = player.try_lease(0).await;
    assert!(
        leased.is_ok(),
        "the player is not in quarantine: {leased:?}"
    );
}

#[tokio::test]
async fn worker_that_refutes_sound_records_replays_no_more() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    let [mut liar, mut third] = [
        pig.replayer("liar", 2).await,
        pig.replayer("third", 3).await,
    ];
    let (_, report) = reporting(&mut player).await;
    let first = job(&mut liar).await;
    replay(&mut liar, wrong(&first)).await.expect("ok");
    let again = job(&mut third).await;
    replay(&mut third, sound(&again)).await.expect("ok");
    answer(report).await.expect("it counts");
    let (_, report) = reporting(&mut player).await;
    assert_eq!(try_replay(&mut liar, None, 100).await.expect("ok"), None);
    let next = job(&mut third).await;
    replay(&mut third, sound(&next)).await.expect("ok");
    answer(report).await.expect("it counts");
}

#[tokio::test]
async fn rules_on_which_two_workers_disagree_pause_the_tournament() {
    let pig = Pig::new().await;
    let [mut one, mut two] = [pig.replayer("one", 1).await, pig.replayer("two", 2).await];
    let (_, report) = reporting(&mut one).await;
    let refuted = job(&mut two).await;
    replay(&mut two, wrong(&refuted)).await.expect("ok");
    answer(report).await.expect("the other games count");
    let tournament = pig.tournament().await;
    assert_eq!(tournament.games_done, refuted.records.len() as u64 - 1);
    let pause = tournament.pause.expect("it is paused");
    assert_eq!(pause.kind, "rules_disputed");
    assert_eq!(pause.workers, ["one", "two"]);
    assert!(
        pause.error.contains("the rules give another result"),
        "{pause:?}"
    );
    // A third owner settles who is right.
    let mut third = pig.replayer("third", 3).await;
    let resume = v1::ResumeTournamentRequest {
        tournament_id: pig.id.clone(),
        ..Default::default()
    };
    let mut user = pig.arena.user(&pig.arena.admin);
    user.resume_tournament(resume).await.expect("resumed");
    let (_, report) = reporting(&mut one).await;
    let again = job(&mut two).await;
    replay(&mut two, wrong(&again)).await.expect("ok");
    let third_job = job(&mut third).await;
    replay(&mut third, sound(&third_job)).await.expect("ok");
    answer(report).await.expect("it counts");
}

#[tokio::test]
async fn worker_that_has_just_joined_is_waited_for() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    let mut other = pig.join("other", 2).await;
    let (_, report) = reporting(&mut player).await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!report.is_finished(), "it has not asked for records yet");
    let job = job(&mut other).await;
    replay(&mut other, sound(&job)).await.expect("ok");
    answer(report).await.expect("it counts");
    assert_eq!(pig.unverified().await, None);
}

#[tokio::test]
async fn long_reports_are_replayed_in_parts() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    let mut other = pig.replayer("other", 2).await;
    let mut all = Vec::new();
    while let Some(lease) = player.try_lease(0).await.expect("answered") {
        all.extend(lease.games.iter().map(|game| game.index));
        let games: Vec<_> = lease.games.iter().map(|game| won(game, 0)).collect();
        // A game that is named twice is replayed once.
        let twice = games.iter().chain(&games).cloned().collect();
        let mut report = tokio::spawn(player.reporting(&lease, twice));
        let mut verdict = None;
        let mut replayed = 0;
        loop {
            tokio::select! {
                answer = &mut report => {
                    answer.expect("no panic").expect("it counts");
                    break;
                }
                job = try_replay(&mut other, verdict.clone(), 100) => {
                    verdict = None;
                    if let Some(job) = job.expect("answered") {
                        assert!(job.records.len() <= 32);
                        replayed += job.records.len();
                        verdict = sound(&job);
                    }
                }
            }
        }
        assert_eq!(replayed, lease.games.len());
    }
    assert_eq!(all.len() as u64, GAMES);
    assert_eq!(pig.unverified().await, None);
}

#[tokio::test]
async fn job_of_a_worker_that_leaves_goes_to_another() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    let [mut leaves, mut other] = [
        pig.replayer("leaves", 2).await,
        pig.replayer("other", 3).await,
    ];
    let (_, report) = reporting(&mut player).await;
    let first = job(&mut leaves).await;
    drop(leaves);
    let again = job(&mut other).await;
    assert_eq!(again.job_id, first.job_id);
    drop(other);
    answer(report).await.expect("it counts unverified");
    assert!(pig.unverified().await.is_some());
}

#[tokio::test]
async fn verdict_of_another_job_or_session_changes_nothing() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    let [mut other, mut stranger] = [
        pig.replayer("other", 2).await,
        pig.replayer("stranger", 3).await,
    ];
    let (_, report) = reporting(&mut player).await;
    let job = job(&mut other).await;
    assert_eq!(replay(&mut stranger, sound(&job)).await.expect("ok"), None);
    assert_eq!(replay(&mut player, sound(&job)).await.expect("ok"), None);
    stranger.session = vec![7; 32];
    stranger.id.clone_from(&other.id);
    refused(
        replay(&mut stranger, sound(&job)).await,
        Code::FailedPrecondition,
        reasons::UNKNOWN_WORKER,
    );
    assert!(!report.is_finished());
    replay(&mut other, sound(&job)).await.expect("ok");
    answer(report).await.expect("it counts");
}

/// A worker that draws the board of a game, and what the reader gets.
async fn drawn(pig: &Pig, worker: &mut FakeWorker, verdict: v1::ReplayVerdict) -> v1::Board {
    let request = v1::GetGameRequest {
        game_id: format!("{}/1", pig.id),
        board_after: Some(1),
        ..Default::default()
    };
    let mut user = pig.arena.user(&pig.arena.admin);
    let reader = tokio::spawn(async move { user.get_game(request).await });
    let job = job(worker).await;
    assert_eq!((job.draw_after, job.records.len()), (Some(1), 1));
    assert!(job.setup.is_some_and(|setup| setup.rules.is_some()));
    let verdict = v1::ReplayVerdict {
        job_id: job.job_id,
        ..verdict
    };
    assert_eq!(replay(worker, Some(verdict)).await.expect("ok"), None);
    let game = reader.await.expect("no panic").expect("a game");
    game.into_inner().board.expect("a board or its problem")
}

#[tokio::test]
async fn worker_draws_the_board_that_a_reader_wants() {
    let pig = Pig::new().await;
    let mut player = pig.replayer("player", 1).await;
    player.play_all().await;
    let board = v1::Board {
        text: "moves: 1\n".to_owned(),
        svg: "<svg/>".to_owned(),
        ..Default::default()
    };
    let verdict = |board| v1::ReplayVerdict {
        board,
        ..Default::default()
    };
    let shown = drawn(&pig, &mut player, verdict(Some(board.clone()))).await;
    assert_eq!(shown, board);
    let shown = drawn(&pig, &mut player, verdict(None)).await;
    assert!(shown.problem.contains("gave it up"), "{shown:?}");
    let large = v1::Board {
        text: "x".repeat(100_000),
        ..Default::default()
    };
    let shown = drawn(&pig, &mut player, verdict(Some(large))).await;
    assert!(shown.problem.contains("too large"), "{shown:?}");
    assert_eq!(shown.text, "");
    // A board is neither asked for nor waited for without need.
    let mut user = pig.arena.user(&pig.arena.admin);
    let mut request = v1::GetGameRequest {
        game_id: format!("{}/1", pig.id),
        ..Default::default()
    };
    let game = user.get_game(request.clone()).await.expect("a game");
    assert_eq!(game.into_inner().board, None);
    drop(player);
    request.board_after = Some(0);
    let none = loop {
        let game = user.get_game(request.clone()).await.expect("a game");
        let problem = game.into_inner().board.expect("a problem").problem;
        if problem.contains("no connected worker") {
            break problem;
        }
    };
    assert!(none.contains("can start the package"), "{none}");
}

/// The workers of these tests name `@package` alone.
#[tokio::test]
async fn worker_of_an_earlier_release_gets_no_games_that_it_plays_otherwise() {
    let cases = [
        (
            ("{", "{\"information\":\"hidden\","),
            "random",
            "hidden information",
        ),
        (
            ("{", "{\"values\":true,"),
            "mcts",
            "the search of mcts at rules that are a package",
        ),
        (
            ("[2,2]", "[2,10]"),
            "random",
            "games for more than four seats",
        ),
        (
            ("{", "{\"wide_ids\":true,"),
            "random",
            "wide ids of actions",
        ),
    ];
    for ((old, new), bot, what) in cases {
        let mut ruleset = owners::ruleset(false, &[]);
        let rules = ruleset.ruleset.as_mut().and_then(|it| it.rules.as_mut());
        let description = &mut rules.expect("rules").description;
        *description = description.replacen(old, new, 1);
        let pig = Pig::of(ruleset, bot).await;
        let mut worker = pig.join("one", 1).await;
        assert_eq!(worker.try_lease(0).await.expect("answered"), None);
        let request = v1::GetStandingsRequest {
            tournament_id: pig.id.clone(),
            ..Default::default()
        };
        let mut user = pig.arena.user(&pig.arena.admin);
        let standings = user.get_standings(request).await.expect("known");
        let notes = standings.into_inner().standings.expect("standings").notes;
        let expected = format!("no connected worker knows {what}");
        assert!(
            notes.iter().any(|note| note.contains(&expected)),
            "{notes:?}"
        );
    }
}
