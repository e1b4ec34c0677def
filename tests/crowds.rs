//! Crowds of connections leave files for the store, and room for the coordinator's user.

use std::{
    collections::VecDeque,
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    net::TcpStream,
    os::{
        fd::OwnedFd,
        unix::{fs::PermissionsExt, net::UnixStream, process::CommandExt},
    },
    path::Path,
    process::Stdio,
    thread,
    time::Duration,
};

use arena_access::{Connection, Credentials};
use arena_tests::{
    Server, World, arena,
    fleet::raise_file_limit,
    h2::{END_HEADERS, END_STREAM, Frame, Kind, PREFACE, RawClient, frame, request},
    lacks, sha256, spec,
};
use arena_wire::v1::{
    self, coordinator_service_client::CoordinatorServiceClient, upload_binary_request::Part,
    worker_service_client::WorkerServiceClient,
};
use nix::unistd::Uid;
use tokio::{
    runtime,
    sync::oneshot::{self, error::TryRecvError},
};
use tokio_stream::{StreamExt, pending};
use tonic::Streaming;

/// Open files of a coordinator at which the system refuses more, and those of them that are no
/// connections of the address of `--listen` or the web pages.
const FILES: usize = RESERVED + CONNECTIONS;
const RESERVED: usize = 256;
const CONNECTIONS: usize = 128;
/// Connections that make requests, and those that do not, at each address.
const BUSY: usize = 60;
const SILENT: usize = 200;
/// Maximum uploads at a time, and downloads of users. Their bytes are more than a connection buffers.
const UPLOADS: usize = 36;
const DOWNLOADS: usize = 16;
const BINARY_BYTES: usize = 16 << 20;

/// Starts a coordinator that may open a number of files.
fn coordinator(world: &World, files: usize, flags: &[&str]) -> Server {
    let mut command = world.command("prlimit");
    command
        .arg(format!("--nofile={files}:{files}"))
        .arg(arena())
        .args(["coordinator", "--data", "data", "--metrics", "127.0.0.1:0"])
        .args(flags);
    world.serve(command)
}

/// Opens connections to every address, and replaces the oldest ones. Returns the maximum number of
/// files that were open meanwhile.
fn crowd(
    addresses: &[&str],
    socket: &Path,
    coordinator: u32,
    ended: &mut oneshot::Receiver<()>,
) -> usize {
    let mut crowd: VecDeque<OwnedFd> = VecDeque::new();
    let mut files = 0;
    while ended.try_recv() == Err(TryRecvError::Empty) {
        for _ in 0..10 {
            let connections = addresses
                .iter()
                .map(|to| TcpStream::connect(to).map(Into::into));
            crowd.extend(connections.flatten());
            crowd.extend(UnixStream::connect(socket).map(OwnedFd::from));
        }
        let surplus = crowd.len().saturating_sub(SILENT * (addresses.len() + 1));
        crowd.drain(..surplus);
        let open = fs::read_dir(format!("/proc/{coordinator}/fd"));
        files = files.max(open.expect("it runs").count());
        thread::sleep(Duration::from_millis(10));
    }
    files
}

/// Makes a request on each of many connections, and keeps them open.
fn keep_busy(url: &str, kept: oneshot::Sender<()>, ended: oneshot::Receiver<()>) {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let mut users = Vec::new();
        for _ in 0..BUSY {
            let connection = Credentials::found().connect_lazy(url);
            let mut user = CoordinatorServiceClient::new(connection.expect("a URL"));
            let listed = user.list_agents(v1::ListAgentsRequest::default()).await;
            listed.expect("a place");
            users.push(user);
        }
        let connection = Credentials::found().connect_lazy(url).expect("a URL");
        let downloads = stall_transfers(connection).await;
        kept.send(()).expect("the test waits");
        let _ = ended.await;
        drop(downloads);
    });
}

