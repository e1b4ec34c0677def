//! How clients and workers prove who they are: tokens, the file of the local token, and
//! connections that carry a token.

mod advice;
mod bearer;
mod client_tls;
mod connection;
mod credentials;
mod local;
mod server_tls;
mod token;

pub use advice::tls_advice;
pub use bearer::{Bearer, TokenFileError};
pub use client_tls::ClientTls;
pub use connection::{Connection, retry_delay};
pub use credentials::{CredentialFiles, Credentials, DialError};
pub use local::{
    ADMIN_TOKEN_FILE, LocalToken, data_token, is_read_by_others, keep_data_token, read_token,
};
pub use server_tls::{CertificateName, Expiry, ServerTls, TlsError, TlsFiles};
pub use token::{Token, TokenError, without_secrets};
