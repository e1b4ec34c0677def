//! The tokens of a coordinator, kept as hashes.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    ops::Bound,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use arena_access::Token;
use arena_store::{Change, Collection, Store};
use arena_wire::v1::{self, Role, TokenInfo};
use ipnet::IpNet;
use prost::Message;
use tokio::sync::watch;
use tonic::codegen::http::HeaderValue;

use super::{ADMIN_TOKEN, quota::Quota};
use crate::{
    blocking::with_store,
    error::{Error, StartError},
    limits::RoleLimits,
    principal::{End, LOCAL, Principal, Refusal},
};

/// Prefix of the documents.
const PREFIX: &str = "tokens/";
/// Maximum number of tokens. A new one takes the place of the oldest that has ended.
const TOKENS_MAX: usize = 10_000;
/// Maximum lengths of what a creator chooses.
const LABEL_BYTES_MAX: usize = 200;
const FROM_MAX: usize = 64;
const USES_MAX: u32 = 100_000;

/// A use that has to be stored.
pub(crate) type Counted = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Where a token stands in the list, which is in the order of creation.
pub(crate) fn place_of(info: &TokenInfo) -> String {
    format!("{:0>20}/{}", info.created_unix_us, info.id)
}

/// A token as it is stored.
#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(message, optional, tag = "1")]
    info: Option<TokenInfo>,
    #[prost(bytes = "vec", tag = "2")]
    hash: Vec<u8>,
    /// Processes of workers that have used it.
    #[prost(fixed64, repeated, tag = "3")]
    processes: Vec<u64>,
}

struct Known {
    info: TokenInfo,
    hash: Vec<u8>,
    processes: Vec<u64>,
    role: Role,
    owner: Arc<str>,
    /// Its name in the audit trail.
    actor: Arc<str>,
    from: Vec<IpNet>,
    expires: Option<SystemTime>,
    revoked: watch::Sender<bool>,
    quota: Option<Arc<Quota>>,
}

/// All tokens.
pub(crate) struct Tokens {
    limits: RoleLimits,
    store: Arc<dyn Store>,
    known: RwLock<HashMap<String, Known>>,
    /// Id of the token that is not stored.
    admin: String,
}

impl Known {
    /// True if it can never be used again.
    fn has_ended(&self) -> bool {
        let expired = self.expires.is_some_and(|end| end <= SystemTime::now());
        // Processes of a worker that have joined may join again.
        let used = self.info.uses > 0 && self.info.used >= self.info.uses;
        expired || *self.revoked.borrow() || used && self.role != Role::Worker
    }

    fn new(stored: Stored, limits: &RoleLimits) -> Result<Self, Error> {
        let info = stored.info.unwrap_or_default();
        let expires = UNIX_EPOCH + Duration::from_micros(info.expires_unix_us);
        Ok(Self {
            role: info.role(),
            owner: info.id.as_str().into(),
            actor: info.id.as_str().into(),
            from: networks(&info.from)?,
            expires: (info.expires_unix_us > 0).then_some(expires),
            revoked: watch::Sender::new(info.revoked),
            quota: limits.of(info.role(), info.limits.as_ref()).map(Quota::new),
            hash: stored.hash,
            processes: stored.processes,
            info,
        })
    }

    fn stored(&self) -> Vec<u8> {
        let stored = Stored {
            info: Some(self.info.clone()),
            hash: self.hash.clone(),
            processes: self.processes.clone(),
        };
        stored.encode_to_vec()
    }
}

