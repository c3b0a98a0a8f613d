//! Jobs and the tables whose changes are counted.

use super::Bench;
use crate::store::{StoreError, Tx};
use parking_lot::Mutex;
use std::sync::{Arc, mpsc};

#[tokio::test]
async fn jobs_know_the_version_unless_their_group_changed_it() {
    let (_folder, bench) = Bench::start();
    let (open, gate) = mpsc::channel::<()>();
    let version = || bench.writer.run(|tx| Ok::<_, StoreError>(tx.table_version()));
    let (insert, update) =
        ("INSERT INTO realm (id, uuid, date_created) VALUES (1, 'a', 0)", "UPDATE realm SET deactivated = 1");
    // While the first job waits, the others come into its group.
    let before = bench.writer.run(move |tx| {
        gate.recv().unwrap();
        Ok::<_, StoreError>(tx.table_version())
    });
    let fails = bench.writer.run(move |tx| {
        tx.execute_batch(insert)?;
        assert_eq!(tx.table_version(), None);
        Err::<(), _>(StoreError::Stopped)
    });
    let after = version();
    let (before, fails, after, ()) = tokio::join!(before, fails, after, async { open.send(()).unwrap() });
    assert_eq!((before.unwrap(), after.unwrap()), (Some(0), None));
    assert!(matches!(fails, Err(StoreError::Stopped)));
    assert_eq!(version().await.unwrap(), Some(bench.writer.table_version().get()));
    for statement in [insert, update] {
        let known = bench.writer.table_version().get();
        let change = move |tx: &mut Tx<'_>| {
            tx.execute_batch(statement)?;
            Ok::<_, StoreError>(tx.table_version())
        };
        assert_eq!(bench.writer.run(change).await.unwrap(), None);
        assert_eq!(version().await.unwrap(), Some(known + 1));
    }
    bench.close();
}

#[tokio::test]
async fn values_of_counted_tables_are_kept_until_these_change() {
    let (_folder, bench) = Bench::start();
    // The names of the organizations, and how often they were read.
    let loads = Arc::new(Mutex::new(0));
    let names = |tx: &mut Tx<'_>, loads: &Mutex<u32>| -> Result<Vec<String>, StoreError> {
        tx.kept(|connection| {
            *loads.lock() += 1;
            let mut statement = connection.prepare("SELECT uuid FROM realm")?;
            Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    };
    let job = async |statement: &'static str, succeeds: bool| {
        let counted = Arc::clone(&loads);
        let (sender, seen) = mpsc::channel();
        let done = bench.writer.run(move |tx| {
            tx.execute_batch(statement)?;
            sender.send(names(tx, &counted)?).unwrap();
            if succeeds { Ok(()) } else { Err(StoreError::Stopped) }
        });
        assert_eq!(done.await.is_ok(), succeeds);
        (seen.recv().unwrap(), std::mem::take(&mut *loads.lock()))
    };
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(job("", true).await, (list(&[]), 1));
    assert_eq!(job("", true).await, (list(&[]), 0));
    assert_eq!(job("INSERT INTO counter (name, value) VALUES ('a', 1)", true).await, (list(&[]), 0));
    let insert = "INSERT INTO realm (id, uuid, date_created) VALUES (1, 'a', 0)";
    assert_eq!(job(insert, false).await, (list(&["a"]), 1), "as the job sees it");
    assert_eq!(job("", true).await, (list(&[]), 1), "what the failed job saw is not kept");
    assert_eq!(job(insert, true).await, (list(&["a"]), 1));
    assert_eq!(job("", true).await, (list(&["a"]), 1), "after the commit");
    assert_eq!(job("", false).await, (list(&["a"]), 0));
    assert_eq!(job("UPDATE realm SET uuid = 'b'", true).await, (list(&["b"]), 1));
    assert_eq!(job("", false).await, (list(&["b"]), 1));
    assert_eq!(job("", true).await, (list(&["b"]), 0), "what the failed job read was not its own");
    let tables = bench.writer.table_version();
    assert_eq!(tables.value::<Vec<String>>(tables.get()), Some(list(&["b"])), "snapshots have it, too");
    assert_eq!(tables.value::<Vec<String>>(tables.get() + 1), None);
    bench.close();
}
