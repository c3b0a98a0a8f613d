//! `/metrics`: the figures of the server as text for Prometheus, on a listener of their own.

use super::connection_limits::ConnectionLimits;
use super::listeners::{Accept, Listener, next_connection};
use crate::app::{App, Deliveries};
use crate::domain::statistics::{Backlog, Backlogs, Statistics};
use crate::domain::upload_quota::UploadQuota;
use crate::http::service::Service;
use crate::http::{ApiError, Peer, RouteFigures, error_response};
use crate::metrics::Distribution;
use crate::pool::Pool;
use crate::types::version::PROGRAM_VERSION;
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// Connections at a time; more are closed at once.
const MAX_CONNECTIONS: usize = 16;

/// The longest time of a connection, so that slow clients do not keep others out.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The text format that all versions of Prometheus read.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The parts of a server whose figures the metrics show.
#[derive(Clone)]
pub struct Measured {
    /// The state of queues, pools and the file.
    pub app: Arc<App>,
    /// The counters of requests by route.
    pub service: Arc<Service>,
    /// The counters of open and refused connections.
    pub limits: Arc<ConnectionLimits>,
}

/// Serves `/metrics` and `/health`, and nothing else, until the server stops.
pub async fn serve(listener: Listener, server: Measured, stopped: watch::Receiver<bool>) {
    match listener {
        Listener::Tcp(listener) => accept(listener, server, stopped).await,
        #[cfg(unix)]
        Listener::Unix(listener) => accept(listener, server, stopped).await,
    }
}

async fn accept<L>(listener: L, server: Measured, mut stopped: watch::Receiver<bool>)
where
    L: Accept<Stream: AsyncRead + AsyncWrite + Unpin>,
{
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            (stream, address) = next_connection(&listener, "a connection for metrics") => {
                if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                    let peer = Peer { address, is_secure: false };
                    let connection = serve_connection(stream, peer, server.clone());
                    open.spawn(async move {
                        let _ended = tokio::time::timeout(TIMEOUT, connection).await;
                        drop(place);
                    });
                }
            }
            Some(_) = open.join_next() => {}
            _ = stopped.changed() => return,
        }
    }
}

async fn serve_connection(stream: impl AsyncRead + AsyncWrite + Unpin, peer: Peer, server: Measured) {
    let respond = service_fn(move |request: Request<Incoming>| {
        let server = server.clone();
        async move {
            if request.uri().path() == "/health" {
                let response = server.service.respond(request, peer).await;
                return response.map(|response| response.map(Either::Left));
            }
            let refuse = |error: &ApiError| Ok(error_response(error).map(Either::Left));
            if request.uri().path() != "/metrics" {
                return refuse(&ApiError::new(
                    404,
                    "BAD_REQUEST",
                    "This address serves only /metrics and /health",
                ));
            }
            if !matches!(*request.method(), Method::GET | Method::HEAD) {
                let error = ApiError::new(405, "BAD_REQUEST", "Method Not Allowed");
                return refuse(&error.with_header("Allow", "GET, HEAD".to_owned()));
            }
            match write(server).await {
                Ok(text) => {
                    let mut response = Response::new(Either::Right(Full::new(Bytes::from(text))));
                    response.headers_mut().insert(CONTENT_TYPE, TEXT);
                    Ok(response)
                }
                Err(error) => refuse(&ApiError::internal(error)),
            }
        }
    });
    let connection =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), respond);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection for metrics ended early");
    }
}

/// Writes all figures as text.
async fn write(server: Measured) -> Result<String, fmt::Error> {
    let pool = &server.app.pools.slow_reads;
    let now = server.app.clock.seconds();
    let read = server.app.read_in(pool, None, move |snapshot| {
        Ok((Statistics::load(snapshot)?, Backlogs::load(snapshot, now)?))
    });
    let read = read.await.inspect_err(|error| tracing::warn!(%error, "figures of the database are missing"));
    let (statistics, backlogs) = read.ok().unzip();
    let figures = Figures { server, statistics, backlogs };
    let mut registry = Registry::default();
    registry.register_collector(Box::new(figures));
    let mut text = String::new();
    text::encode(&mut text, &registry)?;
    Ok(to_text_format(&text))
}