impl Tokens {
    pub(super) fn load(
        admin: &Token,
        limits: &RoleLimits,
        store: &Arc<dyn Store>,
    ) -> Result<Self, StartError> {
        let mut known = HashMap::new();
        for (key, bytes) in store.list(Collection::Meta)? {
            let Some(id) = key.strip_prefix(PREFIX) else {
                continue;
            };
            let stored = Stored::decode(bytes.as_slice());
            let stored = stored.map_err(|error| StartError::unreadable(&key, error))?;
            let token = Known::new(stored, limits);
            let token = token.map_err(|error| StartError::unreadable(&key, error))?;
            known.insert(id.to_owned(), token);
        }
        known.insert(
            admin.id(),
            Known {
                info: TokenInfo {
                    id: admin.id(),
                    label: "admin.token in the data folder".to_owned(),
                    role: Role::Admin.into(),
                    ..TokenInfo::default()
                },
                hash: admin.hash().to_vec(),
                processes: Vec::new(),
                role: Role::Admin,
                owner: LOCAL.into(),
                actor: ADMIN_TOKEN.into(),
                from: Vec::new(),
                expires: None,
                revoked: watch::Sender::new(false),
                quota: None,
            },
        );
        Ok(Self {
            limits: limits.clone(),
            store: Arc::clone(store),
            known: RwLock::new(known),
            admin: admin.id(),
        })
    }

    /// Whose the token in a header is.
    pub(crate) fn check_header(
        &self,
        header: &HeaderValue,
        peer: Option<IpAddr>,
    ) -> Result<(Principal, Option<Counted>), Refusal> {
        let (principal, is_limited) = self.holder(header, peer)?;
        principal.request()?;
        let id = &principal.owner;
        let counted = is_limited.then(|| self.count(id, None)).transpose();
        let counted = counted.map_err(|error| principal.refused(error))?;
        Ok((principal, counted))
    }

    /// Whose the token of a reader of pages or metrics is. Its uses are not counted.
    pub(super) fn check_reader(
        &self,
        header: &HeaderValue,
        peer: IpAddr,
    ) -> Result<Principal, Refusal> {
        let (principal, is_limited) = self.holder(header, Some(peer))?;
        principal.request()?;
        match is_limited {
            true => Err(principal.refused(Error::TokenOfUses)),
            false => Ok(principal),
        }
    }

    /// Whose the token in a header is, and whether each request of it is one of a limited number of uses.
    fn holder(
        &self,
        header: &HeaderValue,
        peer: Option<IpAddr>,
    ) -> Result<(Principal, bool), Refusal> {
        let token = Token::of_header(header).ok_or(Error::TokenInvalid)?;
        let id = token.id();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(&id).filter(|it| token.has_hash(&it.hash));
        let found = found.ok_or(Error::TokenInvalid)?;
        let refused = |error| Refusal {
            error: Box::new(error),
            by: Some((Arc::clone(&found.actor), found.role)),
        };
        if *found.revoked.borrow() {
            return Err(refused(Error::TokenRevoked));
        }
        if found.expires.is_some_and(|end| end <= SystemTime::now()) {
            return Err(refused(Error::TokenExpired));
        }
        if !found.from.is_empty() {
            let peer = peer.map(|address| address.to_canonical());
            let inside = |net: &IpNet| peer.is_some_and(|peer| net.contains(&peer));
            if !found.from.iter().any(inside) {
                return Err(refused(Error::TokenAddress { peer }));
            }
        }
        let principal = Principal {
            role: found.role,
            owner: Arc::clone(&found.owner),
            actor: Arc::clone(&found.actor),
            end: Some(End {
                revoked: found.revoked.subscribe(),
                expires: found.expires,
            }),
            target: Arc::default(),
            detail: Arc::default(),
            quota: found.quota.clone(),
        };
        let is_limited = found.info.uses > 0 && found.role != Role::Worker;
        Ok((principal, is_limited))
    }

