//! HTTP/2 frame by frame, for a client that breaks its rules.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use arena_access::ClientTls;

/// The first bytes of a client.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// A stream or connection may send this many bytes at first.
const WINDOW: i64 = 65_535;
/// Maximum bytes of a frame, unless the server allows more.
const FRAME_BYTES: usize = 16_384;

/// Types of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of RFC 9113")]
pub enum Kind {
    Data = 0,
    Headers = 1,
    Priority = 2,
    Reset = 3,
    Settings = 4,
    Ping = 6,
    GoAway = 7,
    WindowUpdate = 8,
    Continuation = 9,
    Unknown = 0xbe,
}

/// Flag of SETTINGS and PING.
pub const ACK: u8 = 1;
/// Flag of DATA and HEADERS: the last frame of a direction of a stream.
pub const END_STREAM: u8 = 1;
/// Flag of HEADERS and CONTINUATION: the last frame of a header block.
pub const END_HEADERS: u8 = 4;

/// The bytes of a frame.
#[must_use]
pub fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9 + payload.len());
    bytes.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    bytes.extend_from_slice(&[kind as u8, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// A setting for a SETTINGS frame.
#[must_use]
pub fn setting(id: u16, value: u32) -> Vec<u8> {
    [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// A field of a header block, as a literal that the server does not have to remember.
#[must_use]
pub fn field(name: &str, value: &str) -> Vec<u8> {
    literal(0, name, value)
}

/// As [`field`], for the server's table.
#[must_use]
pub fn remembered_field(name: &str, value: &str) -> Vec<u8> {
    literal(0x40, name, value)
}

fn literal(first: u8, name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![first];
    for text in [name, value] {
        // A length below 127 is one byte; else its rest follows, seven bits at a time.
        let mut rest = text.len();
        if rest < 127 {
            bytes.push(rest as u8);
        } else {
            bytes.push(127);
            rest -= 127;
            while rest >= 128 {
                bytes.push((rest % 128) as u8 | 128);
                rest /= 128;
            }
            bytes.push(rest as u8);
        }
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

/// The header block of a gRPC request.
#[must_use]
pub fn request(path: &str, token: Option<&str>, more: &[(&str, &str)]) -> Vec<u8> {
    let authorization = token.map(|token| format!("Bearer {token}"));
    let mut fields = vec![
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", "127.0.0.1"),
        (":path", path),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    fields.extend(authorization.as_deref().map(|text| ("authorization", text)));
    fields.extend(more);
    fields
        .iter()
        .flat_map(|(name, value)| field(name, value))
        .collect()
}

/// A message of gRPC.
#[must_use]
pub fn message(is_compressed: bool, bytes: &[u8]) -> Vec<u8> {
    [&prefix(is_compressed, bytes.len() as u32)[..], bytes].concat()
}

/// What comes before the bytes of a message.
#[must_use]
pub fn prefix(is_compressed: bool, bytes: u32) -> [u8; 5] {
    let [a, b, c, d] = bytes.to_be_bytes();
    [u8::from(is_compressed), a, b, c, d]
}

/// A frame that was read.
#[derive(Debug)]
pub struct Frame {
    /// Its type; none, if it is another than those of [`Kind`].
    pub kind: Option<Kind>,
    /// Its flags.
    pub flags: u8,
    /// Its stream.
    pub stream: u32,
    /// Its content.
    pub payload: Vec<u8>,
}

impl Frame {
    /// True if it is the server's last one of its stream.
    #[must_use]
    pub fn ends_stream(&self) -> bool {
        match self.kind {
            Some(Kind::Data | Kind::Headers) => self.flags & END_STREAM != 0,
            kind => kind == Some(Kind::Reset),
        }
    }
}

/// Both directions.
trait Duplex: Read + Write + Send {}

impl<T: Read + Write + Send> Duplex for T {}

/// A connection that sends what it is given.
pub struct RawClient {
    stream: Box<dyn Duplex>,
    socket: TcpStream,
    connection_window: i64,
    /// What the server allows each new stream.
    initial_window: i64,
    /// The stream on which a body was sent last, and what it may still send.
    stream_number: u32,
    stream_window: i64,
    /// Streams that the server has ended.
    ended: usize,
}

impl RawClient {
    /// Connects. TLS is agreed when the first bytes are sent.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub fn connect(address: &str, tls: Option<&ClientTls>) -> io::Result<Self> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        // Sends that a server does not read must end.
        socket.set_write_timeout(Some(Duration::from_millis(500)))?;
        socket.set_read_timeout(Some(Duration::from_secs(20)))?;
        let stream: Box<dyn Duplex> = match tls {
            Some(tls) => Box::new(tls.connect("127.0.0.1", socket.try_clone()?)?),
            None => Box::new(socket.try_clone()?),
        };
        Ok(Self {
            stream,
            socket,
            connection_window: WINDOW,
            initial_window: WINDOW,
            stream_number: 0,
            stream_window: WINDOW,
            ended: 0,
        })
    }

    /// Connects, and sends what every client sends first.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub fn open(address: &str, tls: Option<&ClientTls>, settings: &[u8]) -> io::Result<Self> {
        let mut client = Self::connect(address, tls)?;
        client.send(&[PREFACE, &frame(Kind::Settings, 0, 0, settings)].concat())?;
        Ok(client)
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// The server closed the connection, or reads no more.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// Sends bytes below TLS.
    ///
    /// # Errors
    /// The server closed the connection, or reads no more.
    pub fn send_below_tls(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// Ends the direction to the server.
    pub fn stop_sending(&self) {
        // An error means that the connection has ended.
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Reads the next frame, answers a PING or SETTINGS, and follows the windows.
    ///
    /// # Errors
    /// The server closed the connection, or sends nothing for 20 seconds.
    pub fn read(&mut self) -> io::Result<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload)?;
        let kind = match head[3] {
            0 => Some(Kind::Data),
            1 => Some(Kind::Headers),
            3 => Some(Kind::Reset),
            4 => Some(Kind::Settings),
            6 => Some(Kind::Ping),
            7 => Some(Kind::GoAway),
            8 => Some(Kind::WindowUpdate),
            _ => None,
        };
        let frame_read = Frame {
            kind,
            flags: head[4],
            stream: u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]),
            payload,
        };
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0_i64, |sum, &it| sum << 8 | i64::from(it))
        };
        match frame_read.kind {
            Some(Kind::Ping) if frame_read.flags & ACK == 0 => {
                self.send(&frame(Kind::Ping, ACK, 0, &frame_read.payload))?;
            }
            Some(Kind::Settings) if frame_read.flags & ACK == 0 => {
                for setting in frame_read.payload.chunks_exact(6) {
                    if setting[..2] == [0, 4] {
                        let window = number(&setting[2..]);
                        self.stream_window += window - self.initial_window;
                        self.initial_window = window;
                    }
                }
                self.send(&frame(Kind::Settings, ACK, 0, &[]))?;
            }
            Some(Kind::WindowUpdate) => match frame_read.stream {
                0 => self.connection_window += number(&frame_read.payload),
                stream if stream == self.stream_number => {
                    self.stream_window += number(&frame_read.payload);
                }
                _ => {}
            },
            _ => {}
        }
        self.ended += usize::from(frame_read.ends_stream());
        Ok(frame_read)
    }

    /// Reads what the server has sent so far. Returns the number of streams that the server has ended since
    /// the last call; one that it has reset as well counts twice.
    ///
    /// # Errors
    /// The server closed the connection.
    pub fn ended_streams(&mut self) -> io::Result<usize> {
        self.send(&frame(Kind::Ping, 0, 0, &[0; 8]))?;
        loop {
            let frame = self.read()?;
            match frame.kind {
                Some(Kind::Ping) if frame.flags & ACK != 0 => break,
                Some(Kind::GoAway) => return Err(io::ErrorKind::ConnectionAborted.into()),
                _ => {}
            }
        }
        Ok(std::mem::take(&mut self.ended))
    }

    /// Sends a body on a new stream as fast as the server allows, until the server ends the stream. Returns
    /// the number of bytes sent.
    ///
    /// # Errors
    /// The server closed the connection.
    pub fn pour(&mut self, stream: u32, mut body: impl Read) -> io::Result<u64> {
        self.stream_number = stream;
        self.stream_window = self.initial_window;
        let mut buffer = vec![0; FRAME_BYTES];
        let mut sent = 0;
        loop {
            let bytes = body.read(&mut buffer)?;
            if bytes == 0 {
                return Ok(sent);
            }
            while self.connection_window.min(self.stream_window) < bytes as i64 {
                let frame = self.read()?;
                let is_last = frame.stream == stream && frame.ends_stream();
                if is_last || frame.kind == Some(Kind::GoAway) {
                    return Ok(sent);
                }
            }
            self.send(&frame(Kind::Data, 0, stream, &buffer[..bytes]))?;
            self.connection_window -= bytes as i64;
            self.stream_window -= bytes as i64;
            sent += bytes as u64;
        }
    }
}

impl std::fmt::Debug for RawClient {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.socket.fmt(formatter)
    }
}
