//! `kill -9` at each step of the delivery of an email, and of a notification. What the other server had not confirmed comes once
//! after the restart. What it had taken, but its answer was lost, comes again: SMTP and push services leave this open.

mod mail;
mod push;

use crate::backups::{json_of, text};
use crate::program::Server;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The side of the other server: a step at which its conversation stops once, until the test lets it go on.
struct Stop<S> {
    at: Mutex<Option<S>>,
    reached: UnboundedSender<()>,
    go_on: Mutex<mpsc::Receiver<()>>,
}

impl<S: PartialEq> Stop<S> {
    /// Stops here if the test wants it. Returns whether it did.
    fn pass(&self, step: S) -> bool {
        let is_here = self.at.lock().unwrap().take_if(|at| *at == step).is_some();
        if is_here {
            self.report();
            self.go_on.lock().unwrap().recv().unwrap();
        }
        is_here
    }

    /// Wakes the test.
    fn report(&self) {
        self.reached.send(()).unwrap();
    }
}

/// The side of the test.
struct Steps<S> {
    stop: Arc<Stop<S>>,
    reached: UnboundedReceiver<()>,
    go_on: mpsc::Sender<()>,
}

impl<S: PartialEq> Steps<S> {
    fn new() -> Self {
        let ((reached, is_reached), (go_on, goes_on)) = (unbounded_channel(), mpsc::channel());
        let stop = Stop { at: Mutex::new(None), reached, go_on: Mutex::new(goes_on) };
        Self { stop: Arc::new(stop), reached: is_reached, go_on }
    }

    /// The next conversation stops at a step.
    fn stop_at(&self, step: S) {
        *self.stop.at.lock().unwrap() = Some(step);
    }

    /// Waits until it has stopped.
    async fn reached(&mut self) {
        self.reached.recv().await.unwrap();
    }

    /// Kills the server while the conversation stops.
    fn kill(&self, server: Server) {
        server.kill();
        self.go_on.send(()).unwrap();
    }

    /// Kills the server after the other one has answered, and before it has read the answer.
    async fn kill_after_answer(&mut self, server: Server) {
        freeze(&server);
        self.go_on.send(()).unwrap();
        // The answer is written.
        self.reached().await;
        server.kill();
    }
}

/// Stops all threads of the program.
fn freeze(server: &Server) {
    let id = server.child.id();
    assert!(Command::new("kill").args(["-STOP", &id.to_string()]).status().unwrap().success());
    let is_stopped = || {
        std::fs::read_dir(format!("/proc/{id}/task")).unwrap().all(|task| {
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat"));
            // The state comes after the name, which is in parentheses.
            stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')))
        })
    };
    while !is_stopped() {
        thread::yield_now();
    }
}

/// Waits until nothing waits in a queue.
fn until_empty(db: &Path, queue: &str) {
    while json_of(&["status", "--db", text(db)])[queue]["waiting"] != 0 {
        thread::yield_now();
    }
}
