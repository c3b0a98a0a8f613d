//! Tests of the writer together with the readers, on a file.

mod follow_up;
pub mod steps;
mod watched_tables;

use super::file::beside;
use super::{
    Cause, CommitSink, Database, OutboxItem, Readers, StoreError, Tx, WatchedTables, Writer, WriterCaches,
};
use crate::types::Clock;
use futures_util::FutureExt;
use parking_lot::Mutex;
use rusqlite::Connection;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tempfile::TempDir;

/// A request to the writer that waits for its answer.
type Waiting = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// Writes the numbers of outboxes as rows of `event_audience`, and lists them when they are published.
#[derive(Default)]
struct ListSink {
    appended: Vec<i64>,
    published: Arc<Mutex<Vec<i64>>>,
    /// Has its answer when the readers are woken.
    waiting: Arc<Mutex<Option<Waiting>>>,
    /// True for a request that had its answer.
    was_answered: Arc<Mutex<Vec<bool>>>,
}

/// Panics when it is appended, and when it is published.
const BAD_TO_APPEND: i64 = 1001;
const BAD_TO_PUBLISH: i64 = 1002;

impl CommitSink for ListSink {
    fn append(
        &mut self,
        connection: &Connection,
        _caches: &mut WriterCaches,
        outbox: Vec<OutboxItem>,
    ) -> rusqlite::Result<()> {
        for item in outbox {
            let number = *item.downcast::<i64>().unwrap();
            assert_ne!(number, BAD_TO_APPEND);
            connection.execute("INSERT INTO event_audience (id, user_ids) VALUES (?1, x'')", [number])?;
            self.appended.push(number);
        }
        Ok(())
    }

    fn before_commit(&mut self, _connection: &Connection) -> rusqlite::Result<()> {
        Ok(())
    }

    fn committed(&mut self) {
        assert!(!self.appended.contains(&BAD_TO_PUBLISH));
        self.published.lock().append(&mut self.appended);
    }

    fn answered(&mut self) {
        if let Some(waiting) = self.waiting.lock().take() {
            self.was_answered.lock().push(waiting.now_or_never().is_some());
        }
    }

    fn rolled_back(&mut self) {
        self.appended.clear();
    }

    fn stopped(&mut self, _connection: &Connection) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// A file with its writer, and all numbers that were published.
struct Bench {
    writer: Writer,
    thread: JoinHandle<()>,
    readers: Readers,
    published: Arc<Mutex<Vec<i64>>>,
    waiting: Arc<Mutex<Option<Waiting>>>,
    was_answered: Arc<Mutex<Vec<bool>>>,
    /// Holds the lock against other processes.
    _database: Database,
}

impl Bench {
    /// A bench on a new file, and the folder of the file.
    fn start() -> (TempDir, Self) {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self::open(&folder.path().join("chat.sqlite"));
        (folder, bench)
    }

    fn open(path: &Path) -> Self {
        let database = Database::open(path).unwrap();
        let readers = Readers::open(&database, 2, 0);
        let sink = ListSink::default();
        let published = Arc::clone(&sink.published);
        let (waiting, was_answered) = (Arc::clone(&sink.waiting), Arc::clone(&sink.was_answered));
        let connection = database.connect_writer().unwrap();
        let watched = WatchedTables { counted: &[&["realm"]], cached: &["counter"] };
        let (writer, thread) = Writer::start(&database, connection, Clock::manual(0), watched, sink).unwrap();
        Self { writer, thread, readers, published, waiting, was_answered, _database: database }
    }

    fn close(self) {
        let Self { writer, thread, .. } = self;
        drop(writer);
        thread.join().unwrap();
    }

    /// Writes a row and leaves this number in the outbox.
    async fn write(&self, number: i64) -> Result<(), StoreError> {
        self.writer.run(move |tx| write(tx, number)).await
    }

    fn list(&self, statement: &str) -> Vec<i64> {
        self.readers
            .read_now(|snapshot| -> Result<Vec<i64>, StoreError> {
                let mut statement = snapshot.prepare_cached(statement)?;
                Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
            })
            .unwrap()
    }

    /// The numbers of all rows.
    fn rows(&self) -> Vec<i64> {
        self.list("SELECT value FROM counter ORDER BY value")
    }

    /// The numbers that the sink wrote.
    fn log(&self) -> Vec<i64> {
        self.list("SELECT id FROM event_audience ORDER BY id")
    }