    /// Counts a process of a worker that joins.
    pub(crate) async fn joined(&self, owner: &str, process: u64) -> Result<(), Error> {
        let is_limited = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.get(owner).is_some_and(|token| token.info.uses > 0)
        };
        match is_limited {
            true => self.count(owner, Some(process))?.await,
            false => Ok(()),
        }
    }

    fn count(&self, id: &str, process: Option<u64>) -> Result<Counted, Error> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let token = known.get_mut(id).ok_or(Error::TokenInvalid)?;
        if process.is_some_and(|it| it != 0 && token.processes.contains(&it)) {
            return Ok(Box::pin(async { Ok(()) }));
        }
        if token.info.used >= token.info.uses {
            return Err(Error::TokenUsed);
        }
        token.info.used += 1;
        token.processes.extend(process);
        Ok(self.put(id, token.stored()))
    }

    fn put(&self, id: &str, document: Vec<u8>) -> Counted {
        let (store, key) = (Arc::clone(&self.store), format!("{PREFIX}{id}"));
        Box::pin(async move {
            let put = move |store: &dyn Store| store.put(Collection::Meta, &key, &document);
            let written = with_store(store, put).await;
            Ok(written.ok_or(Error::Draining)??)
        })
    }

    /// Draws a token and stores its hash.
    pub(crate) async fn create(
        &self,
        request: v1::CreateTokenRequest,
    ) -> Result<v1::CreateTokenResponse, Error> {
        let wanted = request.token.unwrap_or_default();
        let (role, label) = (wanted.role(), wanted.label);
        if role == Role::Unspecified {
            return Err(Error::Request(
                "a token needs a role: viewer, submitter, worker or admin".to_owned(),
            ));
        }
        if label.len() > LABEL_BYTES_MAX || label.chars().any(char::is_control) {
            return Err(Error::Request(format!(
                "the label of a token has at most {LABEL_BYTES_MAX} bytes and no control \
                 characters"
            )));
        }
        if wanted.from.len() > FROM_MAX || wanted.uses > USES_MAX {
            return Err(Error::Request(format!(
                "a token has at most {FROM_MAX} networks and {USES_MAX} uses"
            )));
        }
        if let Some(own) = &wanted.limits {
            self.limits.check(role, own).map_err(Error::Request)?;
        }
        let from = networks(&wanted.from)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default();
        let expires = match request.ttl_seconds {
            0 => 0,
            ttl => now.as_micros() as u64 + ttl.min(1 << 32) * 1_000_000,
        };
        let token = Token::draw().map_err(|error| Error::Random(error.to_string()))?;
        let info = TokenInfo {
            id: token.id(),
            label,
            role: role.into(),
            created_unix_us: now.as_micros() as u64,
            expires_unix_us: expires,
            from: from.iter().map(ToString::to_string).collect(),
            uses: wanted.uses,
            used: 0,
            revoked: false,
            limits: wanted.limits,
        };
        let stored = Stored {
            info: Some(info.clone()),
            hash: token.hash().to_vec(),
            processes: Vec::new(),
        };
        let known = Known::new(stored, &self.limits)?;
        self.make_room(TOKENS_MAX).await?;
        self.put(&info.id, known.stored()).await?;
        let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(info.id.clone(), known);
        Ok(v1::CreateTokenResponse {
            token: Some(info),
            text: token.text(),
        })
    }

    /// Forgets the oldest tokens that have ended, until there is room for one more.
    async fn make_room(&self, most: usize) -> Result<(), Error> {
        let ended: Vec<String> = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            let excess = (known.len() + 1).saturating_sub(most);
            let ended = known.values().filter(|token| token.has_ended());
            let ended = ended.map(|token| (token.info.created_unix_us, &token.info.id));
            let mut oldest: Vec<_> = ended.collect();
            oldest.sort_unstable();
            oldest.truncate(excess);
            if oldest.len() < excess {
                return Err(Error::Request(format!(
                    "there are {most} tokens that are valid; revoke some with `arena token revoke ID`"
                )));
            }
            oldest.into_iter().map(|(_, id)| id.clone()).collect()
        };
        if ended.is_empty() {
            return Ok(());
        }
        let change = |id: &String| Change {
            collection: Collection::Meta,
            key: format!("{PREFIX}{id}"),
            value: None,
        };
        let changes = ended.iter().map(change).collect();
        let removed = with_store(Arc::clone(&self.store), move |store| {
            store.put_many(changes)
        });
        removed.await.ok_or(Error::Draining)??;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|id, _| !ended.contains(id));
        Ok(())
    }

    /// Passes the tokens after a place to `read`, oldest first. Each is copied when it is asked for.
    pub(crate) fn after<T>(
        &self,
        place: &str,
        read: impl FnOnce(&mut dyn Iterator<Item = TokenInfo>) -> T,
    ) -> T {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let infos = known.values().map(|token| &token.info);
        let sorted: BTreeMap<_, _> = infos.map(|info| (place_of(info), info)).collect();
        let rest = sorted.range::<str, _>((Bound::Excluded(place), Bound::Unbounded));
        read(&mut rest.map(|(_, info)| TokenInfo::clone(info)))
    }

    /// Ends a token and the streams that use it.
    pub(crate) async fn revoke(&self, id: &str) -> Result<TokenInfo, Error> {
        if id == self.admin {
            return Err(Error::Request(
                "this is the token in the data folder: to replace it, stop the coordinator, \
                 remove the file admin.token, and start the coordinator again"
                    .to_owned(),
            ));
        }
        let (info, put) = {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            let token = known
                .get_mut(id)
                .ok_or_else(|| Error::UnknownToken { id: id.to_owned() })?;
            token.info.revoked = true;
            // At once, even if the disk is full: after a restart it would be valid again, which
            // the error below reports.
            token.revoked.send_replace(true);
            (token.info.clone(), self.put(id, token.stored()))
        };
        put.await?;
        Ok(info)
    }
}