/// Begins almost as many uploads and downloads as a coordinator has room for. Each of them keeps a file
/// open.
async fn stall_transfers(connection: Connection) -> Vec<Streaming<v1::FetchBinaryResponse>> {
    let mut user = CoordinatorServiceClient::new(connection.clone());
    let mut fetcher = WorkerServiceClient::new(connection);
    let header = |sha256: String, size_bytes| v1::UploadBinaryRequest {
        part: Some(Part::Header(v1::BinaryHeader { sha256, size_bytes })),
    };
    let content = "x".repeat(BINARY_BYTES);
    let whole = sha256(&content);
    let mut parts = vec![header(whole.clone(), BINARY_BYTES as u64)];
    let chunks = content.as_bytes().chunks(1 << 16).map(<[u8]>::to_vec);
    parts.extend(chunks.map(|chunk| v1::UploadBinaryRequest {
        part: Some(Part::Chunk(chunk)),
    }));
    let uploaded = user.upload_binary(tokio_stream::iter(parts)).await;
    uploaded.expect("there is room");
    for number in 1..UPLOADS {
        let first = tokio_stream::once(header(sha256(&number.to_string()), 1));
        let mut user = user.clone();
        tokio::spawn(async move { user.upload_binary(first.chain(pending())).await });
    }
    let mut downloads = Vec::new();
    for _ in 1..DOWNLOADS {
        let request = v1::FetchBinaryRequest {
            sha256: whole.clone(),
            ..v1::FetchBinaryRequest::default()
        };
        let download = fetcher.fetch_binary(request).await;
        downloads.push(download.expect("there is room").into_inner());
    }
    downloads
}

#[test]
fn coordinator_without_files_for_its_store_does_not_start() {
    let world = World::new();
    let start = ["coordinator", "--data", "data", "--listen", "127.0.0.1:0"];
    let mut command = world.command("prlimit");
    let files = RESERVED + 15;
    command.arg(format!("--nofile={files}:{files}"));
    command.arg(arena()).args(start);
    let expected = format!("may open {files} files, and a coordinator needs 272");
    world.run(command).fails(1, &[&expected, "ulimit -n"]);
}

#[test]
fn crowds_at_every_port_leave_files_for_the_store() {
    raise_file_limit();
    let world = World::new();
    let open = ["--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"];
    let coordinator = coordinator(&world, FILES, &open);
    let url = coordinator.url();
    let worker = world.worker(&coordinator, &[]);
    let [(end_busy, busy_ends), (end_crowd, mut crowd_ends)] = [(); 2].map(|()| oneshot::channel());
    let (kept, is_kept) = oneshot::channel();
    let addresses = [
        coordinator.listen(),
        coordinator.metrics_address(),
        coordinator.web_address(),
    ];
    let socket = world.folder().join("data/coordinator.sock");
    let files = thread::scope(|scope| {
        scope.spawn(|| keep_busy(&url, kept, busy_ends));
        is_kept.blocking_recv().expect("connections");
        let crowd = scope.spawn(|| crowd(&addresses, &socket, coordinator.id(), &mut crowd_ends));
        thread::sleep(Duration::from_secs(2));
        let script = format!("#!/bin/sh\nexec {} agent serve\n", arena().display());
        let program = world.write("agent", script);
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a file of ours");
        let register = ["agent", "register", "mine", "--binary", &program];
        let _ = world
            .arena(&[&register[..], &["--bot", "random", "--data", "data"]].concat())
            .ok();
        let text = spec("cup", "cowry", 500, &["mine", "random"], "");
        let path = world.write("cup.toml", text);
        let start = ["tournament", "start", &path, "--data", "data", "--watch"];
        let _ = world.arena(&start).ok();
        end_crowd.send(()).expect("it runs");
        let files = crowd.join().expect("a crowd does not panic");
        end_busy.send(()).expect("it runs");
        files
    });
    // The crowd takes what is no reserve, and much of the reserve.
    let expected = CONNECTIONS + RESERVED / 4..FILES;
    assert!(expected.contains(&files), "{files} open files");
    let log = coordinator.log();
    assert!(!log.contains("Too many open files"), "{log}");
    worker.stop();
    coordinator.stop();
    let export = world.arena(&["export", "cup", "--data", "data"]).ok();
    assert_eq!(export.stdout.lines().count(), 1_000);
    let _ = world.arena(&["store", "verify", "--data", "data"]).ok();
    world.nothing_runs();
}

/// Sends the bytes of a file to a socket on each of many connections, prints if an answer came, and
/// keeps the connections open.
const CALLER: &str = r#"
use IO::Socket::UNIX;
my ($path, $file, $number) = @ARGV;
open(my $request, '<:raw', $file) or die;
my $bytes = do { local $/; <$request> };
$| = 1;
$SIG{PIPE} = 'IGNORE';
my @kept;
for (1 .. $number) {
    my $socket = IO::Socket::UNIX->new(Peer => $path) or die;
    syswrite($socket, $bytes);
    my ($frames, $is_answered) = ('', 0);
    while (!$is_answered && sysread($socket, $frames, 65536, length $frames)) {
        while (length $frames >= 9) {
            my ($high, $low, $kind) = unpack('CnC', $frames);
            my $length = 9 + $high * 65536 + $low;
            last if length $frames < $length;
            $is_answered ||= $kind == 1;
            substr($frames, 0, $length) = '';
        }
    }
    print $is_answered ? "answered\n" : "refused\n";
    push @kept, $socket;
}
print "END\n";
sleep 600;
"#;