    /// The numbers that the sink published, in order.
    fn published(&self) -> Vec<i64> {
        self.published.lock().clone()
    }
}

fn write(tx: &mut Tx<'_>, number: i64) -> Result<(), StoreError> {
    tx.execute("INSERT INTO counter (name, value) VALUES (?1, ?2)", (format!("row {number}"), number))?;
    tx.push_outbox(Box::new(number));
    Ok(())
}

#[tokio::test]
async fn commits_that_change_watched_tables_are_counted() {
    let (_folder, bench) = Bench::start();
    let change = async |statement: &'static str, keep: bool| {
        let result = bench.writer.run(move |tx| -> Result<(), StoreError> {
            tx.execute_batch(statement)?;
            if keep { Ok(()) } else { Err(StoreError::Stopped) }
        });
        assert_eq!(result.await.is_ok(), keep);
        bench.writer.table_version().get()
    };
    bench.write(1).await.unwrap();
    assert_eq!(bench.writer.table_version().get(), 0, "another table");
    let insert = "INSERT INTO realm (id, uuid, date_created) VALUES (1, 'a', 0)";
    assert_eq!(change(insert, true).await, 1);
    assert_eq!(change("UPDATE realm SET deactivated = 1", true).await, 2);
    // One that is undone may count or not; the next one counts.
    let before = change("UPDATE realm SET deactivated = 0", false).await;
    assert_eq!(change("DELETE FROM realm WHERE id = 1", true).await, before + 1);
    bench.close();
}

#[tokio::test]
async fn failed_jobs_roll_back_only_their_own_changes() {
    let (_folder, bench) = Bench::start();
    let (open, gate) = mpsc::channel::<()>();
    // While the first job waits, the others come into its group.
    let first = bench.writer.run(move |tx| {
        gate.recv().unwrap();
        write(tx, 1)
    });
    let fails = bench.writer.run(|tx| {
        write(tx, 2)?;
        Err::<(), _>(StoreError::Stopped)
    });
    let panics = bench.writer.run(|tx| -> Result<(), StoreError> {
        write(tx, 3)?;
        panic!("number {}", 3)
    });
    let breaks = bench.writer.run(|tx| {
        write(tx, 4)?;
        write(tx, 4)
    });
    let last = bench.write(5);
    let (first, fails, panics, breaks, last, ()) = tokio::join!(first, fails, panics, breaks, last, async {
        open.send(()).unwrap();
    });
    first.unwrap();
    last.unwrap();
    assert!(matches!(fails, Err(StoreError::Stopped)));
    assert!(matches!(panics, Err(StoreError::Panicked(text)) if text == "number 3"));
    assert!(matches!(breaks, Err(StoreError::Sqlite(error)) if error.to_string().contains("UNIQUE")));
    assert_eq!(bench.rows(), [1, 5]);
    assert_eq!(bench.log(), [1, 5]);
    assert_eq!(bench.published(), [1, 5]);
    bench.close();
}

#[tokio::test]
async fn answered_changes_are_published_and_readable() {
    let (_folder, bench) = Bench::start();
    for number in 1..=20 {
        bench.write(number).await.unwrap();
        assert_eq!(bench.rows().last(), Some(&number));
        assert_eq!(bench.published().len(), number as usize);
    }
    bench.close();
}

#[tokio::test]
async fn senders_are_answered_before_readers_are_woken() {
    let (_folder, bench) = Bench::start();
    let (open, gate) = mpsc::channel::<()>();
    let writer = bench.writer.clone();
    let mut send: Waiting = Box::pin(async move {
        let job = move |tx: &mut Tx<'_>| {
            gate.recv().unwrap();
            write(tx, 1)
        };
        writer.run(job).await
    });
    assert!((&mut send).now_or_never().is_none(), "the job waits at the gate");
    *bench.waiting.lock() = Some(send);
    open.send(()).unwrap();
    bench.write(2).await.unwrap();
    // This answer too comes before the readers are woken, if both jobs were in one group.
    let was_answered = Arc::clone(&bench.was_answered);
    bench.close();
    assert_eq!(*was_answered.lock(), [true]);
}

