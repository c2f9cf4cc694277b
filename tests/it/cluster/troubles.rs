//! The failures of members and servers, and the time until writes succeed again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use fastrand::Rng;
use planesmith_torture::cluster::{MEMBERS, Mode};
use planesmith_torture::history::Recorder;
use planesmith_torture::machine;
use planesmith_torture::record::Record;
use tokio::task::JoinSet;

use super::client::Client;
use super::servers::Servers;

/// The pause between two writes that find out if there is service.
const PROBE: Duration = Duration::from_millis(200);

/// A failure of one member or one server.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    MemberKilled(usize),
    MemberStopped(usize),
    MemberCutOff(usize),
    ServerKilled(usize),
    ServerStopped(usize),
    ServerWithoutEtcd(usize, Mode),
    ServerWithoutClients(usize),
}

impl Trouble {
    /// Every kind, so that each one happens in two episodes.
    fn all(random: &mut Rng) -> [Self; 7] {
        let member = |random: &mut Rng| random.usize(0..MEMBERS);
        let server = random.usize(0..2);
        let silence = if random.bool() { Mode::Cut } else { Mode::Paused };
        [
            Self::MemberKilled(member(random)),
            Self::ServerKilled(server),
            Self::MemberCutOff(member(random)),
            Self::ServerWithoutEtcd(1 - server, silence),
            Self::MemberStopped(member(random)),
            Self::ServerStopped(server),
            Self::ServerWithoutClients(1 - server),
        ]
    }

    /// True if clients of `server` are to be served meanwhile.
    fn spares(self, server: usize) -> bool {
        match self {
            Self::MemberKilled(_) | Self::MemberStopped(_) | Self::MemberCutOff(_) => true,
            Self::ServerKilled(other)
            | Self::ServerStopped(other)
            | Self::ServerWithoutEtcd(other, _)
            | Self::ServerWithoutClients(other) => server != other,
        }
    }
}

/// Failures one after the other.
pub(super) struct Troubles<'a, 'c> {
    servers: &'a mut Servers<'c>,
    /// Clients of the first server and the second.
    probes: [Client; 2],
    recorder: Arc<Recorder>,
    episode: usize,
    random: Rng,
    /// Time within which a write succeeds again, beside the time for which the machine is busy otherwise.
    service: Duration,
    /// The number of failures so far.
    pub(super) count: usize,
    /// The longest time until a write succeeded.
    pub(super) slowest: Duration,
}

impl<'a, 'c> Troubles<'a, 'c> {
    pub(super) fn new(
        servers: &'a mut Servers<'c>,
        probes: [Client; 2],
        recorder: &Arc<Recorder>,
        episode: usize,
        random: Rng,
        service: Duration,
    ) -> Self {
        Self {
            servers,
            probes,
            recorder: Arc::clone(recorder),
            episode,
            random,
            service,
            count: 0,
            slowest: Duration::ZERO,
        }
    }

    /// Causes half of all kinds of trouble, and waits each time until all servers serve that are spared.
    pub(super) async fn run(&mut self) -> Result<()> {
        let all = Trouble::all(&mut self.random);
        for trouble in all.into_iter().skip(self.episode % 2).step_by(2) {
            self.begin(trouble).await?;
            self.served(&format!("{trouble:?}"), |server| trouble.spares(server))
                .await?;
            let pause = [20, 200, 1500][self.random.usize(0..3)];
            tokio::time::sleep(Duration::from_millis(pause)).await;
            self.end(trouble).await?;
            self.served(&format!("{trouble:?} has ended"), |_| true).await?;
            if let Trouble::MemberKilled(member) | Trouble::MemberStopped(member) | Trouble::MemberCutOff(member) =
                trouble
            {
                self.servers.cluster.rejoined(member).await?;
            }
            self.count += 1;
        }
        Ok(())
    }

    async fn begin(&mut self, trouble: Trouble) -> Result<()> {
        let cluster = self.servers.cluster;
        match trouble {
            Trouble::MemberKilled(member) => cluster.kill(member)?,
            Trouble::MemberStopped(member) => cluster.stop(member, true)?,
            Trouble::MemberCutOff(member) => {
                cluster.link_clients(member, Mode::Cut);
                cluster.link_peers(member, Mode::Cut);
            }
            Trouble::ServerKilled(server) => self.servers.kill(server).await?,
            Trouble::ServerStopped(server) => self.servers.stop(server, true)?,
            Trouble::ServerWithoutEtcd(server, mode) => self.servers.link_etcd(server, mode),
            Trouble::ServerWithoutClients(server) => self.servers.link_clients(server, Mode::Cut),
        }
        Ok(())
    }

    async fn end(&mut self, trouble: Trouble) -> Result<()> {
        let cluster = self.servers.cluster;
        match trouble {
            Trouble::MemberKilled(member) => cluster.run(member)?,
            Trouble::MemberStopped(member) => cluster.stop(member, false)?,
            Trouble::MemberCutOff(member) => {
                cluster.link_clients(member, Mode::Open);
                cluster.link_peers(member, Mode::Open);
            }
            Trouble::ServerKilled(server) => self.servers.restart(server).await?,
            Trouble::ServerStopped(server) => self.servers.stop(server, false)?,
            Trouble::ServerWithoutEtcd(server, _) => self.servers.link_etcd(server, Mode::Open),
            Trouble::ServerWithoutClients(server) => self.servers.link_clients(server, Mode::Open),
        }
        cluster.check()
    }

    /// Writes on each server that `is_spared` until that succeeds.
    async fn served(&mut self, situation: &str, is_spared: impl Fn(usize) -> bool) -> Result<()> {
        let begin = Instant::now();
        let mut serving = JoinSet::new();
        for server in (0..2).filter(|server| is_spared(*server)) {
            let probe = self.probes[server].forked();
            let (recorder, situation, service) = (Arc::clone(&self.recorder), situation.to_owned(), self.service);
            serving.spawn(async move {
                if machine::within(service, serves(probe)).await.is_none() {
                    let taken = begin.elapsed();
                    let reason = format!("server {server} performs no write for {taken:?}: {situation}");
                    recorder.note(Record::Stuck { reason });
                }
            });
        }
        while let Some(served) = serving.join_next().await {
            served?;
        }
        self.slowest = self.slowest.max(begin.elapsed());
        Ok(())
    }
}

/// Returns once a write succeeds. Writes begin one after the other, and do not wait for those that get no answer.
async fn serves(mut client: Client) {
    let mut probes = JoinSet::new();
    loop {
        probes.spawn(client.forked().probe());
        let answered = async {
            while let Some(answer) = probes.join_next().await {
                if answer.is_ok_and(|is_written| is_written) {
                    return;
                }
            }
            std::future::pending::<()>().await;
        };
        if tokio::time::timeout(PROBE, answered).await.is_ok() {
            probes.detach_all();
            return;
        }
    }
}