/// Converts OpenMetrics, which the library writes, to the text format: counters have the names of their samples, and nothing
/// marks the end.
fn to_text_format(open_metrics: &str) -> String {
    let counters =
        open_metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"));
    let counters: HashSet<&str> = counters.collect();
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        let comment = line.strip_prefix("# ").and_then(|rest| rest.split_once(' '));
        match comment.and_then(|(kind, rest)| Some((kind, rest.split_once(' ')?))) {
            Some((kind, (name, rest))) if counters.contains(name) => {
                text.extend(["# ", kind, " ", name, "_total ", rest, "\n"]);
            }
            _ => text.extend([line, "\n"]),
        }
    }
    text
}

/// The figures at the time of one scrape.
struct Figures {
    server: Measured,
    /// `None` if the database could not be read.
    statistics: Option<Statistics>,
    /// The same.
    backlogs: Option<Backlogs>,
}

impl fmt::Debug for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Figures")
    }
}

impl Collector for Figures {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = Writer(encoder);
        self.write_server(&mut out)?;
        self.write_requests(&mut out)?;
        self.write_writer(&mut out)?;
        self.write_queues(&mut out)?;
        self.write_limits(&mut out)?;
        self.write_keeping(&mut out)?;
        self.write_database(&mut out)
    }
}

/// Labels of a value.
type Labels<'l> = &'l [(&'l str, &'l str)];

/// Deliveries of one kind: their labels, results, and what waits, if the database can be read.
type Queue<'q> = (Labels<'q>, &'q Deliveries, Option<Backlog>);

/// A gauge of deliveries: its name, its help, and its value, if it has one.
type Gauge = (&'static str, String, fn(&Queue<'_>) -> Option<f64>);

/// Writes families of metrics.
struct Writer<'e>(DescriptorEncoder<'e>);

