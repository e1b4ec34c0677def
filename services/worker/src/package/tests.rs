use std::os::unix::fs::PermissionsExt;

use super::*;

const COMMAND: &[u8] = b"command = [\"./run\", \"x\"]";

fn contents() -> Contents {
    let mut contents = Contents::default();
    contents
        .add_file("run", true, b"#!/bin/sh\n".to_vec())
        .expect("a file");
    contents
        .add_file(MANIFEST, false, COMMAND.to_vec())
        .expect("a file");
    contents
        .add_file("a/b/data", false, b"1".to_vec())
        .expect("a file");
    contents.add_link("a/link", "b/../../run").expect("a link");
    contents
}

/// Unpacks bytes as a worker does.
fn unpacked(bytes: &[u8]) -> (tempfile::TempDir, Result<Manifest, PackageError>) {
    let dir = tempfile::tempdir().expect("a folder");
    let (package, folder) = (dir.path().join("package"), dir.path().join("work"));
    fs::write(&package, bytes).expect("a file");
    fs::create_dir(&folder).expect("a folder");
    let manifest = unpack(&package, &folder);
    (dir, manifest)
}

/// The error of a refused package. Checks that no file was written.
fn refused(bytes: &[u8]) -> String {
    let (dir, manifest) = unpacked(bytes);
    let left = fs::read_dir(dir.path().join("work")).expect("a folder");
    assert_eq!(left.count(), 0, "something was written");
    match manifest {
        Err(PackageError::Content(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

/// A package that another program could have made: the manifest and one given entry.
fn made(kind: EntryType, name: &str, link: &str, size: u64) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    let mut add = |kind, name: &str, link: &str, size: u64, bytes: &[u8]| {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o755);
        header.set_size(size);
        // Bypasses the library's checks of paths.
        let gnu = header.as_gnu_mut().expect("a GNU header");
        gnu.name[..name.len()].copy_from_slice(name.as_bytes());
        gnu.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_cksum();
        tar.append(&header, bytes).expect("a tar");
    };
    add(
        EntryType::Regular,
        MANIFEST,
        "",
        COMMAND.len() as u64,
        COMMAND,
    );
    add(EntryType::Regular, "run", "", 1, b"#");
    add(kind, name, link, size, &[]);
    tar.into_inner().expect("a tar")
}

#[test]
fn package_round_trips() {
    let bytes = contents().to_tar().expect("a package");
    let (dir, manifest) = unpacked(&bytes);
    assert!(is_package(&dir.path().join("package")).expect("a file"));
    let work = dir.path().join("work");
    let (program, args) = manifest.expect("a package").command(&work);
    assert_eq!(program, work.join("./run"));
    assert_eq!(args, ["x"]);
    assert_eq!(
        fs::read(work.join("a/link")).expect("a file"),
        b"#!/bin/sh\n"
    );
    let mode = |path| {
        fs::metadata(work.join(path))
            .expect("a file")
            .permissions()
            .mode()
    };
    assert_eq!((mode("run") & 0o111, mode("a/b/data") & 0o111), (0o111, 0));
}

#[test]
fn manifest_declares_resources() {
    let parse = |more: &str| {
        let text = format!("command = [\"./run\"]\n{more}");
        Manifest::parse(text.as_bytes()).map(|manifest| manifest.resources())
    };
    let declared = parse("cpus = 2\nmemory_mib = 512\nreplicas = 3").expect("a manifest");
    let expected = Resources {
        cpus: Some(2),
        memory_mib: Some(512),
        replicas: Some(3),
    };
    assert_eq!(declared, expected);
    assert_eq!(parse("").expect("a manifest"), Resources::default());
    for wrong in ["cpus = 0", "replicas = 1025", "memory_mib = 0"] {
        let problem = parse(wrong).expect_err(wrong).to_string();
        assert!(
            problem.contains(&format!("{wrong}: must be from 1")),
            "{problem}"
        );
    }
}

#[test]
fn digest_ignores_times_and_owners() {
    let same = contents().to_tar().expect("a package");
    let mut other = Contents::default();
    other.add_link("./a//link", "b/../../run").expect("a link");
    other
        .add_file("a/b/data", false, b"1".to_vec())
        .expect("a file");
    other
        .add_file(MANIFEST, false, COMMAND.to_vec())
        .expect("a file");
    other.add_copy("run", "a/b/data").expect("a file");
    assert_ne!(other.to_tar().ok(), Some(same.clone()), "another content");
    let mut folder = Contents::default();
    for (path, executable, bytes) in [
        ("top/run", true, &b"#!/bin/sh\n"[..]),
        ("top/a/b/data", false, b"1"),
        ("top/arena-agent.toml", false, COMMAND),
    ] {
        folder
            .add_file(path, executable, bytes.to_vec())
            .expect("a file");
    }
    folder
        .add_link("top/a/link", "b/../../run")
        .expect("a link");
    folder.enter_folder();
    assert_eq!(folder.to_tar().expect("a package"), same);
    let mut bit = contents();
    bit.layout = Layout::default();
    for path in ["run", MANIFEST, "a/b/data"] {
        let size = bit.bytes[path].len() as u64;
        let executable = path != MANIFEST;
        bit.layout
            .add(path, Node::File { executable, size })
            .expect("a file");
    }
    bit.add_link("a/link", "b/../../run").expect("a link");
    assert_ne!(bit.to_tar().expect("a package"), same, "another run bit");
}

#[test]
fn hostile_packages_write_nothing() {
    let file = EntryType::Regular;
    let link = EntryType::Symlink;
    for (kind, name, target, size, word) in [
        (file, "../evil", "", 0, "stay in its folder"),
        (file, "a/../../evil", "", 0, "stay in its folder"),
        (file, "/etc/evil", "", 0, "is absolute"),
        (file, "run/below", "", 0, "is not a folder"),
        (file, "run", "", 0, "twice"),
        (file, "./run", "", 0, "twice"),
        (file, "huge", "", BYTES_MAX, "MiB unpacked"),
        (file, "huge", "", u64::MAX >> 3, "MiB unpacked"),
        (link, "out", "../..", 0, "leaves the folder"),
        (link, "out", "a/../../x", 0, "leaves the folder"),
        (link, "out", "/etc/passwd", 0, "is absolute"),
        (link, "out", "nothing", 0, "not in the package"),
        (link, "out", "run/x", 0, "not in the package"),
        (link, "out", "out", 0, "too many links"),
        (
            EntryType::Link,
            "out",
            "/etc/passwd",
            0,
            "is not a regular file",
        ),
        (EntryType::Fifo, "out", "", 0, "is not a regular file"),
        (EntryType::Char, "out", "", 0, "is not a regular file"),
        (EntryType::Block, "out", "", 0, "is not a regular file"),
        (EntryType::Directory, "out", "", 0, "is not a regular file"),
    ] {
        let problem = refused(&made(kind, name, target, size));
        assert!(
            problem.contains(word),
            "{kind:?} {name} {target}: {problem}"
        );
    }
    let fine = made(EntryType::Symlink, "fine", "run", 0);
    assert!(unpacked(&fine).1.is_ok());
    for cut in [600, 1100] {
        let _ = refused(&fine[..cut]);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let mut tar = contents();
    tar.add_link("out", "a").expect("a link");
    tar.add_file("out/evil", false, Vec::new()).expect("a file");
    let problem = tar.to_tar().expect_err("a file below a link").to_string();
    assert!(problem.contains("out/evil is below out"), "{problem}");
    // A link that leads through another link.
    let mut tar = contents();
    tar.add_link("a/up", "..").expect("a link");
    tar.add_link("out", "a/up/..").expect("a link");
    let problem = tar.to_tar().expect_err("a link that leaves").to_string();
    assert!(problem.contains("leaves the folder"), "{problem}");
}

#[test]
fn number_and_size_of_files_are_bounded() {
    let mut many = Contents::default();
    for number in 0..ENTRIES_MAX {
        many.add_file(&number.to_string(), false, Vec::new())
            .expect("a file");
    }
    let error = many
        .add_file("more", false, Vec::new())
        .expect_err("too many");
    assert!(error.to_string().contains("50000 files"), "{error}");
    let long = "x/".repeat(600);
    let error = Contents::default().add_file(&long, false, Vec::new());
    assert!(error.is_err_and(|error| error.to_string().contains("too long")));
}

#[test]
fn invalid_manifest_is_refused() {
    for (manifest, word) in [
        ("", "missing field `command`"),
        ("command = []", "command is empty"),
        ("command = [\"\"]", "empty program"),
        (
            "command = [\"node\"]\ncommands = []",
            "unknown field `commands`",
        ),
        ("command = [\"../node\"]", "stay in its folder"),
        ("command = [\"./nothing\"]", "is not in the package"),
        ("command = [\"data\"]", "is not executable"),
    ] {
        let mut contents = Contents::default();
        contents
            .add_file("data", false, Vec::new())
            .expect("a file");
        contents
            .add_file(MANIFEST, false, manifest.into())
            .expect("a file");
        let error = contents.to_tar().expect_err(manifest).to_string();
        assert!(error.contains(word), "{manifest}: {error}");
    }
    let error = Contents::default().to_tar().expect_err("no manifest");
    assert!(
        error.to_string().contains("arena-agent.toml is missing"),
        "{error}"
    );
}

#[test]
fn program_on_path_is_a_plain_name() {
    let manifest = Manifest::parse(b"command = [\"node\", \"agent.js\"]").expect("a manifest");
    let (program, args) = manifest.command(Path::new("/nowhere"));
    assert_eq!((program, args), ("node".into(), vec!["agent.js".into()]));
}
