//! A server under test as a child process: started, watched through `/proc`, and ended.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;

/// Time limit for a server to start or stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// `/proc` counts processor time in this many ticks a second, on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running server. Dropping it ends it without ceremony.
pub struct Process {
    child: Child,
    /// The address of the server.
    pub address: SocketAddr,
    /// When it was started, before the process existed.
    pub started: Instant,
}

/// Processor time in seconds.
#[derive(Clone, Copy)]
pub struct ProcessorTime {
    /// Time in user mode.
    pub user: f64,
    /// Time in the kernel.
    pub system: f64,
}

impl Process {
    /// Starts a server and waits until it says on which port of 127.0.0.1 it listens.
    pub fn start(mut command: Command) -> Outcome<Self> {
        let started = Instant::now();
        // A floor ends when its input ends, so that none outlives this program.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", command.get_program().display()))?;
        let (sender, lines) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            forward_lines(output, sender.clone());
        }
        if let Some(output) = child.stderr.take() {
            forward_lines(output, sender);
        }
        match wait_for_address(&lines) {
            Ok(address) => {
                // Reads the remaining output, so that the process can keep writing.
                thread::spawn(move || lines.into_iter().for_each(drop));
                Ok(Self { child, address, started })
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(format!("{} {error}", command.get_program().display()).into())
            }
        }
    }

    /// Resident memory in KiB: `VmRSS`.
    pub fn resident_kib(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS in /proc")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }

    /// Processor time used so far.
    pub fn processor_time(&self) -> Outcome<ProcessorTime> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name, in brackets, may hold spaces; user and system time are fields 14 and 15 of the whole line.
        let after_name = stat.rsplit_once(')').ok_or("no name in /proc/PID/stat")?.1;
        let mut fields = after_name.split_whitespace().skip(11);
        let mut seconds = || -> Outcome<f64> {
            Ok(fields.next().ok_or("too few fields in /proc/PID/stat")?.parse::<f64>()? / TICKS_PER_SECOND)
        };
        Ok(ProcessorTime { user: seconds()?, system: seconds()? })
    }

    /// KiB passed to the system for writing so far, to files and sockets.
    pub fn written_kib(&self) -> Outcome<f64> {
        let figures = std::fs::read_to_string(format!("/proc/{}/io", self.child.id()))?;
        let line =
            figures.lines().find_map(|line| line.strip_prefix("wchar:")).ok_or("no wchar in /proc/PID/io")?;
        Ok(line.trim().parse::<f64>()? / 1024.0)
    }

    /// Asks the server to stop (SIGTERM) and waits until it has.
    pub fn stop(mut self) -> Outcome<()> {
        let asked = Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status()?;
        if !asked.success() {
            return Err("kill -TERM failed".into());
        }
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(2));
        }
        Err(format!("the server did not stop within {PATIENCE:?} of SIGTERM").into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have stopped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Hands on each line a server prints.
fn forward_lines(output: impl Read + Send + 'static, sender: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
}

fn wait_for_address(lines: &Receiver<String>) -> Outcome<SocketAddr> {
    let deadline = Instant::now() + PATIENCE;
    let mut said = Vec::new();
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if let Some(address) = find_address(&line) {
                    return Ok(address);
                }
                said.push(line);
            }
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("did not say where it listens; it said: {}", said.join("\n")).into());
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(format!("ended early; it said: {}", said.join("\n")).into());
            }
        }
    }
}

/// The first `127.0.0.1:PORT` of a line.
fn find_address(line: &str) -> Option<SocketAddr> {
    let (_, after) = line.split_once("127.0.0.1:")?;
    let digits = after.find(|character: char| !character.is_ascii_digit()).unwrap_or(after.len());
    let port: u16 = after[..digits].parse().ok().filter(|port| *port != 0)?;
    Some(SocketAddr::from(([127, 0, 0, 1], port)))
}