#[tokio::test]
async fn a_full_disk_is_an_error_and_reading_goes_on() {
    let (_folder, bench) = Bench::start();
    bench.write(1).await.unwrap();
    let limit = |pages: i64| {
        bench.writer.run(move |tx| -> Result<(), StoreError> {
            Ok(tx.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
        })
    };
    limit(1).await.unwrap();
    let large = |number: i64| {
        bench.writer.run(move |tx| {
            write(tx, number)?;
            tx.execute("INSERT INTO counter (name, value) VALUES (?1, 0)", ["x".repeat(1 << 20)])?;
            Ok::<_, StoreError>(())
        })
    };
    let (one, other) = tokio::join!(large(2), bench.write(3));
    // The other may have come into the same group, which is lost as a whole, or after it.
    for error in [&one.unwrap_err()].into_iter().chain(other.as_ref().err()) {
        assert!(matches!(error.cause(), Cause::FullDisk | Cause::BadDisk), "{error}");
    }
    let mut kept = vec![1];
    kept.extend(other.is_ok().then_some(3));
    assert_eq!(bench.rows(), kept);
    assert_eq!(bench.published(), kept);
    limit(1 << 30).await.unwrap();
    large(4).await.unwrap();
    bench.write(5).await.unwrap();
    kept.extend([4, 5]);
    assert_eq!(bench.published(), kept);
    assert_eq!(bench.log(), kept);
    bench.close();
}

#[tokio::test]
async fn a_panic_in_the_groups_own_work_costs_the_group_and_not_the_writer() {
    let (_folder, bench) = Bench::start();
    let deferred = bench.writer.run(|tx| {
        tx.before_commit(|_, _| panic!("deferred"));
        write(tx, 1)
    });
    let error = deferred.await.unwrap_err();
    assert!(
        matches!(&error, StoreError::NotCommitted(Cause::Program, why) if why.contains("deferred")),
        "{error}"
    );
    let error = bench.write(BAD_TO_APPEND).await.unwrap_err();
    assert_eq!(error.cause(), Cause::Program, "{error}");
    bench.write(2).await.unwrap();
    assert_eq!((bench.rows(), bench.published()), (vec![2], vec![2]));
    bench.close();
}

#[tokio::test]
async fn a_panic_while_publishing_ends_the_writer_loudly() {
    let (_folder, bench) = Bench::start();
    bench.write(1).await.unwrap();
    assert!(futures_util::FutureExt::now_or_never(bench.writer.failed()).is_none());
    bench.write(BAD_TO_PUBLISH).await.unwrap();
    bench.writer.failed().await;
    assert!(matches!(bench.write(2).await, Err(StoreError::Stopped)));
    assert_eq!(bench.rows(), [1, BAD_TO_PUBLISH], "what was answered is on the disk");
    bench.close();
}

#[tokio::test]
async fn a_refusal_because_of_rows_that_were_rolled_back_is_no_refusal() {
    let (_folder, bench) = Bench::start();
    let (open, gate) = mpsc::channel::<()>();
    let refuse = |tx: &mut Tx<'_>| match write(tx, 1) {
        Ok(()) => Err(StoreError::Panicked("it is there already".to_owned())),
        Err(error) => Err::<(), _>(error),
    };
    // While the first job waits, the others come into its group.
    let first = bench.writer.run(move |_| -> Result<(), StoreError> {
        gate.recv().unwrap();
        Err(StoreError::Stopped)
    });
    let writes = bench.write(1);
    let refused = bench.writer.run(refuse);
    let breaks = bench.writer.run(|tx| -> Result<(), StoreError> { Ok(tx.execute_batch("ROLLBACK")?) });
    let late = bench.write(2);
    let (first, writes, refused, breaks, late, ()) =
        tokio::join!(first, writes, refused, breaks, late, async { open.send(()).unwrap() });
    assert!(matches!(first, Err(StoreError::Stopped)), "it saw nothing of the others");
    for result in [writes, refused, breaks, late] {
        assert!(matches!(result, Err(StoreError::NotCommitted(..))), "{result:?}");
    }
    bench.write(1).await.unwrap();
    assert_eq!(bench.rows(), [1]);
    bench.close();
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_written_to_a_file_that_is_not_there_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let bench = Bench::open(&path);
    bench.write(1).await.unwrap();
    let moved = folder.path().join("moved.sqlite");
    std::fs::rename(&path, &moved).unwrap();
    let refused = |result: Result<(), StoreError>| {
        let error = result.unwrap_err();
        assert_eq!(error.cause(), Cause::BadDisk);
        assert!(error.to_string().contains("deleted, moved or replaced"), "{error}");
    };
    refused(bench.write(2).await);
    std::fs::write(&path, "another file").unwrap();
    refused(bench.write(2).await);
    refused(bench.writer.check_file());
    assert_eq!(bench.rows(), [1], "reading goes on");
    std::fs::rename(&moved, &path).unwrap();
    bench.write(2).await.unwrap();
    assert_eq!(bench.rows(), [1, 2]);
    bench.close();
}

