//! Addresses, and the checks before each answer.

use std::{net::IpAddr, sync::Arc};

use arena_report::live;
use arena_telemetry::{Denied, Reading, Seat};
use askama::Template;
use axum::{
    Extension, Router,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    response::Response,
};

use crate::{
    answer::{Answer, Failure, Outcome},
    badge, events, game,
    guard::Guard,
    lists,
    site::Site,
    tournament,
};

/// What is added to the style of reports.
const STYLE: &str = include_str!("pages/web.css");
const SCRIPT: &str = include_str!("pages/live.js");
/// The description of the JSON documents.
const OPENAPI: &str = include_str!("openapi.json");

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage<'a> {
    title: &'a str,
    message: &'a str,
}

/// All addresses are answered by one function: there are no rules but those of [`find`].
pub(crate) fn router(site: Arc<Site>, guard: Arc<Guard>) -> Router {
    Router::new().fallback(
        async move |Extension(peer): Extension<IpAddr>,
                    Extension(seat): Extension<Arc<Seat>>,
                    request: Request| {
            seat.busy();
            let response = respond(&site, &guard, peer, request).await;
            // Also while events are sent: a new connection may replace the oldest reader of events,
            // which asks again.
            seat.idle();
            response
        },
    )
}

async fn respond(site: &Arc<Site>, guard: &Arc<Guard>, peer: IpAddr, request: Request) -> Response {
    let is_public = guard.is_public();
    let (headers, uri) = (request.headers(), request.uri());
    let is_api = uri.path().starts_with("/api/");
    let failed = |failure: Failure| {
        let answer = match is_api {
            true => Answer::error(&failure),
            false => failure_page(&failure),
        };
        answer.response(is_public, None, &site.unread)
    };
    if !guard.knows_host(headers, uri) {
        return failed(Failure::new(
            StatusCode::MISDIRECTED_REQUEST,
            "this server does not have the name in the address; the operator adds names with \
             --web-host",
        ));
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut response = failed(Failure::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "these pages are only read",
        ));
        let allowed = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(header::ALLOW, allowed);
        return response;
    }
    let path: Vec<&str> = uri.path().split('/').skip(1).collect();
    let events_of = match path[..] {
        ["t", id, "events"] => Some(id),
        _ => None,
    };
    let reading = events_of.map_or(Reading::Document, |_| Reading::Stream);
    let permit = match guard.permit(headers, peer, reading) {
        Ok(permit) => permit,
        Err(denied) => return refused(&denied, failed),
    };
    if let Some(id) = events_of {
        let reader = (Arc::clone(guard), headers.clone(), peer);
        let may_read = move || {
            let _of_stream = &permit;
            match reader.0.permit(&reader.1, reader.2, Reading::Document) {
                Ok(_) => true,
                // Its other requests are too many.
                Err(denied) => denied.retry.is_some(),
            }
        };
        let answered = events::answer(site, id, headers, is_public, may_read).await;
        return answered.unwrap_or_else(failed);
    }
    let query = uri.query().unwrap_or_default();
    match find(site, &path, query).await {
        Ok(answer) => answer.response(is_public, headers.get(header::IF_NONE_MATCH), &site.unread),
        Err(failure) => failed(failure),
    }
}

/// The answer to a reader without permission.
fn refused(denied: &Denied, failed: impl Fn(Failure) -> Response) -> Response {
    const NEEDED: &str = "these pages need the token of a viewer: enter it as the password, with any \
         name of a user, or send authorization: Bearer TOKEN";
    let message = match (&denied.reason, denied.retry) {
        (Some(reason), Some(_)) => reason.clone(),
        (Some(reason), None) => format!("{reason}. {NEEDED}"),
        (None, _) => NEEDED.to_owned(),
    };
    let mut response = failed(Failure::new(denied.status(), message));
    let headers = response.headers_mut();
    if let Some(seconds) = denied.retry_after() {
        headers.insert(header::RETRY_AFTER, seconds.into());
        return response;
    }
    for scheme in [
        "Basic realm=\"arena: token of a viewer as password\"",
        "Bearer",
    ] {
        headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
    }
    response
}

/// The answer of an address.
async fn find(site: &Site, path: &[&str], query: &str) -> Outcome {
    let page = || Ok::<_, Failure>(number(query, "page")?.unwrap_or(1));
    match *path {
        [""] => lists::tournaments(site, page()?, false).await,
        ["api", "tournaments"] => lists::tournaments(site, page()?, true).await,
        ["workers"] => lists::workers(site, page()?, false).await,
        ["api", "workers"] => lists::workers(site, page()?, true).await,
        ["agents"] => lists::agents(site, page()?, false).await,
        ["api", "agents"] => lists::agents(site, page()?, true).await,
        ["t", id] => tournament::page(site, id).await,
        ["api", "tournaments", id] => Ok(Answer::value(&site.snapshot(id).await?.json())),
        ["t", id, "games"] => lists::games(site, id, page()?, false).await,
        ["api", "tournaments", id, "games"] => lists::games(site, id, page()?, true).await,
        ["t", id, "games", index] => game::page(site, id, index, number(query, "ply")?).await,
        ["api", "tournaments", id, "games", index] => game::json(site, id, index).await,
        ["t", id, "report"] => site.report(id).await,
        ["t", id, "badge.svg"] => badge::badge(site, id).await,
        ["style.css"] => Ok(Answer::style(format!("{}{STYLE}", live::STYLE))),
        ["live.js"] => Ok(Answer::script(SCRIPT)),
        ["openapi.json"] => Ok(Answer::json(OPENAPI.trim_end())),
        _ => Err(Failure::not_found("there is no page with this address")),
    }
}

/// The number of a query's parameter.
fn number(query: &str, name: &str) -> Result<Option<u64>, Failure> {
    let mut parameters = query.split('&').filter_map(|it| it.split_once('='));
    let Some((_, text)) = parameters.find(|(key, _)| *key == name) else {
        return Ok(None);
    };
    let wrong = |_| Failure::new(StatusCode::BAD_REQUEST, format!("{name} must be a number"));
    text.parse().map(Some).map_err(wrong)
}

fn failure_page(failure: &Failure) -> Answer {
    let title = failure.status.canonical_reason().unwrap_or("Error");
    let page = FailurePage {
        title,
        message: &failure.message,
    };
    // The template needs nothing that can fail.
    let html = page.render().unwrap_or_default();
    let mut answer = Answer::page(&html);
    answer.status = failure.status;
    answer
}