fn networks(texts: &[String]) -> Result<Vec<IpNet>, Error> {
    let network = |text: &String| {
        let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
        let network = text.parse::<IpNet>().ok().or_else(address);
        network.ok_or_else(|| {
            Error::Request(format!(
                "\"{}\" is no network: expected ADDRESS/BITS, such as 10.0.0.0/8",
                text.escape_debug()
            ))
        })
    };
    texts.iter().map(network).collect()
}

#[cfg(test)]
mod tests {
    use arena_store::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn new_token_takes_the_place_of_the_oldest_that_has_ended() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new().expect("a store"));
        let admin = Token::draw().expect("random numbers");
        let load = || Tokens::load(&admin, &RoleLimits::default(), &store);
        let tokens = load().expect("no tokens");
        let create = async |role: Role| {
            let token = TokenInfo {
                role: role.into(),
                ..TokenInfo::default()
            };
            let token = Some(token);
            let ttl_seconds = 0;
            let request = v1::CreateTokenRequest { token, ttl_seconds };
            let created = tokens.create(request).await.expect("created");
            created.token.expect("its description").id
        };
        let ids = [
            create(Role::Viewer).await,
            create(Role::Worker).await,
            create(Role::Viewer).await,
        ];
        let known = |tokens: &Tokens| -> Vec<String> {
            let mut known: Vec<_> = tokens.after("", |all| all.map(|it| it.id).collect());
            known.sort_unstable();
            known
        };
        let all = known(&tokens);
        // The first administrator's token counts.
        assert_eq!(all.len(), 4);
        tokens.make_room(5).await.expect("room");
        assert_eq!(known(&tokens), all);
        let full = tokens.make_room(4).await.expect_err("all are valid");
        assert!(full.to_string().contains("token revoke"), "{full}");
        for id in &ids[1..] {
            tokens.revoke(id).await.expect("revoked");
        }
        tokens.make_room(4).await.expect("room");
        let rest: Vec<_> = all.iter().filter(|id| **id != ids[1]).cloned().collect();
        assert_eq!(known(&tokens), rest, "the oldest revoked one is forgotten");
        assert_eq!(known(&load().expect("readable")), rest);
    }
}
