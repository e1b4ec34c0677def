//! Where agents may run as endpoints, and connections to them.
//!
//! A registrant chooses an endpoint's address, and coordinators and workers connect to it. So an
//! address must not lead to services that trust every program of the machine.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use hyper_util::rt::TokioIo;
use ipnet::IpNet;
use tokio::net::{TcpStream, lookup_host};
use tonic::{
    Status,
    transport::{Channel, Endpoint, Uri},
};

/// The word for Unix sockets in a list of networks.
const UNIX: &str = "unix";
/// Metadata services of clouds at addresses that are not link-local.
const METADATA_V4: [[u8; 4]; 3] = [[100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]];

/// Addresses at which agents may be endpoints. Link-local, multicast, broadcast and unspecified
/// addresses and metadata services of clouds never are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentNetworks {
    /// None: all networks.
    only: Option<Vec<Allowed>>,
    unix: bool,
}

/// A network with a port; none: every port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Allowed {
    network: IpNet,
    port: Option<u16>,
}

impl Default for AgentNetworks {
    /// The addresses of this machine alone.
    fn default() -> Self {
        let loopback = [
            IpNet::new(Ipv4Addr::new(127, 0, 0, 0).into(), 8),
            IpNet::new(Ipv6Addr::LOCALHOST.into(), 128),
        ];
        let allowed = |network| Allowed {
            network,
            port: None,
        };
        Self {
            only: Some(loopback.into_iter().flatten().map(allowed).collect()),
            unix: false,
        }
    }
}

impl FromStr for Allowed {
    type Err = ();

    /// Parses `NETWORK` or `NETWORK:PORT`; an IPv6 network before a port is in brackets.
    fn from_str(text: &str) -> Result<Self, ()> {
        let network = |text: &str| {
            let network = text.parse::<IpNet>();
            network.or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        };
        if let Ok(network) = network(text) {
            return Ok(Self {
                network,
                port: None,
            });
        }
        let (address, port) = text.rsplit_once(':').ok_or(())?;
        let bare = { address.strip_prefix('[') }.and_then(|it| it.strip_suffix(']'));
        if bare.is_none() && address.contains(':') {
            return Err(());
        }
        Ok(Self {
            network: network(bare.unwrap_or(address)).map_err(|_| ())?,
            port: Some(port.parse().map_err(|_| ())?),
        })
    }
}

impl FromStr for AgentNetworks {
    type Err = String;

    /// Parses networks and addresses, each perhaps with a port, and `unix`, separated by commas.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut networks = Self {
            only: Some(Vec::new()),
            unix: false,
        };
        for part in text.split(',').map(str::trim) {
            match part.parse() {
                Ok(allowed) => networks.only.get_or_insert_default().push(allowed),
                Err(()) if part == UNIX => networks.unix = true,
                Err(()) => {
                    return Err(format!(
                        "\"{part}\" is not a network: expected 10.0.0.0/8, 10.0.0.0/8:5000, \
                         [fd00::/8]:5000, an address or {UNIX}"
                    ));
                }
            }
        }
        Ok(networks)
    }
}

impl AgentNetworks {
    /// All networks, for a coordinator that a user starts for own agents.
    #[must_use]
    pub fn everywhere() -> Self {
        Self {
            only: None,
            unix: false,
        }
    }

    /// The networks for commands of a user, who may also name Unix sockets.
    #[must_use]
    pub fn of_user() -> Self {
        Self {
            only: None,
            unix: true,
        }
    }

    /// Checks a URL without resolving its name.
    ///
    /// # Errors
    /// The reason why an agent cannot be there.
    pub fn check(&self, url: &str) -> Result<(), String> {
        if url.starts_with("unix:") {
            return match self.unix {
                true => Ok(()),
                false => Err(format!(
                    "Unix sockets are not allowed: let the agent listen on a port; an operator \
                     can allow them with --allow-endpoint {UNIX}"
                )),
            };
        }
        let Ok(url) = url.parse::<Uri>() else {
            return Ok(());
        };
        let host = host_of(&url);
        if host.contains('%') {
            return Err(format!(
                "{host} has a zone, which has a meaning on one machine only: use an address without \
                 a zone"
            ));
        }
        let address = host.parse().ok();
        address.map_or(Ok(()), |address| self.check_address(address, port_of(&url)))
    }

