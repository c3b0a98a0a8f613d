//! The commands of the `teamchat` program that reach a running server, such as `user create`, over a Unix socket beside
//! the database.
//!
//! Only the account that runs the server, and root, may connect: both could change the file directly. The socket is
//! separate from the HTTP interface, so no reverse proxy publishes it. A connection carries one command and its answer,
//! each a line of JSON: the answer is `{"answer": ...}` or `{"error": "text"}`.

use crate::app::App;
use crate::commands;
use crate::commands::Command;
use rand::RngExt;
use rand::distr::Alphanumeric;
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// The longest command in bytes.
const MAX_COMMAND: u64 = 64 * 1024;

/// Time limit for receiving a command.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest path of a socket, in bytes, that all systems allow.
const MAX_PATH: usize = 100;

/// The user id of root.
const ROOT: u32 = 0;

/// A socket that accepts commands. It is removed when this is dropped.
pub struct AdminSocket {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl AdminSocket {
    /// Listens beside the database, or in the folder for temporary files if the path is too long or the folder cannot
    /// hold sockets. Requires the lock of the database, which ensures that no other server listens there.
    pub fn bind(database: &Path) -> std::io::Result<Self> {
        let mut beside = database.as_os_str().to_owned();
        beside.push(".control");
        let beside = PathBuf::from(beside);
        if beside.as_os_str().len() <= MAX_PATH
            && let Ok(socket) = Self::bind_to(beside)
        {
            return Ok(socket);
        }
        let name: String = rand::rng().sample_iter(Alphanumeric).take(16).map(char::from).collect();
        Self::bind_to(std::env::temp_dir().join(format!("teamchat-{name}.control")))
    }

    fn bind_to(path: PathBuf) -> std::io::Result<Self> {
        let path = std::path::absolute(path)?;
        // Left over from a server that was killed.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let owner = std::fs::metadata(&path)?.uid();
        Ok(Self { listener, path, owner })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs commands, one after another, until the server stops.
    pub async fn serve(self, app: Arc<App>, mut stopped: watch::Receiver<bool>) {
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = stopped.changed() => return,
            };
            let done = match accepted {
                Ok((stream, _)) => self.run_command(stream, &app).await,
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                tracing::warn!(%error, "a command could not be run");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    async fn run_command(&self, stream: UnixStream, app: &App) -> std::io::Result<()> {
        // Another user may have connected between the two calls that create the socket and set its mode.
        let caller = stream.peer_cred()?.uid();
        if caller != self.owner && caller != ROOT {
            tracing::warn!(user_id = caller, "a command of another user of this machine was refused");
            return Ok(());
        }
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        let mut limited = (&mut stream).take(MAX_COMMAND);
        tokio::time::timeout(READ_TIMEOUT, limited.read_until(b'\n', &mut line)).await??;
        let answer = match serde_json::from_slice::<Command>(&line) {
            Ok(command) => match commands::run(app, command).await {
                Ok(answer) => json!({ "answer": answer }),
                Err(error) => json!({ "error": error.operator_msg() }),
            },
            Err(_) => json!({ "error": "this server does not know the command; is it of another version?" }),
        };
        write_line(&mut stream, &answer).await
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        // Otherwise the next start removes it.
        let _left = std::fs::remove_file(&self.path);
    }
}

async fn write_line(stream: &mut BufReader<UnixStream>, answer: &Value) -> std::io::Result<()> {
    stream.write_all(format!("{answer}\n").as_bytes()).await?;
    stream.shutdown().await
}