#[tokio::test]
async fn a_job_that_is_marked_as_failed_is_rolled_back() {
    let (_folder, bench) = Bench::start();
    let marked = bench.writer.run(|tx| {
        tx.fail(StoreError::Stopped);
        tx.fail(StoreError::Panicked("a second failure".to_owned()));
        write(tx, 1)
    });
    assert!(matches!(marked.await, Err(StoreError::Stopped)));
    bench.write(2).await.unwrap();
    assert_eq!(bench.rows(), [2]);
    assert_eq!(bench.published(), [2]);
    bench.close();
}

#[tokio::test]
async fn tasks_are_woken_after_the_commit_of_jobs_that_ask_for_it() {
    let (_folder, bench) = Bench::start();
    let wakeup = bench.writer.task_wakeup().subscribe();
    bench.write(1).await.unwrap();
    assert!(!wakeup.has_changed().unwrap());
    let wake = |succeeds: bool| {
        bench.writer.run(move |tx| {
            tx.wake_tasks_after_commit();
            if succeeds { Ok(()) } else { Err(StoreError::Stopped) }
        })
    };
    wake(false).await.unwrap_err();
    assert!(!wakeup.has_changed().unwrap());
    wake(true).await.unwrap();
    assert!(wakeup.has_changed().unwrap());
    bench.close();
}

#[tokio::test]
async fn a_failed_job_takes_the_caches_it_touched_with_it_and_no_others() {
    let (_folder, bench) = Bench::start();
    let add = |number: i64, fails: bool| {
        bench.writer.run(move |tx| -> Result<Vec<i64>, StoreError> {
            let (_, numbers) = tx.cache_mut::<Vec<i64>>();
            numbers.push(number);
            let numbers = numbers.clone();
            if fails { Err(StoreError::Stopped) } else { Ok(numbers) }
        })
    };
    let other = bench.writer.run(|tx| -> Result<(), StoreError> {
        tx.cache_mut::<String>().1.push_str("other");
        Ok(())
    });
    other.await.unwrap();
    assert_eq!(add(1, false).await.unwrap(), [1]);
    assert_eq!(add(2, false).await.unwrap(), [1, 2]);
    bench.writer.run(|_| Err::<(), _>(StoreError::Stopped)).await.unwrap_err();
    assert_eq!(add(3, false).await.unwrap(), [1, 2, 3], "a failed job that touched nothing does no harm");
    add(4, true).await.unwrap_err();
    assert_eq!(add(5, false).await.unwrap(), [5], "a cache that may be wrong is filled again");
    let other = bench.writer.run(|tx| Ok::<_, StoreError>(tx.cache::<String>().cloned()));
    assert_eq!(other.await.unwrap().as_deref(), Some("other"), "a cache that is right stays");
    bench.close();
}

