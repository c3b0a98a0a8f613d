//! The amount and the seeds of the random work that tests do.

/// Multiple of the usual random work: `TEAMCHAT_TEST_BUDGET`, 1 by default. `.ci/deep` asks for more.
pub fn budget() -> usize {
    let given = std::env::var("TEAMCHAT_TEST_BUDGET").ok();
    given.map_or(1, |text| text.parse().expect("TEAMCHAT_TEST_BUDGET is a whole number"))
}

/// The seed that `TEAMCHAT_SEED` gives; with `random` a new one, as `.ci/deep` asks for. Otherwise the one of the test: the
/// same tree then passes or fails in each run. A failure prints it.
#[expect(clippy::print_stdout, reason = "a failure is repeated with the seed")]
pub fn seed(of_test: u64) -> u64 {
    let seed = match std::env::var("TEAMCHAT_SEED").as_deref() {
        Err(_) => of_test,
        Ok("random") => rand::random(),
        Ok(text) => {
            let digits = text.trim_start_matches("0x");
            u64::from_str_radix(digits, 16).expect("TEAMCHAT_SEED is a hexadecimal number, or `random`")
        }
    };
    println!("TEAMCHAT_SEED={seed:#x}");
    seed
}
