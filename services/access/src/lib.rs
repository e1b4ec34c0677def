//! How clients and workers prove who they are: tokens, the file of the local token, and
//! connections that carry a token.

mod bearer;
mod credentials;
mod local;
mod token;

pub use bearer::{Bearer, Connection, TokenFileError};
pub use credentials::{CredentialFiles, Credentials, DialError};
pub use local::{ADMIN_TOKEN_FILE, LocalToken, data_token, keep_data_token};
pub use token::{Token, TokenError};
