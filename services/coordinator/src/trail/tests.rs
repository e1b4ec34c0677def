//! Trails that continue, and trails that were changed.

use super::*;

fn event(target: &str) -> Event {
    Event {
        method: "CancelTournament".to_owned(),
        target: target.to_owned(),
        ..Event::default()
    }
}

fn open(data: &Path) -> Result<Trail, StartError> {
    Trail::with_full(Some(data), FULL_BYTES, None)
}

fn targets(data: &Path) -> (Vec<String>, Result<(), String>) {
    let mut targets = Vec::new();
    let read = read(data, End::Whole, |line| targets.push(line.event.target));
    (targets, read)
}

#[test]
fn trail_continues_after_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    for target in ["one", "two", "three"] {
        open(folder.path()).expect("a file").record(event(target));
    }
    let expected = ["one", "two", "three"].map(str::to_owned).to_vec();
    assert_eq!(targets(folder.path()), (expected, Ok(())));
}

#[test]
fn hidden_characters_are_escaped_in_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = "a\u{1b}[2J\u{202e}\u{9b}é";
    open(folder.path()).expect("a file").record(event(target));
    open(folder.path()).expect("a file").record(event("next"));
    let expected = [target, "next"].map(str::to_owned).to_vec();
    assert_eq!(targets(folder.path()), (expected, Ok(())), "the same value");
    let text = fs::read_to_string(folder.path().join(EVENTS_FILE)).expect("text");
    let hidden = text
        .chars()
        .filter(|&c| c != '\n' && arena_model::is_hidden(c));
    assert_eq!(hidden.count(), 0, "{text}");
    assert!(text.contains("\\u202e") && text.contains('é'), "{text}");
}

#[test]
fn full_file_is_followed_by_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path();
    let expected: Vec<String> = (0..9).map(|number| number.to_string()).collect();
    for target in &expected {
        let trail = Trail::with_full(Some(data), 500, None).expect("a file");
        trail.record(event(target));
    }
    assert_eq!(targets(data), (expected.clone(), Ok(())));
    let files = || {
        let files = arena_store::events_files(data).expect("files");
        files.into_iter().map(|(name, _)| data.join(name))
    };
    let [oldest, middle, .., newest] = &files().collect::<Vec<_>>()[..] else {
        panic!("few files");
    };
    assert_eq!(*newest, data.join(EVENTS_FILE));
    let first = |data| verify_events(data, None).map(|whole| whole.expect("events").first);
    // An operator moves the oldest away.
    assert_eq!(first(data), Ok(1));
    fs::remove_file(oldest).expect("a file");
    let kept = expected.len() as u64 - first(data).expect("whole") + 1;
    assert_eq!(targets(data).0.len() as u64, kept);
    // Its lines, and files between others, are noticed.
    let whole = fs::read_to_string(middle).expect("lines");
    let (_, rest) = whole.split_once('\n').expect("lines");
    fs::write(middle, rest).expect("a file");
    assert!(first(data).is_err(), "a line is missing");
    fs::write(middle, whole).expect("a file");
    assert!(first(data).is_ok());
    let between = files().nth(1).expect("a file");
    fs::remove_file(between).expect("a file");
    assert!(first(data).is_err(), "a file is missing");
}

#[test]
fn cut_end_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(EVENTS_FILE);
    let trail = open(folder.path()).expect("a file");
    for target in ["one", "two", "three"] {
        trail.record(event(target));
    }
    while trail.written.load(Relaxed) < 3 {
        thread::yield_now();
    }
    assert_eq!(trail.list(0, |_| true), Ok(()));
    let whole = std::fs::read_to_string(&path).expect("lines");
    let lines: Vec<&str> = whole.lines().take(2).collect();
    std::fs::write(&path, lines.join("\n")).expect("a file");
    let problem = trail.list(0, |_| true).expect_err("a line is missing");
    assert!(problem.contains("ends with event 2, but"), "{problem}");
}

#[test]
fn event_after_a_full_disk_is_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(EVENTS_FILE);
    let (sender, events) = sync_channel(1);
    let failed = Arc::new(std::sync::Barrier::new(2));
    let has_failed = Arc::clone(&failed);
    let sending = thread::spawn(move || {
        sender.send(event("one")).expect("a writer");
        has_failed.wait();
        sender.send(event("two")).expect("a writer");
    });
    let mut file = File::create(&path).expect("a file");
    let mut is_full = true;
    let append = |text: &str, _| match std::mem::take(&mut is_full) {
        true => {
            file.write_all(&text.as_bytes()[..10])?;
            failed.wait();
            Err(io::ErrorKind::StorageFull.into())
        }
        false => file.write_all(text.as_bytes()),
    };
    write(append, Last::default(), &events, &AtomicU64::new(0), None);
    sending.join().expect("a sender");
    let (found, read) = targets(folder.path());
    assert_eq!(found, ["two"]);
    assert!(read.is_err(), "an event is missing");
}

