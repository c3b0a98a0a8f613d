//! The amount of random work that a test does.

/// Multiple of the usual random work: `TEAMCHAT_TEST_BUDGET`, 1 by default. `.ci/deep` asks for more.
pub fn budget() -> usize {
    let given = std::env::var("TEAMCHAT_TEST_BUDGET").ok();
    given.map_or(1, |text| text.parse().expect("TEAMCHAT_TEST_BUDGET is a whole number"))
}