    fn check_address(&self, address: IpAddr, port: u16) -> Result<(), String> {
        let address = canonical(address);
        if let Some(kind) = special(address) {
            return Err(format!(
                "{address} is {kind} address: use the address of the machine that runs the agent"
            ));
        }
        let allows = |allowed: &Allowed| {
            allowed.network.contains(&address) && allowed.port.is_none_or(|it| it == port)
        };
        match { self.only.as_ref() }.is_none_or(|only| only.iter().any(allows)) {
            true => Ok(()),
            false => Err(format!(
                "{address} port {port} is not in the networks that the operator allows with \
                 --allow-endpoint"
            )),
        }
    }

    /// Connects to an agent: `endpoint` is for `url`. Every address of its name is checked, at
    /// each connection.
    ///
    /// # Errors
    /// The cause, which is for the log of the operator.
    pub async fn connect(&self, url: &str, endpoint: Endpoint) -> Result<Channel, String> {
        self.check(url)?;
        if url.starts_with("unix:") {
            return endpoint.connect().await.map_err(|error| causes(&error));
        }
        let networks = self.clone();
        let connector = tower::service_fn(move |url: Uri| {
            let networks = networks.clone();
            async move { networks.open(&url).await.map(TokioIo::new) }
        });
        let channel = endpoint.connect_with_connector(connector).await;
        channel.map_err(|error| causes(&error))
    }

    async fn open(&self, url: &Uri) -> io::Result<TcpStream> {
        let port = port_of(url);
        let addresses: Vec<SocketAddr> = lookup_host((host_of(url), port)).await?.collect();
        for address in &addresses {
            let checked = self.check_address(address.ip(), port);
            checked.map_err(|reason| io::Error::new(io::ErrorKind::PermissionDenied, reason))?;
        }
        let stream = TcpStream::connect(&addresses[..]).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

fn port_of(url: &Uri) -> u16 {
    url.port_u16().unwrap_or(80)
}

/// The host of a URL; an IPv6 address without its brackets.
fn host_of(url: &Uri) -> &str {
    let host = url.host().unwrap_or_default();
    host.trim_start_matches('[').trim_end_matches(']')
}

/// The IPv4 address to which an IPv6 address leads: mapped, compatible, NAT64 or 6to4.
fn canonical(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    let (high, low) = match v6.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low),
        [0x2002, high, low, ..] => (high, low),
        [0, 0, 0, 0, 0, 0, high, low] if high > 0 => (high, low),
        _ => return address,
    };
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into()
}

/// The kind of an address at which no agent can be.
fn special(address: IpAddr) -> Option<&'static str> {
    const METADATA: Option<&str> = Some("a metadata service's");
    match address {
        IpAddr::V4(v4) if v4.is_link_local() => Some("a link-local"),
        IpAddr::V4(v4) if v4.octets()[0] == 0 => Some("an unspecified"),
        IpAddr::V4(v4) if v4.is_multicast() => Some("a multicast"),
        IpAddr::V4(v4) if v4.is_broadcast() => Some("a broadcast"),
        IpAddr::V4(v4) if METADATA_V4.contains(&v4.octets()) => METADATA,
        IpAddr::V6(v6) if v6.is_unicast_link_local() => Some("a link-local"),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Some("an unspecified"),
        IpAddr::V6(v6) if v6.is_multicast() => Some("a multicast"),
        IpAddr::V6(v6) => match v6.segments() {
            // AWS and Google Cloud.
            [0xfd00, 0xec2, ..] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => METADATA,
            _ => None,
        },
        IpAddr::V4(_) => None,
    }
}

/// True if an agent answered with this status; false if an HTTP server did that is no agent.
#[must_use]
pub fn is_of_agent(status: &Status) -> bool {
    !status.message().starts_with("grpc-status header missing")
}

