//! Probes of a coordinator that stands by.

use std::{
    future::{pending, ready},
    sync::Arc,
};

use arena_access::ServerTls;
use arena_telemetry::{MetricsServer, Registry};
use tokio::task::JoinSet;

use super::CoordinatorArgs;
use crate::failure::{Failure, Outcome};

impl CoordinatorArgs {
    /// Answers at the address of metrics while another coordinator owns the store: `/livez` with 200,
    /// `/healthz` with 503. It ends with the result.
    pub(super) fn answer_probes(&self) -> Outcome<JoinSet<()>> {
        let mut running = JoinSet::new();
        let mut server = match MetricsServer::bind(&self.metrics.to_string()) {
            Ok(server) => server,
            Err(error) => {
                // On the machine of the owner, the owner may have the address until it ends.
                tracing::warn!("no /healthz while standing by: {error}");
                return Ok(running);
            }
        };
        if let Some(files) = self.tls_files() {
            let tls = ServerTls::load(files, "http/1.1").map_err(Failure::failed)?;
            let newest = Arc::clone(&tls);
            server = server.encrypted(Arc::new(move || newest.acceptor()));
            let failed = |error| tracing::error!("the certificate stays as it is: {error}");
            running.spawn(tls.follow(|| {}, failed));
        }
        let health = || Err("standing by: another coordinator owns the store".to_owned());
        running.spawn(async move {
            let served = server.run(Registry::new(), || ready(()), health, pending());
            if let Err(error) = served.await {
                tracing::error!("no /healthz while standing by: {error}");
            }
        });
        Ok(running)
    }
}
