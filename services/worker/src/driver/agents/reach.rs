//! How an agent is reached: by connections, by a process for each game, or in the pool.

use std::{cell::RefCell, iter, rc::Rc};

use arena_wire::v1::agent_setup::Source as WireSource;
use tokio::task::{self, JoinError};

use super::{Reached, TournamentAgents};
use crate::{
    agent::{
        Event,
        client::{AgentClient, AgentClientSetup},
        connection::Source,
        question::{self, Writer},
    },
    driver::sticky::StickyClients,
    native::NativeClient,
};

impl TournamentAgents {
    pub(super) fn reach(&self, index: u16) -> Reached {
        let context = self.context();
        let agent = context.agent(index);
        let native = context.is_native(index);
        let source = match &agent.source {
            None => return Reached::Nowhere,
            Some(WireSource::Native(_)) if self.runs_bots() => {
                let client = NativeClient::new(index, self.shared.runner().clone());
                return Reached::Native(RefCell::new(client));
            }
            Some(source) => {
                Source::of(source.clone(), &self.environment).on_cpus(context.cpu_limit(index))
            }
        };
        let common = question::context(context.wire(), agent);
        let setup = || AgentClientSetup {
            name: agent.name.clone(),
            label: context.agent_label(index).to_owned(),
            meter: context.meter(&self.environment.metrics, index),
            source: source.clone(),
            games_by_cores: self.games_by_cores(index),
            own_cores: { context.strict() }.then(|| context.need(index).cpus),
            batch_size: agent.batch_size as usize,
            time_control: *context.time_control(),
        };
        // The papers' agents need only ids.
        let writer = Writer::new(&common, !(agent.omit_move_details || native));
        let replicas = self.replicas(index);
        if agent.sticky {
            let client = || self.open(vec![setup()], writer.clone());
            return Reached::Sticky(StickyClients::new(
                iter::repeat_with(client).take(replicas).collect(),
            ));
        }
        let setups = iter::repeat_with(setup).take(replicas).collect();
        Reached::Connected(self.open(setups, writer))
    }

    /// Opens a client, and runs its tasks.
    fn open(&self, setups: Vec<AgentClientSetup>, writer: Writer) -> Rc<AgentClient> {
        let (client, tasks) = AgentClient::open(setups, writer, &self.environment, &self.events);
        for task in tasks {
            let task = task::spawn_local(task);
            let events = self.events.clone();
            task::spawn_local(async move {
                let ended = task.await.map_err(JoinError::try_into_panic);
                if let Err(Ok(panic)) = ended {
                    let _ = events.send(Event::Panicked(panic));
                }
            });
        }
        client
    }

    /// Maximum number of replicas of an agent on this driver: its share of those of this worker.
    fn replicas(&self, index: u16) -> usize {
        let (place, drivers) = self.shared.place(self.driver);
        match self.context().replicas(index, &self.environment.agents) {
            None => 1,
            Some(all) => (all / drivers + usize::from(place < all % drivers)).max(1),
        }
    }

    /// Number of games of an agent at a time on this driver for which there are cores.
    fn games_by_cores(&self, index: u16) -> Option<usize> {
        let context = self.context();
        let options = &self.environment.agents;
        context.replicas(index, options)?;
        let strict = context.strict();
        if context.agent(index).concurrent && !strict {
            return None;
        }
        let cpus = context.need(index).cpus;
        let games = options.machine.replicas_by_cores(cpus, strict);
        let (place, drivers) = self.shared.place(self.driver);
        Some((games / drivers + usize::from(place < games % drivers)).max(1))
    }
}
