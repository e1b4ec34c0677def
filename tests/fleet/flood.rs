//! Connections that say nothing.

use std::{
    io::{ErrorKind, Read},
    net::TcpStream,
};

use super::FleetError;

/// Connections that say nothing; they end when dropped.
#[derive(Debug, Default)]
pub struct Silent {
    connections: Vec<TcpStream>,
    /// Connections that could not be made.
    pub refused: usize,
}

impl Silent {
    /// Connects so many times to `HOST:PORT`.
    ///
    /// # Errors
    /// Where a connection cannot be set up here.
    pub fn connect(address: &str, connections: usize) -> Result<Self, FleetError> {
        super::raise_file_limit();
        let mut silent = Self::default();
        for _ in 0..connections {
            match TcpStream::connect(address) {
                Ok(connection) => {
                    connection.set_nonblocking(true)?;
                    silent.connections.push(connection);
                }
                Err(_) => silent.refused += 1,
            }
        }
        Ok(silent)
    }

    /// How many of them the other side has not closed.
    #[must_use]
    pub fn open(&self) -> usize {
        self.connections
            .iter()
            .filter(|connection| still_open(connection))
            .count()
    }
}

fn still_open(mut connection: &TcpStream) -> bool {
    let mut buffer = [0; 256];
    loop {
        match connection.read(&mut buffer) {
            Ok(0) => return false,
            // A greeting of the server.
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}
