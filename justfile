# Recipes for https://just.systems. `just` lists them; each is one command that also works without just.

[private]
default:
    @just --list --unsorted

# Build and serve chat.sqlite at http://127.0.0.1:9991
run *arguments:
    cargo run --release -- serve {{ arguments }}

# The tests; arguments go to cargo test
test *arguments:
    cargo test {{ arguments }}

# The checks before a commit: without the slow tests, which CI runs
quick:
    cargo fmt --check
    cargo lint
    cargo test --quiet --lib
    cargo test --quiet --test api -- --skip leaks:: --skip messages::model --skip messages::moved_sync --skip fuzz:: \
        --skip large_organization:: --skip permissions_follow_the_rules --skip events_of_all_operations \
        --skip rows_of_others

# Write all generated files again: snapshots, docs/openapi.yaml and others
bless:
    .ci/bless

# Everything that CI checks
ci:
    bash .ci/run

# Look for tests that fail by chance: run each suite several times
prove *arguments:
    .ci/prove {{ arguments }}

# The published clients against the release binary
clients:
    tests/clients/run

# The figures of benches/README.md, measured here
bench *arguments:
    cargo bench --bench numbers {{ arguments }}

# A release for these architectures, in dist/
dist *architectures:
    packaging/dist {{ architectures }}

# Format the source
fmt:
    cargo fmt

# Lints, as CI denies them
lint:
    cargo lint

# The documentation of the source, private items too
docs *arguments:
    cargo doc --no-deps --document-private-items {{ arguments }}

# Install the hook that checks messages of commits
setup:
    git config core.hooksPath .ci/hooks