impl Writer<'_> {
    fn gauge(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        self.gauges(name, help, &[(&[], value)])
    }

    fn gauges(&mut self, name: &str, help: &str, values: &[(Labels<'_>, f64)]) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, value) in values {
            if labels.is_empty() {
                family.encode_gauge(value)?;
            } else {
                family.encode_family(labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.counters(name, help, &[(&[], value)])
    }

    fn counters(&mut self, name: &str, help: &str, values: &[(Labels<'_>, u64)]) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, value) in values {
            if labels.is_empty() {
                family.encode_counter::<NoLabelSet, u64, u64>(value, None)?;
            } else {
                family.encode_family(labels)?.encode_counter::<NoLabelSet, u64, u64>(value, None)?;
            }
        }
        Ok(())
    }

    /// Writes distributions; `unit` values are 1, as 1,000,000 microseconds are a second.
    fn histograms(
        &mut self,
        name: &str,
        help: &str,
        unit: f64,
        values: &[(Labels<'_>, &Distribution)],
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (labels, distribution) in values {
            let bound = |bound: Option<u64>| bound.map_or(f64::INFINITY, |bound| float(bound) / unit);
            let buckets: Vec<(f64, u64)> =
                distribution.buckets.iter().map(|(upper, count)| (bound(*upper), *count)).collect();
            let (sum, count) = (float(distribution.sum) / unit, distribution.count());
            if labels.is_empty() {
                family.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
            } else {
                family.encode_family(labels)?.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
            }
        }
        Ok(())
    }

    /// The metrics of deliveries, whose names begin with `teamchat_KIND`.
    fn deliveries(&mut self, [kind, items, item]: [&str; 3], queues: &[Queue<'_>]) -> fmt::Result {
        let outcomes = queues.iter().flat_map(|(labels, results, _)| {
            let counts =
                [("sent", &results.sent), ("refused", &results.refused), ("expired", &results.expired)];
            counts.map(|(outcome, count)| ([*labels, &[("outcome", outcome)][..]].concat(), count.get()))
        });
        let outcomes: Vec<_> = outcomes.collect();
        let outcomes: Vec<(Labels<'_>, u64)> =
            outcomes.iter().map(|(labels, count)| (&labels[..], *count)).collect();
        let help = format!("Number of {items} that left the queue");
        self.counters(&format!("teamchat_{kind}_{items}"), &help, &outcomes)?;
        let failures: Vec<(Labels<'_>, u64)> =
            queues.iter().map(|(labels, results, _)| (*labels, results.failures.get())).collect();
        self.counters(
            &format!("teamchat_{kind}_failures"),
            &format!("Failed attempts to send {item}"),
            &failures,
        )?;
        let gauges: [Gauge; 4] = [
            ("failed", format!("1 if the last attempt to send {item} failed"), |(_, results, _)| {
                Some(f64::from(u8::from(results.failing().is_some())))
            }),
            (
                "last_success_timestamp_seconds",
                format!("Time at which {item} was last accepted, in UNIX seconds"),
                |(_, results, _)| results.last_success().map(positive),
            ),
            ("waiting", format!("Number of {items} that are waiting"), |(.., backlog)| {
                Some(positive(backlog.as_ref()?.waiting))
            }),
            (
                "oldest_waiting_timestamp_seconds",
                format!("Time at which the oldest of the waiting {items} was queued, in UNIX seconds"),
                |(.., backlog)| backlog.as_ref()?.oldest_waiting.map(positive),
            ),
        ];
        for (name, help, value) in gauges {
            let values: Vec<(Labels<'_>, f64)> =
                queues.iter().filter_map(|queue| Some((queue.0, value(queue)?))).collect();
            if !values.is_empty() {
                self.gauges(&format!("teamchat_{kind}_{name}"), &help, &values)?;
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn float(number: u64) -> f64 {
    number as f64
}

/// A number of bytes, ids or rows, which is not negative.
fn positive(number: i64) -> f64 {
    float(u64::try_from(number).unwrap_or(0))
}

const MICROSECONDS: f64 = 1_000_000.0;

impl Figures {
    fn write_server(&self, out: &mut Writer<'_>) -> fmt::Result {
        let version: Labels<'_> = &[("version", PROGRAM_VERSION)];
        out.gauges("teamchat_info", "The version of the server", &[(version, 1.0)])?;
        let started = positive(self.server.app.started_at);
        out.gauge(
            "teamchat_start_time_seconds",
            "Time at which the server started, in UNIX seconds",
            started,
        )?;
        if let Some(bytes) = resident_bytes() {
            out.gauge("teamchat_memory_resident_bytes", "Memory of the process", float(bytes))?;
        }
        Ok(())
    }

    fn write_requests(&self, out: &mut Writer<'_>) -> fmt::Result {
        let metrics = self.server.service.metrics();
        let routes = metrics.routes(self.server.service.router());
        let method =
            |route: &RouteFigures| route.method.as_ref().map_or("none", |method| method.as_str()).to_owned();
        let methods: Vec<String> = routes.iter().map(method).collect();
        let mut labels = Vec::new();
        for (route, method) in routes.iter().zip(&methods) {
            for (status, count) in &route.by_status {
                let of_status = [
                    ("method", method.as_str()),
                    ("route", route.path.as_str()),
                    ("status", status.as_str()),
                ];
                labels.push((of_status, *count));
            }
        }
        let values: Vec<(Labels<'_>, u64)> =
            labels.iter().map(|(labels, count)| (&labels[..], *count)).collect();
        out.counters("teamchat_requests", "Responses by route and status", &values)?;
        let labels: Vec<_> = routes
            .iter()
            .zip(&methods)
            .map(|(route, method)| [("method", method.as_str()), ("route", route.path.as_str())])
            .collect();
        let values: Vec<(Labels<'_>, &Distribution)> =
            labels.iter().zip(&routes).map(|(labels, route)| (&labels[..], &route.time)).collect();
        let help = "Time until the response begins; polls wait for events";
        out.histograms("teamchat_request_seconds", help, MICROSECONDS, &values)?;
        let open = float(self.server.limits.open() as u64);
        out.gauge(
            "teamchat_connections_open",
            "Open connections, and the second and further requests of HTTP/2 connections",
            open,
        )
    }

    fn write_writer(&self, out: &mut Writer<'_>) -> fmt::Result {
        let metrics = self.server.app.writer.metrics();
        let waiting = positive(metrics.queued.get());
        out.gauge("teamchat_writer_queue_jobs", "Changes that wait for the writer", waiting)?;
        out.counter("teamchat_writer_jobs", "Changes that the writer ran", metrics.jobs.get())?;
        out.counter("teamchat_writer_commits", "Groups of changes on the disk", metrics.commits.get())?;
        let help = "Groups of changes that could not be committed";
        out.counter("teamchat_writer_failed_commits", help, metrics.failed_commits.get())?;
        let help = "Time of the commit of a group: writing and synchronizing the WAL";
        let commit: &Distribution = &metrics.commit_time.distribution();
        out.histograms("teamchat_writer_commit_seconds", help, MICROSECONDS, &[(&[], commit)])?;
        let help = "Time of a group: its changes and the commit";
        let group: &Distribution = &metrics.group_time.distribution();
        out.histograms("teamchat_writer_group_seconds", help, MICROSECONDS, &[(&[], group)])?;
        let sizes: &Distribution = &metrics.jobs_per_commit.distribution();
        let help = "Changes that share a commit";
        out.histograms("teamchat_writer_jobs_per_commit", help, 1.0, &[(&[], sizes)])?;
        let background = self.server.app.writer.background().figures();
        let labels: Vec<_> = background.iter().map(|(job, figures)| ([("job", *job)], figures)).collect();
        let values: Vec<(Labels<'_>, u64)> =
            labels.iter().map(|(labels, figures)| (&labels[..], figures.jobs)).collect();
        out.counters(
            "teamchat_writer_background_jobs",
            "Parts of background work that the writer ran",
            &values,
        )?;
        let values: Vec<(Labels<'_>, f64)> =
            labels.iter().map(|(labels, figures)| (&labels[..], figures.longest.as_secs_f64())).collect();
        let help = "The longest time of one part of background work";
        out.gauges("teamchat_writer_background_longest_seconds", help, &values)
    }

    fn write_queues(&self, out: &mut Writer<'_>) -> fmt::Result {
        let queues = self.server.app.hub.figures();
        out.gauge("teamchat_queues", "Event queues", float(queues.queues as u64))?;
        out.gauge("teamchat_polls_waiting", "Polls that wait for events", float(queues.waiting as u64))?;
        let help = "Events that the slowest queue has not acknowledged";
        out.gauge("teamchat_queue_lag_events", help, positive(queues.lag))?;
        out.counter("teamchat_events", "Number of the newest event", u64::try_from(queues.head).unwrap_or(0))
    }

    fn write_limits(&self, out: &mut Writer<'_>) -> fmt::Result {
        let pools = &self.server.app.pools;
        let pools: [(&str, &Pool); 6] = [
            ("rendering", &pools.rendering),
            ("images", &pools.images),
            ("passwords", &pools.passwords),
            ("known_passwords", &pools.known_passwords),
            ("slow_reads", &pools.slow_reads),
            ("notifications", &pools.notifications),
        ];
        let labels = pools.map(|(name, _)| [("pool", name)]);
        let gauges = |value: fn(&Pool) -> usize| -> Vec<(Labels<'_>, f64)> {
            labels
                .iter()
                .zip(&pools)
                .map(|(labels, (_, pool))| (&labels[..], float(value(pool) as u64)))
                .collect()
        };
        out.gauges("teamchat_pool_running", "Work that runs in a pool", &gauges(Pool::running))?;
        out.gauges("teamchat_pool_admitted", "Work that runs or waits in a pool", &gauges(Pool::admitted))?;
        out.gauges(
            "teamchat_pool_permits",
            "Maximum of work that a pool runs at a time",
            &gauges(|pool| pool.limits().permits),
        )?;
        let refusals = |value: fn(&Pool) -> u64| -> Vec<(Labels<'_>, u64)> {
            labels.iter().zip(&pools).map(|(labels, (_, pool))| (&labels[..], value(pool))).collect()
        };
        let help =
            "Work that a pool refused: its queue or the share of a user was full, or the deadline passed";
        out.counters("teamchat_pool_refusals", help, &refusals(Pool::refusals))?;
        let mut limits = self.server.app.rate_limiter.refusals();
        limits.extend(self.server.service.refusals_of_budgets());
        limits.push(("heads", self.server.limits.heads().refusals()));
        limits.push(("connections", self.server.limits.refusals()));
        let labels: Vec<_> = limits.iter().map(|(name, count)| ([("limit", *name)], *count)).collect();
        let values: Vec<(Labels<'_>, u64)> =
            labels.iter().map(|(labels, count)| (&labels[..], *count)).collect();
        out.counters("teamchat_refusals", "Requests and connections that a limit refused", &values)
    }

    fn write_keeping(&self, out: &mut Writer<'_>) -> fmt::Result {
        let app = &self.server.app;
        if app.has_tls() {
            let missing = f64::from(u8::from(app.lacks_certificate()));
            out.gauge("teamchat_certificate_missing", "1 if there is no certificate yet", missing)?;
        }
        if let Some(end) = app.certificate_end() {
            let help = "Expiry of the certificate, in UNIX seconds";
            out.gauge("teamchat_certificate_end_timestamp_seconds", help, positive(end))?;
        }
        if let Some(from) = app.certificate_warned_from() {
            let help = "The time from which warnings name the certificate, in UNIX seconds";
            out.gauge("teamchat_certificate_warning_timestamp_seconds", help, positive(from))?;
        }
        self.write_mail(out)?;
        self.write_push(out)?;
        let Some(options) = &app.options.backups else { return Ok(()) };
        let status = app.backups.status();
        let help = "The time between two scheduled backups";
        out.gauge("teamchat_backup_interval_seconds", help, positive(options.every))?;
        let failed = f64::from(u8::from(status.failure.is_some()));
        out.gauge("teamchat_backup_failed", "1 if the last scheduled backup failed", failed)?;
        out.counter("teamchat_backup_failures", "Scheduled backups that failed", status.failures)?;
        let Some(last) = status.last_success else { return Ok(()) };
        let help = "Time of the last backup, in UNIX seconds";
        out.gauge("teamchat_backup_last_success_timestamp_seconds", help, positive(last.time))?;
        let help = "The time that the last backup took";
        out.gauge("teamchat_backup_last_duration_seconds", help, float(last.milliseconds) / 1000.0)?;
        out.gauge("teamchat_backup_last_size_bytes", "The size of the last backup", float(last.bytes))
    }

    fn write_mail(&self, out: &mut Writer<'_>) -> fmt::Result {
        let app = &self.server.app;
        if app.options.mail.is_none() {
            return Ok(());
        }
        let mail: Queue<'_> = (&[], &app.mail.deliveries, self.backlogs.map(|all| all.mail));
        out.deliveries(["mail", "emails", "an email"], &[mail])
    }

    fn write_push(&self, out: &mut Writer<'_>) -> fmt::Result {
        let app = &self.server.app;
        let browsers: Queue<'_> =
            (&[("transport", "browsers")], &app.web_push, self.backlogs.map(|all| all.web_push));
        let phones: Queue<'_> =
            (&[("transport", "phones")], &app.phone_push, self.backlogs.map(|all| all.phone_push));
        let queues: Vec<_> =
            [(browsers, !app.options.web_push.is_off), (phones, app.options.push_bouncer.is_some())]
                .into_iter()
                .filter_map(|(queue, is_on)| is_on.then_some(queue))
                .collect();
        if queues.is_empty() {
            Ok(())
        } else {
            out.deliveries(["push", "notifications", "a notification"], &queues)
        }
    }

    fn write_database(&self, out: &mut Writer<'_>) -> fmt::Result {
        if let Some(free) = self.server.app.writer.free_space() {
            out.gauge("teamchat_disk_free_bytes", "Free space of the disk of the database", float(free))?;
        }
        let (database, wal) = self.server.app.writer.file_sizes();
        let files: [(Labels<'_>, f64); 2] =
            [(&[("file", "database")], float(database)), (&[("file", "wal")], float(wal))];
        out.gauges("teamchat_file_bytes", "Sizes of the database and its write-ahead log", &files)?;
        let help = "1 if the database can be read";
        out.gauge("teamchat_database_readable", help, f64::from(u8::from(self.statistics.is_some())))?;
        let Some(statistics) = &self.statistics else { return Ok(()) };
        let users: [(Labels<'_>, f64); 2] = [
            (&[("kind", "people")], positive(statistics.people)),
            (&[("kind", "bots")], positive(statistics.bots)),
        ];
        out.gauges("teamchat_users", "Active accounts", &users)?;
        out.gauge("teamchat_channels", "Channels that are not archived", positive(statistics.channels))?;
        let newest = u64::try_from(statistics.newest_message_id).unwrap_or(0);
        out.counter("teamchat_messages", "The id of the newest message: messages that were sent", newest)?;
        out.gauge("teamchat_uploads_bytes", "Size of the uploaded files", positive(statistics.upload_bytes))?;
        if let Some(quota) = UploadQuota::of(&self.server.app.options).of_all() {
            out.gauge(
                "teamchat_upload_quota_bytes",
                "Maximum total size of the uploaded files",
                float(quota),
            )?;
        }
        out.gauge(
            "teamchat_event_log_events",
            "Events in the log, for the slowest queue",
            positive(statistics.log_events),
        )?;
        out.gauge(
            "teamchat_database_unused_bytes",
            "Free space inside the database",
            positive(statistics.unused_bytes),
        )
    }
}

/// The resident memory of this process.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_named_as_their_samples() {
        let written =
            "# HELP a Some.\n# TYPE a counter\na_total 1\n# HELP a_b More.\n# TYPE a_b gauge\na_b 2\n# EOF\n";
        let expected = "# HELP a_total Some.\n# TYPE a_total counter\na_total 1\n# HELP a_b More.\n# TYPE a_b gauge\na_b 2\n";
        assert_eq!(to_text_format(written), expected);
    }
}
