//! Who may read which address.

use std::net::IpAddr;

use arena_telemetry::{Denied, Permit, Permits, Reading};
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};

/// Checks the host and the token of requests.
pub(crate) struct Guard {
    listen: IpAddr,
    /// Names in lower case.
    hosts: Vec<String>,
    permits: Option<Permits>,
}

impl Guard {
    pub(crate) fn new(listen: IpAddr, hosts: Vec<String>, permits: Option<Permits>) -> Self {
        let lower = |host: String| host.trim_end_matches('.').to_ascii_lowercase();
        Self {
            listen,
            hosts: hosts.into_iter().map(lower).collect(),
            permits,
        }
    }

    /// True if everyone may read.
    pub(crate) fn is_public(&self) -> bool {
        self.permits.is_none()
    }

    /// True if a request names this server. A page of another site that points its own name at this
    /// address (DNS rebinding) sends that name. An IP address cannot be rebound.
    pub(crate) fn knows_host(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return false;
        };
        let is_known = host.to_str().is_ok_and(|host| self.is_host(host));
        is_known && uri.authority().is_none_or(|it| self.is_host(it.as_str()))
    }

    fn is_host(&self, host: &str) -> bool {
        let name = without_port(host).trim_end_matches('.');
        let literal = name.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = literal.parse::<IpAddr>() {
            return address.is_loopback() || address == self.listen || self.listen.is_unspecified();
        }
        name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|it| it.eq_ignore_ascii_case(name))
    }

    /// Decides whether a request may read. Its token is in `Authorization`, as `Bearer TOKEN`, or as
    /// the password of `Basic`, which browsers ask for.
    pub(crate) fn permit(
        &self,
        headers: &HeaderMap,
        peer: IpAddr,
        reading: Reading,
    ) -> Result<Permit, Denied> {
        let Some(permits) = &self.permits else {
            return Ok(None);
        };
        match headers.get(header::AUTHORIZATION).and_then(of_basic) {
            Some(bearer) => {
                let headers = HeaderMap::from_iter([(header::AUTHORIZATION, bearer)]);
                permits(&headers, peer, reading)
            }
            None => permits(headers, peer, reading),
        }
    }
}

/// A host without its port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|it| it.is_ascii_digit()) && !name.ends_with(':') =>
        {
            name
        }
        _ => host,
    }
}

/// The token that a browser sends as a password, as other clients send it.
fn of_basic(value: &HeaderValue) -> Option<HeaderValue> {
    let encoded = value.to_str().ok()?.strip_prefix("Basic ")?;
    let decoded = String::from_utf8(BASE64.decode(encoded).ok()?).ok()?;
    let (_, password) = decoded.split_once(':')?;
    let mut bearer = HeaderValue::try_from(format!("Bearer {password}")).ok()?;
    bearer.set_sensitive(true);
    Some(bearer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knows(guard: &Guard, hosts: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, HeaderValue::from_str(host).expect("a value"));
        }
        guard.knows_host(&headers, &Uri::from_static("/"))
    }

    #[test]
    fn only_own_names_are_hosts() {
        let names = vec!["Arena.example.".to_owned()];
        let own = Guard::new([10, 0, 0, 7].into(), names, None);
        for host in [
            "10.0.0.7:7680",
            "10.0.0.7",
            "127.0.0.1:1",
            "[::1]:7680",
            "[::1]",
            "localhost",
            "LOCALHOST:7680",
            "arena.example",
            "arena.example:443",
        ] {
            assert!(knows(&own, &[host]), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "10.0.0.8",
            "localhost.evil.example",
            "arena.example.evil.example",
            "127.0.0.1.evil.example",
            "localhost:7680:1",
        ] {
            assert!(!knows(&own, &[host]), "{host}");
        }
        assert!(!knows(&own, &[]), "no host");
        assert!(!knows(&own, &["localhost", "localhost"]), "two hosts");
        let absolute = Uri::from_static("http://evil.example/");
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost"))]);
        assert!(!own.knows_host(&headers, &absolute));
        let every = Guard::new([0, 0, 0, 0].into(), Vec::new(), None);
        assert!(knows(&every, &["192.0.2.1:80"]) && !knows(&every, &["evil.example"]));
    }

    #[test]
    fn password_of_browser_is_token() {
        let basic = |text: &str| {
            let value = format!("Basic {}", BASE64.encode(text));
            of_basic(&HeaderValue::try_from(value).expect("a value"))
        };
        let bearer = basic("me:arena-1-2").expect("a token");
        assert_eq!(bearer, "Bearer arena-1-2");
        assert_eq!(basic("no colon"), None);
        assert_eq!(of_basic(&HeaderValue::from_static("Basic !")), None);
    }
}
