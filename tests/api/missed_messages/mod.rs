//! Mail about missed messages: who gets it and when, and what is in it.

mod batches;
mod deciding;
mod letters;
