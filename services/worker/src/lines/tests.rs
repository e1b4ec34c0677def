//! What is said to a process, and what its answers become.

mod positions;

use serde_json::{Value, json};

use super::*;

/// A process that has said `hello`, and what is written to it.
fn speaking() -> (Lines, mpsc::UnboundedReceiver<Vec<u8>>) {
    let (lines, mut said) = Lines::starting();
    assert!(lines.heard(br#"{"type":"hello","protocol":1,"name":"mine"}"#));
    let hello = said.try_recv().expect("a hello").expect("a good one");
    assert_eq!(hello.name, "mine");
    let (input, written) = mpsc::unbounded_channel();
    lines.speak(input);
    (lines, written)
}

fn read(written: &mut mpsc::UnboundedReceiver<Vec<u8>>) -> Value {
    let line = written.try_recv().expect("a line");
    assert_eq!(line.last(), Some(&b'\n'));
    serde_json::from_slice(&line).expect("JSON")
}

/// A batch with these slots.
fn batch(number: u64, slots: &[u32]) -> Vec<u8> {
    let decision = |&slot| v1::Decision {
        slot,
        seat: 1,
        seed: u64::MAX,
        legal_moves: vec![2, 5],
        ..v1::Decision::default()
    };
    let message = v1::ChooseMovesRequest {
        contexts: vec![v1::GameContext {
            ruleset: "kalah".to_owned(),
            seats: 2,
            options: vec![v1::OptionValue {
                name: "pits".to_owned(),
                value: "6".to_owned(),
            }],
            ..v1::GameContext::default()
        }],
        decisions: slots.iter().map(decision).collect(),
        batch: number,
        ..v1::ChooseMovesRequest::default()
    };
    message.encode_to_vec()
}

/// The choices of an answer as slots and moves.
fn choices(answers: &mut Answers) -> Result<(u64, Vec<(u32, u32)>), Status> {
    let answer = answers.try_recv().expect("an answer")?;
    let answer = v1::ChooseMovesResponse::decode(answer).expect("a message");
    let choices = answer.choices.iter().map(|it| (it.slot, it.move_id));
    Ok((answer.batch, choices.collect()))
}

#[test]
fn context_is_said_once() {
    let (lines, mut written) = speaking();
    let (sender, _answers) = mpsc::unbounded_channel();
    for number in 1..=2 {
        lines.choose_moves(&batch(number, &[0]), &sender);
    }
    let game = read(&mut written);
    assert_eq!(
        (&game["type"], &game["context"]),
        (&json!("game"), &json!(0))
    );
    assert_eq!(game["options"], json!({ "pits": "6" }));
    for number in 1..=2 {
        let ask = read(&mut written);
        assert_eq!(
            (&ask["type"], &ask["batch"]),
            (&json!("ask"), &json!(number))
        );
        let decision = &ask["decisions"][0];
        assert_eq!(decision["seed"], json!("18446744073709551615"));
        assert_eq!(decision["legal_moves"], json!([2, 5]));
        assert_eq!(decision["position"]["board"], json!([]));
    }
    assert!(written.try_recv().is_err());
}

#[test]
fn answers_are_those_of_their_slots() {
    let (lines, _written) = speaking();
    let (sender, mut answers) = mpsc::unbounded_channel();
    lines.choose_moves(&batch(70, &[4, 6, 9]), &sender);
    lines.choose_moves(&batch(71, &[0]), &sender);
    assert!(lines.heard(br#"{"type":"answer","batch":2,"moves":[5]}"#));
    assert_eq!(choices(&mut answers).expect("moves"), (71, vec![(0, 5)]));
    assert!(lines.heard(br#"{"type":"answer","batch":1,"moves":[2,5],"slots":[2,0]}"#));
    assert_eq!(
        choices(&mut answers).expect("moves"),
        (70, vec![(9, 2), (4, 5)])
    );
    assert!(lines.heard(br#"{"type":"answer","batch":1,"moves":[7],"slots":[1]}"#));
    assert_eq!(choices(&mut answers).expect("moves"), (70, vec![(6, 7)]));
}

#[test]
fn wrong_answers_are_garbled() {
    for wrong in [
        r#"{"type":"answer","batch":1,"moves":[2]}"#,
        r#"{"type":"answer","batch":1,"moves":[2,5,5]}"#,
        r#"{"type":"answer","batch":1,"moves":[2,5],"slots":[0,0]}"#,
        r#"{"type":"answer","batch":1,"moves":[2,5],"slots":[0,2]}"#,
        r#"{"type":"answer","batch":7,"moves":[2,5]}"#,
        r#"{"type":"answer","batch":1,"moves":"all"}"#,
        r#"{"type":"answer","batch":1"#,
        r#"{"type":"hello","protocol":1}"#,
    ] {
        let (lines, _written) = speaking();
        let (sender, mut answers) = mpsc::unbounded_channel();
        lines.choose_moves(&batch(1, &[0, 1]), &sender);
        assert!(lines.heard(wrong.as_bytes()), "{wrong}");
        let status = choices(&mut answers).expect_err(wrong);
        assert!(crate::agent::is_garbled(&status), "{wrong}: {status}");
    }
}

#[test]
fn second_answer_is_part_of_the_log() {
    let (lines, _written) = speaking();
    let (sender, mut answers) = mpsc::unbounded_channel();
    let answer = br#"{"type":"answer","batch":1,"moves":[5]}"#;
    lines.choose_moves(&batch(1, &[0]), &sender);
    assert!(lines.heard(answer));
    lines.choose_moves(&batch(2, &[0]), &sender);
    assert!(!lines.heard(answer), "the batch is over");
    assert!(!lines.heard(br#"{"type":"error","batch":1,"message":"late"}"#));
    assert!(lines.heard(br#"{"type":"answer","batch":2,"moves":[2]}"#));
    for expected in [(1, vec![(0, 5)]), (2, vec![(0, 2)])] {
        assert_eq!(choices(&mut answers).expect("moves"), expected);
    }
}

#[tokio::test]
async fn answer_to_one_question_has_its_details() {
    let (lines, mut written) = speaking();
    let message = batch(0, &[0]);
    let asked = lines.choose_move(&message);
    let said = async {
        let line = r#"{"type":"answer","batch":1,"moves":[5],"thinking_us":80,
            "info":[{"score":0.5,"nodes":"18446744073709551615","variation":["A",3]}]}"#;
        assert!(lines.heard(line.as_bytes()));
    };
    let (answer, ()) = tokio::join!(asked, said);
    let answer = v1::ChooseMoveResponse::decode(answer.expect("an answer")).expect("a message");
    let info = answer.info.expect("details");
    assert_eq!(
        (answer.move_id, info.nodes, info.score),
        (5, Some(u64::MAX), Some(0.5))
    );
    assert_eq!(
        (info.variation, info.thinking_us),
        (vec!["A".into(), "3".into()], Some(80))
    );
    assert_eq!(read(&mut written)["type"], "game");
}

#[test]
fn errors_and_the_end_fail_open_batches() {
    let (lines, _written) = speaking();
    let (sender, mut answers) = mpsc::unbounded_channel();
    lines.choose_moves(&batch(1, &[0]), &sender);
    lines.choose_moves(&batch(2, &[0]), &sender);
    assert!(lines.heard(br#"{"type":"error","batch":1,"message":"no idea"}"#));
    let status = choices(&mut answers).expect_err("an error");
    assert_eq!(
        (status.code(), status.message()),
        (tonic::Code::Unknown, "no idea")
    );
    lines.close("the process has ended");
    for _ in 0..2 {
        let status = choices(&mut answers).expect_err("no process");
        assert_eq!(status.code(), tonic::Code::Unavailable);
        lines.choose_moves(&batch(3, &[0]), &sender);
    }
}

#[test]
fn silent_process_only_writes_a_log() {
    let (lines, _said) = Lines::starting();
    assert!(
        !lines.heard(br#"{"type":"answer","batch":1,"moves":[2]}"#),
        "nothing was asked"
    );
    lines.silence();
    assert!(!lines.heard(br#"{"type":"hello","protocol":1}"#));
}
