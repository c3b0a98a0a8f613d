//! A simple request while others search and render, compared with the same request without load.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tokio::task::JoinSet;

use super::{Bench, ratio};
use crate::Outcome;
use crate::load::{self, Connection, MakeRequest};
use crate::report::{Figure, Reach, Spread};
use crate::seed::{self, SEARCHED};

/// Number of concurrent searches, and of concurrent renderings.
const OF_EACH: u64 = 8;

/// Maximum ratio of the response time, with both cores of a small machine busy.
const REACH: f64 = 3.0;

/// Median and 99th percentile, in 1,000,000 messages. Nothing without the server: it is held against itself.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let Some(server) = &bench.server else { return Ok(Vec::new()) };
    let process = server.start_with(1_000_000, "beside").await?;
    let own_user = seed::account(0).get("/api/v1/users/me", &[]);
    let simple: MakeRequest = Arc::new(move |_, request| request.extend_from_slice(&own_user));
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let (mut done, mut refused) = (0, 0);
    for _ in 0..bench.rounds {
        alone.push(load::drive(process.address, 1, bench.span, &simple).await?);
        let others = Others::start(process.address);
        beside.push(load::drive(process.address, 1, bench.span, &simple).await?);
        let (others_done, others_refused) = others.stop().await?;
        (done, refused) = (done + others_done, refused + others_refused);
    }
    let notes = vec![format!(
        "{OF_EACH} searchers and {OF_EACH} renderers: {done} answers, {refused} refused because too many wait"
    )];
    let figure = |what: &str, share| {
        let latency = |samples: &[load::Sample]| -> Spread {
            samples.iter().map(|sample| sample.latency(share)).collect::<Vec<_>>().into()
        };
        let (measured, against) = (latency(&beside), latency(&alone));
        Figure {
            what: format!("GET /users/me beside searchers and renderers, {what}"),
            unit: "us",
            ratio: ratio(Some(&measured), Some(&against)),
            measured: Some(measured),
            against: Some(against),
            reach: Reach::AtMost(REACH),
            notes: Vec::new(),
        }
    };
    let median = figure("median", 0.5);
    let mut last = figure("99 of 100", 0.99);
    last.notes = notes;
    Ok(vec![median, last])
}

/// Clients that search and render until they are stopped.
struct Others {
    is_over: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
    refusals: Arc<AtomicUsize>,
    tasks: JoinSet<Outcome<()>>,
}

impl Others {
    fn start(address: SocketAddr) -> Self {
        let mut others = Self {
            is_over: Arc::default(),
            answers: Arc::default(),
            refusals: Arc::default(),
            tasks: JoinSet::new(),
        };
        // Quotes in lists with emphasis, code and formulas, as long as a message may be.
        let content =
            "* > **bold** *text* `code` $$\\frac{a}{b}$$ :tada: https://example.com/a\n".repeat(130);
        for number in 0..OF_EACH {
            let account = seed::account(number + 1);
            let narrow = json!([["search", format!("{SEARCHED} topics message")]]).to_string();
            let page =
                [("anchor", "newest"), ("num_before", "1000"), ("num_after", "0"), ("narrow", &*narrow)];
            let search = account.get("/api/v1/messages", &page);
            let render = account.post("/api/v1/messages/render", &[("content", &content)]);
            for request in [search, render] {
                others.tasks.spawn(others.keep_asking(address, request));
            }
        }
        others
    }

    fn keep_asking(
        &self,
        address: SocketAddr,
        request: Vec<u8>,
    ) -> impl Future<Output = Outcome<()>> + use<> {
        let (is_over, answers, refusals) =
            (self.is_over.clone(), self.answers.clone(), self.refusals.clone());
        async move {
            let mut connection = Connection::open(address).await?;
            while !is_over.load(Ordering::Relaxed) {
                let answer = connection.exchange(&request).await?;
                match answer.status {
                    200 => &answers,
                    429 | 503 => &refusals,
                    _ => return load::check(&answer),
                }
                .fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    }

    /// Waits for the last answers. Returns how many there were, and how many requests were refused.
    async fn stop(mut self) -> Outcome<(usize, usize)> {
        self.is_over.store(true, Ordering::Relaxed);
        while let Some(finished) = self.tasks.join_next().await {
            finished??;
        }
        Ok((self.answers.load(Ordering::Relaxed), self.refusals.load(Ordering::Relaxed)))
    }
}