/// A call of an administrator, whose connections can take all places.
fn call(token: &str) -> Vec<u8> {
    let headers = request("/arena.v1.CoordinatorService/ListAgents", Some(token), &[]);
    [
        PREFACE.to_vec(),
        frame(Kind::Settings, 0, 0, &[]),
        frame(Kind::Headers, END_HEADERS, 1, &headers),
        frame(Kind::Data, END_STREAM, 1, &[0; 5]),
    ]
    .concat()
}

#[test]
#[expect(clippy::print_stdout, reason = "tests are reported there")]
fn crowd_at_the_socket_leaves_room_for_the_own_user() {
    if !Uid::effective().is_root() {
        println!("skipped: only root can start a program of another user");
        return;
    }
    if lacks("the crowd", &["perl"]) {
        return;
    }
    let world = World::new();
    let socket = world.folder().join("arena.sock");
    let listen = format!("unix:{}", socket.display());
    let coordinator = coordinator(&world, RESERVED + 32, &["--listen", &listen]);
    let create = [
        "token",
        "create",
        "--role",
        "admin",
        "--coordinator",
        &listen,
    ];
    let token = world.arena(&create).ok().stdout.trim().to_owned();
    let id = token.split('-').nth(1).expect("an id");
    // An operator lets other users of the machine connect.
    for (path, mode) in [(world.folder(), 0o755), (&*socket, 0o666)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }
    let request = world.write("request", call(&token));
    let mut crowd = world.command("perl");
    crowd
        .args(["-e", CALLER])
        .arg(&socket)
        .args([&request, "35"]);
    crowd.uid(65_534).gid(65_534).stdout(Stdio::piped());
    let mut crowd = crowd.spawn().expect("perl");
    let lines = BufReader::new(crowd.stdout.take().expect("a pipe")).lines();
    let lines = lines.map_while(Result::ok);
    let answers: Vec<String> = lines.take_while(|line| line != "END").collect();
    let expected = [vec!["answered"; 32], vec!["refused"; 3]].concat();
    assert_eq!(answers, expected);

    for _ in 0..40 {
        let _ = world
            .arena(&["agent", "list", "--coordinator", &listen])
            .ok();
    }
    let worker = [
        "worker",
        "--coordinator",
        &listen,
        "--metrics",
        "127.0.0.1:0",
    ];
    let worker = world.server(&worker);
    let text = spec("own", "cowry", 10, &["random", "aggressive"], "");
    let id_of_own = world.start_tournament("own", &text, &listen);
    world.finish_tournament(&id_of_own, &listen);
    let _ = world
        .arena(&["token", "revoke", id, "--coordinator", &listen])
        .ok();
    crowd.kill().expect("it runs");
    crowd.wait().expect("a child");
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}

/// A coordinator reads frames that carry nothing at a bounded rate, so it does not come to a ping behind a
/// hundred thousand of them before it ends the connection.
#[test]
fn floods_of_frames_without_content_are_not_read() {
    let world = World::new();
    let server = world.coordinator("data", &[]);
    let url = server.url();
    let address = url.trim_start_matches("http://");
    let kinds = [
        (Kind::Priority, &[0, 0, 0, 0, 1][..]),
        (Kind::WindowUpdate, &[0, 0, 0, 1]),
        (Kind::Unknown, &[0; 10]),
    ];
    thread::scope(|scope| {
        for (kind, payload) in kinds {
            scope.spawn(move || {
                let stream = u32::from(kind == Kind::Priority);
                let flood = frame(kind, 0, stream, payload).repeat(1_000);
                let mut client = RawClient::open(address, None, &[]).expect("it listens");
                // It ends when the buffers of the system are full.
                let _ = (0..100).try_for_each(|_| client.send(&flood));
                let _ = client.send(&frame(Kind::Ping, 0, 0, b"whatever"));
                let is_answer =
                    |frame: &Frame| frame.kind == Some(Kind::Ping) && frame.payload == b"whatever";
                let mut frames = std::iter::from_fn(|| client.read().ok());
                assert!(!frames.any(|frame| is_answer(&frame)), "{kind:?}");
            });
        }
    });
}
