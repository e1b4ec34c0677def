//! Answers with the headers that protect them.

use std::sync::Arc;

use arena_model::{printable, printable_json};
use arena_report::ReportError;
use arena_telemetry::{PART_BYTES, UnreadAnswers};
use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tonic::Code;

use crate::unread::Unread;

/// What pages may load: their own style, script and events. No site may frame them.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Documents that no browser shows as a page load nothing.
const POLICY_OF_DATA: &str = "default-src 'none'; frame-ancestors 'none'";

/// What was asked for cannot be shown.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
}

impl From<tonic::Status> for Failure {
    fn from(status: tonic::Status) -> Self {
        let of = match status.code() {
            // A game of a block that is not complete, while the seed is sealed, is not shown yet.
            Code::NotFound | Code::InvalidArgument | Code::FailedPrecondition => {
                StatusCode::NOT_FOUND
            }
            Code::ResourceExhausted | Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(of, status.message())
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Status(status) => status.into(),
            other => Self::new(StatusCode::INTERNAL_SERVER_ERROR, other.to_string()),
        }
    }
}

impl From<askama::Error> for Failure {
    fn from(error: askama::Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

/// An answer or the reason why there is none.
pub(crate) type Outcome<T = Answer> = Result<T, Failure>;

/// A whole document.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    kind: &'static str,
    policy: HeaderValue,
    pub(crate) body: Bytes,
    /// Names the content.
    tag: String,
    /// True if the server keeps the body anyway, so that unread answers share its memory.
    is_kept: bool,
    /// True if other sites may show it.
    is_embeddable: bool,
}

impl Answer {
    fn new(kind: &'static str, policy: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self {
            tag: format!("\"{}\"", hex::encode(&Sha256::digest(&body)[..12])),
            is_kept: false,
            status: StatusCode::OK,
            kind,
            policy: HeaderValue::from_static(policy),
            body,
            is_embeddable: false,
        }
    }

    /// A page. Hidden characters of strangers are shown.
    pub(crate) fn page(html: &str) -> Self {
        let html = printable(html).into_owned();
        Self::new("text/html; charset=utf-8", POLICY, html)
    }

    /// A page with a policy of its own.
    pub(crate) fn page_with(html: &str, policy: &str) -> Self {
        let mut answer = Self::page(html);
        // Ours are plain text.
        if let Ok(policy) = HeaderValue::from_str(policy) {
            answer.policy = policy;
        }
        answer
    }

    /// The same, for many readers.
    pub(crate) fn kept(self) -> Self {
        Self {
            is_kept: true,
            ..self
        }
    }

    /// A document of JSON.
    pub(crate) fn json(text: &str) -> Self {
        let text = printable_json(text).into_owned() + "\n";
        Self::new("application/json", POLICY_OF_DATA, text)
    }

    /// A value as JSON.
    pub(crate) fn value(value: &Value) -> Self {
        Self::json(&value.to_string())
    }

    /// An error as JSON.
    pub(crate) fn error(failure: &Failure) -> Self {
        Self {
            status: failure.status,
            ..Self::value(&json!({ "error": failure.message }))
        }
    }

    /// A drawing that other sites may show.
    pub(crate) fn badge(svg: &str) -> Self {
        Self {
            is_embeddable: true,
            ..Self::new("image/svg+xml", POLICY_OF_DATA, printable(svg).into_owned())
        }
    }

    /// A style.
    pub(crate) fn style(text: impl Into<Bytes>) -> Self {
        Self::new("text/css; charset=utf-8", POLICY_OF_DATA, text)
    }

    /// A script.
    pub(crate) fn script(text: &'static str) -> Self {
        Self::new("text/javascript; charset=utf-8", POLICY_OF_DATA, text)
    }

    /// The response. Without tokens, a browser keeps it and asks whether it has changed; `known` is
    /// what it has. A large body that is not kept anyway is one of the unread ones.
    pub(crate) fn response(
        self,
        is_public: bool,
        known: Option<&HeaderValue>,
        unread: &Arc<UnreadAnswers>,
    ) -> Response {
        let tag = self.tag;
        let is_ok = self.status == StatusCode::OK;
        let matches = |known: &HeaderValue| {
            let known = known.to_str().unwrap_or_default();
            known
                .split(',')
                .any(|it| it.trim().trim_start_matches("W/") == tag)
        };
        let is_known = is_public && is_ok && known.is_some_and(matches);
        let size = self.body.len();
        let body = match is_known {
            true => Body::empty(),
            false if self.is_kept || size <= PART_BYTES => Body::from(self.body),
            false => Body::from_stream(Unread::new(unread.add(self.body))),
        };
        let mut response = Response::new(body);
        *response.status_mut() = match is_known {
            true => StatusCode::NOT_MODIFIED,
            false => self.status,
        };
        let headers = response.headers_mut();
        if !is_known {
            headers.insert(header::CONTENT_LENGTH, size.into());
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::CONTENT_SECURITY_POLICY, self.policy);
        if is_public && is_ok {
            // Ours are plain text.
            headers.extend(HeaderValue::try_from(tag).map(|tag| (header::ETAG, tag)));
        }
        protect(&mut response, is_public, self.is_embeddable);
        response
    }
}

/// Adds the headers that every response has.
pub(crate) fn protect(response: &mut Response, is_public: bool, is_embeddable: bool) {
    let resource_policy = if is_embeddable {
        "cross-origin"
    } else {
        "same-origin"
    };
    let caching = if is_public { "no-cache" } else { "no-store" };
    for (name, value) in [
        ("cache-control", caching),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", resource_policy),
    ] {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
}
