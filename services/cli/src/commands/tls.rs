//! `arena tls …`

use std::{
    fs::{DirBuilder, OpenOptions},
    io::{self, Write},
    net::IpAddr,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use arena_access::CertificateName;
use clap::{Args, Subcommand};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};

use crate::{
    failure::{Failure, Outcome},
    output,
};

/// Days for which certificates are valid.
const DAYS: i64 = 825;

/// Make certificates for a coordinator and its workers
#[derive(Debug, Subcommand)]
pub(crate) enum TlsCommand {
    /// Make an authority of your own, and certificates for a coordinator and its clients
    #[command(after_help = "\
Writes to the folder, which is readable by its owner only:
  ca.pem, ca.key            the authority; keep ca.key where no one else can read it
  server.pem, server.key    for arena coordinator --tls-cert --tls-key
  ROLE-NAME.pem, ….key      for each --client: an identity instead of a token

If the folder has an authority, it signs the new certificates.

Examples:
  arena tls init tls --host arena.example --host 10.0.0.1 --client worker:node-1
  arena coordinator --listen 0.0.0.0:7600 --tls-cert tls/server.pem \\
      --tls-key tls/server.key --tls-client-ca tls/ca.pem
  arena worker --coordinator https://arena.example:7600 --tls-ca tls/ca.pem \\
      --tls-cert tls/worker-node-1.pem --tls-key tls/worker-node-1.key")]
    Init(InitArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder for the certificates
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Name or address of the coordinator, as clients call it; may be repeated
    /// [default: localhost, 127.0.0.1 and ::1]
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Vec<String>,

    /// A client: viewer, submitter, worker or admin, and its name; may be repeated
    #[arg(long, value_name = "ROLE:NAME", value_parser = client)]
    client: Vec<CertificateName>,
}

fn host(text: &str) -> Result<String, String> {
    let is_label = |label: &str| {
        let known = |it: char| it.is_ascii_alphanumeric() || it == '-';
        label == "*" || (!label.is_empty() && label.len() <= 63 && label.chars().all(known))
    };
    let is_name = text.len() <= 253 && text.split('.').all(is_label);
    match is_name || text.parse::<IpAddr>().is_ok() {
        true => Ok(text.to_owned()),
        false => Err("expected a name or address, such as arena.example or 10.0.0.1".to_owned()),
    }
}

fn client(text: &str) -> Result<CertificateName, String> {
    let is_name = |name: &str| {
        let known = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
        !name.is_empty() && name.len() <= 64 && name.chars().all(known)
    };
    let parts = text.split_once(':').filter(|(role, name)| {
        ["viewer", "submitter", "worker", "admin"].contains(role) && is_name(name)
    });
    let (role, name) = parts.ok_or("expected ROLE:NAME, such as worker:node-1")?;
    Ok(CertificateName {
        role: role.to_owned(),
        name: name.to_owned(),
    })
}

impl TlsCommand {
    pub(crate) fn run(self) -> Outcome {
        match self {
            Self::Init(args) => args.run(),
        }
    }
}

/// Certificates of a folder.
struct Authority<'a> {
    folder: &'a Path,
    issuer: Issuer<'static, KeyPair>,
}

impl InitArgs {
    fn run(self) -> Outcome {
        let mut hosts = self.host;
        if hosts.is_empty() {
            hosts = ["localhost", "127.0.0.1", "::1"]
                .map(str::to_owned)
                .to_vec();
        }
        let authority = Authority::open(&self.folder)?;
        let mut server = params(&hosts[0], ExtendedKeyUsagePurpose::ServerAuth);
        for host in &hosts {
            server.subject_alt_names.push(match host.parse::<IpAddr>() {
                Ok(address) => SanType::IpAddress(address),
                Err(_) => SanType::DnsName(host.as_str().try_into().map_err(|_| {
                    Failure::usage(format!("--host {host}: not a name or address of a host"))
                })?),
            });
        }
        authority.issue("server", server)?;
        for client in &self.client {
            let mut params = params(&client.name, ExtendedKeyUsagePurpose::ClientAuth);
            let uri = client.uri().as_str().try_into().map_err(failed)?;
            params.subject_alt_names.push(SanType::URI(uri));
            authority.issue(&format!("{}-{}", client.role, client.name), params)?;
        }
        Ok(())
    }
}

impl Authority<'_> {
    /// The authority of a folder, made if there is none.
    fn open(folder: &Path) -> Outcome<Authority<'_>> {
        let cannot =
            |error: io::Error| Failure::failed(format!("cannot use {}: {error}", folder.display()));
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(cannot)?;
        // The same each time, so that its key alone makes it.
        let mut params = params("Arena", ExtendedKeyUsagePurpose::Any);
        params.extended_key_usages.clear();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let (certificate, key) = (folder.join("ca.pem"), folder.join("ca.key"));
        if key.exists() {
            let pair = std::fs::read_to_string(&key).map_err(cannot)?;
            let issuer = Issuer::new(params, KeyPair::from_pem(&pair).map_err(failed)?);
            return Ok(Authority { folder, issuer });
        }
        let pair = KeyPair::generate().map_err(failed)?;
        let signed = params.self_signed(&pair).map_err(failed)?;
        write(&key, &pair.serialize_pem(), 0o600)?;
        write(&certificate, &signed.pem(), 0o644)?;
        Ok(Authority {
            folder,
            issuer: Issuer::new(params, pair),
        })
    }

    /// Signs a certificate, and writes it with its key.
    fn issue(&self, name: &str, params: CertificateParams) -> Outcome {
        let pair = KeyPair::generate().map_err(failed)?;
        let signed = params.signed_by(&pair, &self.issuer).map_err(failed)?;
        let path = |ending| self.folder.join(format!("{name}.{ending}"));
        write(&path("key"), &pair.serialize_pem(), 0o600)?;
        write(&path("pem"), &signed.pem(), 0o644)
    }
}

/// What certificates have in common.
fn params(name: &str, purpose: ExtendedKeyUsagePurpose) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.extended_key_usages = vec![purpose];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    let now = time::OffsetDateTime::now_utc();
    // Clocks of other machines may be a little behind.
    params.not_before = now - time::Duration::HOUR;
    params.not_after = now + time::Duration::days(DAYS);
    params
}

/// Writes a file, and replaces one that is there at once.
fn write(path: &Path, text: &str, mode: u32) -> Outcome {
    let draft = path.with_extension("new");
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(mode).open(&draft);
    let written = file.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    });
    let cannot = |error| Failure::failed(format!("cannot write {}: {error}", path.display()));
    written.map_err(cannot)?;
    output::write(&format!("{}\n", path.display()))
}

fn failed(error: rcgen::Error) -> Failure {
    Failure::failed(format!("cannot make a certificate: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_or_addresses() {
        for good in ["arena.example", "*.example", "localhost", "10.0.0.1", "::1"] {
            assert_eq!(host(good), Ok(good.to_owned()));
        }
        for wrong in ["", "a b", "a..b", "https://a", "a:7600", "[::1]"] {
            assert!(host(wrong).is_err(), "{wrong}");
        }
    }
}
