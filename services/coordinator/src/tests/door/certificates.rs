//! The role of a client's certificate.

use std::{error::Error, future::pending, path::Path, time::Duration};

use arena_access::{Bearer, Connection, CredentialFiles, Credentials, TlsFiles, Token};
use arena_wire::{
    keda::{ScaledObjectRef, external_scaler_client::ExternalScalerClient},
    reasons,
    v1::{
        self, admin_service_client::AdminServiceClient,
        coordinator_service_client::CoordinatorServiceClient,
    },
};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use tokio::time::{sleep, timeout};
use tonic::{Code, Status};

use super::super::fixture::{FakeWorker, memory, options, refused};
use crate::{Access, Options};

/// Maximum time until files are read again, many times longer than it takes.
const LIMIT: Duration = Duration::from_secs(20);

/// Pause between two calls.
const PAUSE: Duration = Duration::from_millis(50);

/// An authority, and what it signs, as PEM files of a folder.
struct Authority<'a> {
    folder: &'a Path,
    issuer: Issuer<'static, KeyPair>,
}

impl<'a> Authority<'a> {
    fn new(folder: &'a Path) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let signed = params.self_signed(&key).expect("a certificate");
        std::fs::write(folder.join("ca.pem"), signed.pem()).expect("a file");
        let issuer = Issuer::new(params, key);
        Self { folder, issuer }
    }

    /// Signs a certificate with these names, and writes it with its key.
    fn issue(&self, file: &str, subject: &[(DnType, &str)], names: Vec<SanType>) {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        for (of, value) in subject {
            params.distinguished_name.push(of.clone(), *value);
        }
        params.subject_alt_names = names;
        let signed = params.signed_by(&key, &self.issuer).expect("signed");
        let write = |ending, text| {
            std::fs::write(self.folder.join(format!("{file}.{ending}")), text).expect("a file");
        };
        write("pem", signed.pem());
        write("key", key.serialize_pem());
    }

    /// A client with this certificate, and with the authority of the server.
    fn credentials(&self, file: &str, ca: &Path) -> Credentials {
        let path = |ending| self.folder.join(format!("{file}.{ending}"));
        let files = CredentialFiles {
            ca: Some(ca.to_owned()),
            identity: Some((path("pem"), path("key"))),
            token: None,
        };
        Credentials::of_files(&files).expect("its files")
    }

    async fn connection(&self, url: &str, file: &str) -> Connection {
        let credentials = self.credentials(file, &self.folder.join("ca.pem"));
        let endpoints = credentials.endpoints(url).expect("a URL");
        let channel = endpoints[0].connect().await.expect("it listens");
        Connection::new(channel, Bearer::none())
    }

    /// What a client with this certificate gets as answers if it reads, and if it does what only
    /// administrators may.
    async fn try_calls(&self, url: &str, file: &str) -> [Result<(), Status>; 2] {
        let connection = self.connection(url, file).await;
        let mut reader = CoordinatorServiceClient::new(connection.clone());
        let mut admin = AdminServiceClient::new(connection);
        [
            reader
                .list_agents(v1::ListAgentsRequest::default())
                .await
                .map(drop),
            admin
                .list_tokens(v1::ListTokensRequest::default())
                .await
                .map(drop),
        ]
    }
}

fn uri(text: &str) -> SanType {
    SanType::URI(text.try_into().expect("ASCII"))
}

#[tokio::test]
async fn certificate_has_the_role_of_its_uri() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let loopback = SanType::IpAddress("127.0.0.1".parse().expect("an address"));
    authority.issue("server", &[], vec![loopback]);
    let path = |name: &str| folder.path().join(name);
    let service = Options {
        access: Access::Tokens {
            admin: Token::draw().expect("random numbers"),
        },
        tls: Some(TlsFiles {
            certificate: path("server.pem"),
            key: path("server.key"),
            client_ca: Some(path("ca.pem")),
        }),
        metrics: None,
        ..options(memory())
    };
    let service = service.build().await.expect("it starts");
    let url = format!("https://{}", service.listen.expect("asked for"));
    tokio::spawn(service.run(pending()));

    let common = |name: &'static str| vec![(DnType::CommonName, name)];
    let all_admin = vec![
        (DnType::CommonName, "admin"),
        (DnType::OrganizationName, "admin"),
        (DnType::OrganizationalUnitName, "arena:admin:eve"),
    ];
    let dns = SanType::DnsName("admin".try_into().expect("a name"));
    let email = SanType::Rfc822Name("arena:admin:eve".try_into().expect("a name"));
    let without_role = [
        (common("admin"), vec![]),
        (common("arena:admin:eve"), vec![]),
        (common("arena://eve/admin"), vec![]),
        (all_admin.clone(), vec![dns.clone(), email.clone()]),
        (common("arena:admin:eve"), vec![uri("spiffe://arena/admin")]),
        (common("arena:admin:eve"), vec![uri("arena://eve/admin")]),
        // Without a name, the audit trail would not say who it was.
        (common("eve"), vec![uri("arena:admin:")]),
        // The order of names must not choose the role.
        (
            common("eve"),
            vec![uri("arena:viewer:eve"), uri("arena:admin:eve")],
        ),
        (
            common("eve"),
            vec![uri("arena:admin:eve"), uri("arena:admin")],
        ),
    ];
    for (case, (subject, names)) in without_role.into_iter().enumerate() {
        let file = format!("without_role-{case}");
        authority.issue(&file, &subject, names);
        for answer in authority.try_calls(&url, &file).await {
            refused(answer, Code::Unauthenticated, reasons::TOKEN_MISSING);
        }
    }

    let viewer = [
        (common("admin"), vec![uri("arena:viewer:eve")]),
        (common("arena:admin:eve"), vec![uri("arena:viewer:eve")]),
        (
            all_admin,
            vec![dns, email, uri("arena:viewer:arena:admin:eve")],
        ),
    ];
    for (case, (subject, names)) in viewer.into_iter().enumerate() {
        let file = format!("viewer-{case}");
        authority.issue(&file, &subject, names);
        let [read, administered] = authority.try_calls(&url, &file).await;
        read.expect("a viewer reads");
        refused(
            administered,
            Code::PermissionDenied,
            reasons::ROLE_INSUFFICIENT,
        );
    }

    // KEDA has no other way to show who it is.
    authority.issue("keda", &common("keda"), vec![uri("arena:viewer:keda")]);
    authority.issue("other", &common("keda"), vec![uri("arena:worker:keda")]);
    for (file, expected) in [("keda", None), ("other", Some(Code::PermissionDenied))] {
        let connection = authority.connection(&url, file).await;
        let asked = ExternalScalerClient::new(connection)
            .is_active(ScaledObjectRef::default())
            .await;
        assert_eq!(asked.err().map(|status| status.code()), expected, "{file}");
    }

    // A role that does not exist is none, whatever the rest says.
    authority.issue("root", &common("admin"), vec![uri("arena:root:eve")]);
    for answer in authority.try_calls(&url, "root").await {
        let status = answer.expect_err("no role");
        assert_eq!(status.code(), Code::PermissionDenied, "{status}");
    }
    authority.issue("admin", &common("viewer"), vec![uri("arena:admin:adam")]);
    for answer in authority.try_calls(&url, "admin").await {
        answer.expect("an admin");
    }
}