/// The text of an error with all its causes; tonic's own text is only "transport error".
#[must_use]
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: [&str; 19] = [
        "http://169.254.169.254:80",
        "http://user@169.254.169.254:80",
        "http://[::ffff:169.254.169.254]:80",
        "http://[64:ff9b::a9fe:a9fe]:80",
        "http://[2002:a9fe:a9fe::]:80",
        "http://[fd00:ec2::254]:80",
        "http://[fd20:ce::254]:80",
        "http://[fe80::1]:80",
        "http://[fe80::1%25lo]:80",
        "http://[::1%25lo]:80",
        "http://[fd00:ec2::254%25eth0]:80",
        "http://[ff02::1]:80",
        "http://[::]:80",
        "http://0.0.0.0:80",
        "http://224.0.0.1:80",
        "http://255.255.255.255:80",
        "http://100.100.100.200:80",
        "http://168.63.129.16:80",
        "unix:/run/docker.sock",
    ];

    #[test]
    fn special_addresses_are_refused() {
        for networks in ["0.0.0.0/0,::/0", "169.254.0.0/16"] {
            let networks: AgentNetworks = networks.parse().expect("networks");
            for url in REFUSED {
                assert!(networks.check(url).is_err(), "{url}");
                assert!(AgentNetworks::default().check(url).is_err(), "{url}");
            }
        }
        for url in ["http://127.0.0.1:1", "http://[::1]:1", "http://host:1"] {
            assert_eq!(AgentNetworks::default().check(url), Ok(()), "{url}");
        }
        let far = "http://10.0.0.7:1";
        assert_eq!(AgentNetworks::of_user().check(far), Ok(()));
        assert!(AgentNetworks::default().check(far).is_err());
        assert_eq!(AgentNetworks::of_user().check("unix:/tmp/mine"), Ok(()));
    }

    #[test]
    fn operator_limits_networks() {
        let networks: AgentNetworks = "10.0.0.0/8, ::1, unix".parse().expect("networks");
        for url in ["http://10.1.2.3:1", "http://[::1]:1", "unix:/tmp/mine"] {
            assert_eq!(networks.check(url), Ok(()), "{url}");
        }
        for url in [
            "http://127.0.0.1:1",
            "http://11.0.0.1:1",
            "http://[::ffff:11.0.0.1]:1",
        ] {
            let refused = networks.check(url);
            assert!(
                refused.is_err_and(|it| it.contains("--allow-endpoint")),
                "{url}"
            );
        }
        let networks = "10.0.0.0/8:5000, [fd00::/8]:5000, ::1".parse::<AgentNetworks>();
        let networks = networks.expect("networks");
        for url in [
            "http://10.1.2.3:5000",
            "http://[fd01::1]:5000",
            "http://[::1]:7",
        ] {
            assert_eq!(networks.check(url), Ok(()), "{url}");
        }
        for url in [
            "http://10.1.2.3:5001",
            "http://10.1.2.3",
            "http://[fd01::1]:50",
        ] {
            assert!(networks.check(url).is_err(), "{url}");
        }
        for text in [
            "10.0.0.0/8:99999",
            "fd00::/8:5000",
            ":5000",
            "",
            "10.0.0.0/33",
            "localhost",
            "10.0.0.0/8,,",
        ] {
            assert!(text.parse::<AgentNetworks>().is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn resolved_addresses_are_checked() {
        if !arena_test_isolation::leave_network("resolved_addresses_are_checked") {
            return;
        }
        let only: AgentNetworks = "10.0.0.0/8".parse().expect("networks");
        // The number is 169.254.169.254, which the resolver knows without a question.
        for (networks, url, reason) in [
            (only, "http://localhost:1", "not in the networks"),
            (
                AgentNetworks::of_user(),
                "http://2852039166:1",
                "link-local",
            ),
        ] {
            assert_eq!(networks.check(url), Ok(()), "{url}");
            let endpoint = Endpoint::from_shared(url.to_owned()).expect("a URL");
            let refused = networks.connect(url, endpoint).await;
            assert!(
                refused.as_ref().is_err_and(|it| it.contains(reason)),
                "{refused:?}"
            );
        }
    }

    #[tokio::test]
    async fn agents_on_loopback_are_reached() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let endpoint = Endpoint::from_shared(url.clone()).expect("a URL");
        let accept = tokio::spawn(async move { listener.accept().await });
        let channel = AgentNetworks::default().connect(&url, endpoint).await;
        assert!(channel.is_ok(), "{channel:?}");
        assert!(accept.await.is_ok_and(|accepted| accepted.is_ok()));
    }
}
