//! The role of a client's certificate.

use std::{future::pending, path::Path};

use arena_access::{Bearer, Connection, CredentialFiles, Credentials, TlsFiles, Token};
use arena_wire::{
    reasons,
    v1::{
        self, admin_service_client::AdminServiceClient,
        coordinator_service_client::CoordinatorServiceClient,
    },
};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use tonic::{Code, Status};

use super::super::fixture::{memory, options, refused};
use crate::{Access, Options};

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

    /// What a client with this certificate gets as answers if it reads, and if it does what only
    /// administrators may.
    async fn try_calls(&self, url: &str, file: &str) -> [Result<(), Status>; 2] {
        let path = |ending| self.folder.join(format!("{file}.{ending}"));
        let files = CredentialFiles {
            ca: Some(self.folder.join("ca.pem")),
            identity: Some((path("pem"), path("key"))),
            token: None,
        };
        let credentials = Credentials::of_files(&files).expect("its files");
        let endpoints = credentials.endpoints(url).expect("a URL");
        let channel = endpoints[0].connect().await.expect("it listens");
        let connection = Connection::new(channel, Bearer::none());
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