#[tokio::test]
async fn certificates_end_with_their_authority() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let folders = ["server", "old", "new"].map(path);
    let [server, old, new] = folders.each_ref().map(|folder| {
        std::fs::create_dir(folder).expect("a folder");
        Authority::new(folder)
    });
    let loopback = SanType::IpAddress("127.0.0.1".parse().expect("an address"));
    server.issue("server", &[], vec![loopback]);
    for clients in [&old, &new] {
        clients.issue("one", &[], vec![uri("arena:worker:one")]);
        clients.issue("two", &[], vec![uri("arena:viewer:two")]);
    }
    let clients = path("clients.pem");
    std::fs::copy(path("old/ca.pem"), &clients).expect("a file");
    let service = Options {
        access: Access::Tokens {
            admin: Token::draw().expect("random numbers"),
        },
        tls: Some(TlsFiles {
            certificate: path("server/server.pem"),
            key: path("server/server.key"),
            client_ca: Some(clients.clone()),
        }),
        metrics: None,
        ..options(memory())
    };
    let service = service.build().await.expect("it starts");
    let url = format!("https://{}", service.listen.expect("asked for"));
    tokio::spawn(service.run(pending()));

    let ca = path("server/ca.pem");
    let connection = |authority: &Authority<'_>, file: &str| {
        let connection = authority.credentials(file, &ca).connect_lazy(&url);
        connection.expect("a URL")
    };
    let list = async |authority: &Authority<'_>| {
        let mut reader = CoordinatorServiceClient::new(connection(authority, "two"));
        let listed = reader.list_agents(v1::ListAgentsRequest::default()).await;
        listed.map(drop)
    };
    list(&old).await.expect("the authority in use");
    let status = list(&new).await.expect_err("another authority");
    assert!(status.source().is_some(), "no TLS: {status}");
    let mut worker = FakeWorker::join_with(connection(&old, "one"), "one", 1).await;

    let replace = |names: &[&str]| {
        let files = names.iter().map(|name| std::fs::read_to_string(path(name)));
        let content: std::io::Result<String> = files.collect();
        let draft = path("clients.new");
        std::fs::write(&draft, content.expect("the files")).expect("a file");
        std::fs::rename(draft, &clients).expect("a file");
    };
    // During a change, the file has both.
    replace(&["old/ca.pem", "new/ca.pem"]);
    let replaced = timeout(LIMIT, async {
        while list(&new).await.is_err() {
            sleep(PAUSE).await;
        }
    });
    replaced.await.expect("no restart is needed");
    list(&old).await.expect("an authority of the file");
    worker.try_lease(0).await.expect("its connection stays");

    replace(&["new/ca.pem"]);
    let replaced = timeout(LIMIT, async {
        while list(&old).await.is_ok() {
            sleep(PAUSE).await;
        }
    });
    replaced.await.expect("the old authority ends");
    let status = list(&old).await.expect_err("the old authority");
    assert!(status.source().is_some(), "no TLS: {status}");
    // Connections that were open end, too.
    let ended = timeout(LIMIT, worker.notices.message()).await;
    let ended = ended.expect("the stream of the worker ends");
    assert!(!matches!(ended, Ok(Some(_))), "{ended:?}");
    let status = worker.try_lease(0).await.expect_err("the old authority");
    assert!(status.source().is_some(), "no TLS: {status}");
    FakeWorker::join_with(connection(&new, "one"), "one", 2).await;
}
