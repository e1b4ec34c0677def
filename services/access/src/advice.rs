//! What to do if TLS is not agreed.

/// Parts of the causes that libraries name, and what to do.
const KNOWN: [(&str, &str); 18] = [
    ("InvalidContentType", NO_TLS),
    ("frame with invalid size", TLS),
    ("UnknownIssuer", FOREIGN),
    ("BadSignature", FOREIGN),
    ("NotValidForName", NAME),
    ("certificate: Expired", DATES),
    ("certificate: NotValidYet", DATES),
    ("fatal alert: UnknownCA", REFUSED),
    ("fatal alert: DecryptError", REFUSED),
    ("fatal alert: BadCertificate", REFUSED),
    ("fatal alert: CertificateUnknown", REFUSED),
    ("fatal alert: CertificateExpired", REFUSED),
    ("fatal alert: CertificateRequired", REFUSED),
    ("fatal alert: AccessDenied", REFUSED),
    ("broken pipe", LOST),
    ("connection closed", LOST),
    ("connection reset", LOST),
    ("Connection reset", LOST),
];
const NO_TLS: &str = "the program at this port does not use TLS: begin its URL with http://";
const TLS: &str =
    "the program at this port may use TLS: begin its URL with https://, and name --tls-ca";
const FOREIGN: &str = "another authority signed its certificate: name the ca.pem of this coordinator \
     with --tls-ca";
const NAME: &str = "its certificate has other names: use one of them in the URL, or add this one with \
     `arena tls init --host`";
const DATES: &str =
    "its certificate is not valid at this time: check the clock, or renew it with `arena tls init`";
const REFUSED: &str = "the coordinator does not accept the certificate of --tls-cert: use one that is \
     valid and that its --tls-client-ca signed";

const LOST: &str = "is it still running? If it uses TLS, its URL begins with https://, and its \
     --tls-client-ca has to have signed the certificate of --tls-cert";

/// What to do about a failed connection, if its causes say enough.
#[must_use]
pub fn tls_advice(causes: &str) -> Option<&'static str> {
    let known = KNOWN.iter().find(|(part, _)| causes.contains(part));
    known.map(|(_, advice)| *advice)
}