#[tokio::test]
async fn a_job_is_done_whole_when_its_caller_has_left() {
    let (_folder, bench) = Bench::start();
    let (open, gate) = mpsc::channel::<()>();
    let job = bench.writer.run(move |tx| {
        gate.recv().unwrap();
        write(tx, 1)
    });
    // Handed over with the first poll, and dropped before it is done.
    assert!(job.now_or_never().is_none());
    open.send(()).unwrap();
    bench.write(2).await.unwrap();
    assert_eq!(bench.rows(), [1, 2]);
    assert_eq!(bench.published(), [1, 2]);
    bench.close();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_does_not_see_later_changes() {
    let (_folder, bench) = Bench::start();
    bench.write(1).await.unwrap();
    let count = |connection: &rusqlite::Connection| {
        connection.query_row("SELECT count(*) FROM event_audience", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let handle = tokio::runtime::Handle::current();
    let counts = bench.readers.read(|snapshot| -> Result<_, StoreError> {
        let before = count(snapshot);
        tokio::task::block_in_place(|| handle.block_on(bench.write(2)))?;
        Ok((before, count(snapshot)))
    });
    assert_eq!(counts.await.unwrap(), (1, 1));
    assert_eq!(bench.log().len(), 2);
    bench.close();
}

#[tokio::test]
async fn readers_cannot_write() {
    let (_folder, bench) = Bench::start();
    let refused = bench.readers.read_now(|snapshot| -> Result<usize, StoreError> {
        Ok(snapshot.execute("INSERT INTO counter VALUES ('x', 1)", [])?)
    });
    assert!(refused.unwrap_err().to_string().contains("readonly"), "the connection refuses");
    assert_eq!(bench.rows(), [0; 0]);
    bench.close();
}

/// The numbers in a cache of the writer.
async fn cached(bench: &Bench) -> Vec<i64> {
    let look = |tx: &mut Tx<'_>| Ok::<_, StoreError>(tx.cache::<Vec<i64>>().cloned().unwrap_or_default());
    bench.writer.run(look).await.unwrap()
}

fn fill(tx: &mut Tx<'_>, number: i64) -> Result<(), StoreError> {
    tx.cache_mut::<Vec<i64>>().1.push(number);
    write(tx, number)
}

#[tokio::test]
async fn caches_go_with_the_rows_that_they_were_filled_from() {
    let (_folder, bench) = Bench::start();
    let fails = |tx: &mut Tx<'_>| {
        fill(tx, 2)?;
        Err::<(), _>(StoreError::Stopped)
    };
    bench.writer.run(|tx| fill(tx, 1)).await.unwrap();
    bench.writer.run(|_| Err::<(), _>(StoreError::Stopped)).await.unwrap_err();
    assert_eq!(cached(&bench).await, [1], "a job that used no cache spoils none");
    bench.writer.run(fails).await.unwrap_err();
    assert_eq!(cached(&bench).await, [0; 0]);

    bench.writer.run(|tx| fill(tx, 3)).await.unwrap();
    let lost = bench.writer.run(|tx| {
        tx.before_commit(|_, _| panic!("the group is lost"));
        fill(tx, 4)
    });
    lost.await.unwrap_err();
    assert_eq!(cached(&bench).await, [0; 0]);
    assert_eq!(bench.rows(), [1, 3]);
    bench.close();
}

#[test]
fn rows_that_others_refer_to_stay() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("chat.sqlite")).unwrap();
    let writer = database.connect_writer().unwrap();
    let refused = writer.execute("INSERT INTO alert_word (user_id, word, word_key) VALUES (1, 'a', 'a')", []);
    assert!(refused.unwrap_err().to_string().contains("FOREIGN KEY"));
    let reader = Database::connect_reader(database.path()).unwrap();
    assert!(reader.execute("INSERT INTO client (name) VALUES ('a')", []).is_err(), "readers only read");
}

/// The log beside the file is moved into it as it grows, even while there are readers.
#[test]
fn the_log_does_not_grow_with_all_that_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let database = Database::open(&path).unwrap();
    let writer = database.connect_writer().unwrap();
    for number in 0..100 {
        let bytes = vec![1; 200_000];
        let insert = "INSERT INTO public_image (path, content_type, content) VALUES (?1, '', ?2)";
        writer.execute(insert, (number.to_string(), bytes)).unwrap();
    }
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    let (log, file) = (size(&beside(&path, "-wal")), size(&path));
    assert!(log < 6_000_000 && file > 14_000_000, "{log} in the log, {file} in the file");
}

#[tokio::test]
async fn jobs_can_be_answered_before_they_are_on_the_disk() {
    for fails in [false, true] {
        let (_folder, bench) = Bench::start();
        let ((fill, filled), (commit, committed)) = (mpsc::channel(), mpsc::channel());
        let mut first = Box::pin(bench.writer.run(move |tx| -> Result<(), StoreError> {
            filled.recv().unwrap();
            tx.before_commit(move |_, _| committed.recv().unwrap());
            Ok(())
        }));
        assert!(first.as_mut().now_or_never().is_none());
        let is_lost = Arc::new(Mutex::new(false));
        let lost = Arc::clone(&is_lost);
        let mut ahead = Box::pin(bench.writer.run_ahead(|tx| write(tx, 1), move || *lost.lock() = true));
        assert!(ahead.as_mut().now_or_never().is_none());
        fill.send(()).unwrap();
        ahead.await.unwrap();
        assert!(bench.published.lock().is_empty(), "its group waits for the commit");
        commit.send(if fails { Err(rusqlite::Error::InvalidQuery) } else { Ok(()) }).unwrap();
        assert_eq!(first.await.is_err(), fails);
        bench.write(2).await.unwrap();
        assert_eq!(*is_lost.lock(), fails);
        assert_eq!(*bench.published.lock(), if fails { vec![2] } else { vec![1, 2] });
        bench.close();
    }
}
