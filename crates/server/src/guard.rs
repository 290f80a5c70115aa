//! Who may ask: the name a request came in under, where it came from, and who sends it.

use crate::app::App;
use crate::error::Problem;
use crate::options::Login;
use crate::query::Query;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::time::Instant;
use subtle::ConstantTimeEq as _;

/// Our version, in every answer. The one in bodies is the reference's, since clients compare it.
const VERSION: HeaderValue = HeaderValue::from_static(env!("CARGO_PKG_VERSION"));

/// Origins that the reference lets in, beside loopback with any port and `*.opencode.ai`.
const ORIGINS: [&str; 5] =
    ["tauri://localhost", "http://tauri.localhost", "https://tauri.localhost", "oc://renderer", "https://opencode.ai"];

/// Stands around every request.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let origin = allowed_origin(&app, request.headers());
    let mut response = if !own_name(&app, request.headers()) {
        Problem::Host.into_response()
    } else if method == Method::OPTIONS {
        // Browsers ask before they know whom to be.
        preflight(request.headers())
    } else if !known(app.options.login.as_ref(), &request) {
        unknown()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    headers.insert("x-annalist-version", VERSION);
    tracing::debug!(%method, path, status = response.status().as_u16(), ms = started.elapsed().as_millis() as u64, "request");
    response
}

/// On loopback a request must be addressed to loopback: else any page could reach the server under a name of its own that
/// resolves to it (DNS rebinding).
fn own_name(app: &App, headers: &HeaderMap) -> bool {
    if !app.options.address.is_loopback() {
        return true;
    }
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let name = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        || app.options.hostname.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(&name))
}

fn allowed_origin(app: &App, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let text = origin.to_str().ok()?;
    let local = ["http://localhost:", "http://127.0.0.1:"].iter().any(|start| text.starts_with(start));
    let theirs = text
        .strip_prefix("https://")
        .and_then(|host| host.strip_suffix(".opencode.ai"))
        .is_some_and(|sub| !sub.is_empty() && sub.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.')));
    let known = local || theirs || ORIGINS.contains(&text) || app.options.cors.iter().any(|own| own == text);
    known.then(|| origin.clone())
}

fn preflight(headers: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let own = response.headers_mut();
    own.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, PUT, PATCH, POST, DELETE"));
    match headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        Some(asked) => {
            own.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
            own.append(header::VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
        }
        None => {
            own.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(""));
        }
    }
    own.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

fn unknown() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"Secure Area\""));
    response
}

/// Basic authentication, or the same in the query for those who cannot set headers (event streams of browsers).
fn known(login: Option<&Login>, request: &Request) -> bool {
    let Some(login) = login else { return true };
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let header = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let basic = header.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("basic").then(|| token.trim().to_owned())
    });
    let Some(token) = query.filled("auth_token").map(str::to_owned).or(basic) else { return false };
    let Ok(given) = STANDARD.decode(token) else { return false };
    let wanted = format!("{}:{}", login.username, login.password);
    // The time this takes says nothing of where the two differ. (It says whether the lengths do.)
    wanted.as_bytes().ct_eq(&given).into()
}