#[test]
fn changed_and_removed_lines_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(EVENTS_FILE);
    let trail = open(folder.path()).expect("a file");
    for target in ["one", "two", "three"] {
        trail.record(event(target));
    }
    drop(trail);
    let whole = std::fs::read_to_string(&path).expect("lines");
    let lines: Vec<&str> = whole.lines().collect();
    let changed = whole.replace("two", "owt");
    let removed = [lines[0], lines[2]].join("\n");
    let garbled = [lines[0], "{", lines[2]].join("\n");
    for wrong in [changed, removed, garbled] {
        std::fs::write(&path, wrong).expect("a file");
        let (_, read) = targets(folder.path());
        assert!(
            read.expect_err("broken")
                .starts_with("line 2 of events.jsonl was changed")
        );
    }
    // A line that a crash cut short does not spoil those after it.
    std::fs::write(&path, &whole[..whole.len() - 10]).expect("a file");
    open(folder.path()).expect("a file").record(event("four"));
    let (found, read) = targets(folder.path());
    assert_eq!(found, ["one", "two", "four"]);
    assert!(read.is_err());
}

#[test]
fn line_that_is_being_written_breaks_no_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(EVENTS_FILE);
    open(folder.path()).expect("a file").record(event("one"));
    let trail = open(folder.path()).expect("a file");
    let last = chain::last(folder.path(), None).expect("a line").last;
    let next = Line::new(last.number + 1, &last.hash, event("é")).text();
    let whole = std::fs::read(&path).expect("lines");
    for bytes in 1..next.len() {
        let cut = [&whole, &next.as_bytes()[..bytes]].concat();
        std::fs::write(&path, cut).expect("a file");
        let mut lines = 0;
        let listed = trail.list(0, |_| {
            lines += 1;
            true
        });
        assert_eq!((listed, lines), (Ok(()), 1), "{bytes}");
        // Later, it is a line that was cut.
        assert!(targets(folder.path()).1.is_err(), "{bytes}");
    }
}

/// Writes three events with a store, and returns their lines.
fn anchored(data: &Path, store: &Arc<dyn Store>) -> String {
    arena_access::keep_data_token(data).expect("a token");
    let trail = Trail::open(Some(data), store).expect("a file");
    for target in ["one", "two", "three"] {
        trail.record(event(target));
    }
    trail.finish();
    fs::read_to_string(data.join(EVENTS_FILE)).expect("lines")
}

#[test]
fn trail_that_was_cut_between_two_starts_is_noticed() {
    let none = String::new();
    for lines in 0..=3 {
        let folder = tempfile::tempdir().expect("a folder");
        let store: Arc<dyn Store> = Arc::new(arena_store::MemoryStore::new().expect("a store"));
        let (data, path) = (folder.path(), folder.path().join(EVENTS_FILE));
        let whole = anchored(data, &store);
        let kept: String = whole.split_inclusive('\n').take(lines).collect();
        match kept == none {
            true => fs::remove_file(&path).expect("a file"),
            false => fs::write(&path, kept).expect("a file"),
        }
        let key = anchor_key(data).expect("a token");
        let anchor = store.get(arena_store::Collection::Meta, &key);
        let anchor = anchor.expect("a document");
        let verified = verify_events(data, anchor.as_deref());
        assert_eq!(verified.is_ok(), lines == 3, "{lines}: {verified:?}");
        for start in 0..2 {
            let trail = Trail::open(Some(data), &store).expect("a file");
            let listed = trail.list(0, |_| true);
            assert_eq!(
                listed.is_ok(),
                lines == 3,
                "{lines}, start {start}: {listed:?}"
            );
            trail.record(event("later"));
            trail.finish();
            // The gap stays visible.
            let verified = verify_events(data, None);
            assert_eq!(verified.is_ok(), lines == 3, "{lines}: {verified:?}");
        }
    }
}

#[test]
fn trail_that_was_written_again_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store: Arc<dyn Store> = Arc::new(arena_store::MemoryStore::new().expect("a store"));
    let (data, path) = (folder.path(), folder.path().join(EVENTS_FILE));
    anchored(data, &store);
    fs::remove_file(&path).expect("a file");
    for target in ["a", "b", "c", "d"] {
        open(data).expect("a file").record(event(target));
    }
    assert!(verify_events(data, None).is_ok());
    Trail::open(Some(data), &store)
        .expect("a file")
        .record(event("later"));
    assert!(verify_events(data, None).is_err());
}

#[test]
fn end_in_the_file_before_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let store: Arc<dyn Store> = Arc::new(arena_store::MemoryStore::new().expect("a store"));
    let data = folder.path();
    anchored(data, &store);
    // A crash, after which the store has an older end.
    for target in ["four", "five", "six"] {
        let trail = Trail::with_full(Some(data), 500, None).expect("a file");
        trail.record(event(target));
    }
    Trail::open(Some(data), &store)
        .expect("a file")
        .record(event("seven"));
    assert_eq!(targets(data).1, Ok(()));
}

#[test]
fn event_of_an_earlier_release_is_whole() {
    let line = r#"{"number":1,"previous":"","unix_us":5,"actor":"a","role":"viewer","method":"m","target":"","outcome":"Ok","hash":""}"#;
    let line: Line = serde_json::from_str(line).expect("a line");
    assert!(!line.text().contains("code"), "{}", line.text());
}
