//! Barriers of blocks and clusters, and mbarrier objects. Facts, `ptx.md` 2.11.

use super::{Line, line};
use crate::lift::{control, mbarrier};

const ARRIVE: &str = "[80 7.0] {.shared|shared::cta}.b64 [80 8.0] .release.cta{.shared|shared::cta}.b64 [90 8.0] .release.cluster{.shared|shared::cta}.b64 \
                      [90 8.6] .relaxed.(cta|cluster){.shared|shared::cta}.b64";
const ARRIVE_IN_CLUSTER: &str = "[90 8.0] {.release.(cta|cluster)}.shared::cluster.b64 [90 8.6] .relaxed.(cta|cluster).shared::cluster.b64";
const ARRIVE_NO_COMPLETE: &str = "[80 7.0] .noComplete{.shared|shared::cta}.b64 [80 8.0] .noComplete.release.cta{.shared|shared::cta}.b64";
const EXPECT: &str = "[90 8.0] {.release.(cta|cluster)}{.shared|shared::cta}.b64 [90 8.6] .relaxed.(cta|cluster){.shared|shared::cta}.b64";
const WAIT: &str = "[80 7.0] {.shared|shared::cta}.b64 [80 8.0] .acquire.cta{.shared|shared::cta}.b64 [90 8.0] .acquire.cluster{.shared|shared::cta}.b64 \
                    [90 8.6] .relaxed.(cta|cluster){.shared|shared::cta}.b64";
const WAIT_PARITY: &str = "[80 7.1] {.shared|shared::cta}.b64 [80 8.0] .acquire.cta{.shared|shared::cta}.b64 [90 8.0] .acquire.cluster{.shared|shared::cta}.b64 \
                    [90 8.6] .relaxed.(cta|cluster){.shared|shared::cta}.b64";
const TRY: &str = "[90 7.8] {.shared|shared::cta}.b64 [90 8.0] .acquire.(cta|cluster){.shared|shared::cta}.b64 \
                   [90 8.6] .relaxed.(cta|cluster){.shared|shared::cta}.b64";

pub const LINES: &[Line] = &[
    line("bar.sync", control::ends_block, "barrier, threads?", "[10 1.0] -"),
    line("bar.arrive", control::ends_block, "barrier, threads", "[20 2.0] -"),
    line("bar.red", control::ends_block, "p, barrier, threads?, q", "[20 2.0] .(and|or).pred"),
    line("bar.red", control::ends_block, "d, barrier, threads?, q", "[20 2.0] .popc.u32"),
    line("bar.cta.sync", control::ends_block, "barrier, threads?", "[20 7.8] -"),
    line("bar.cta.arrive", control::ends_block, "barrier, threads", "[20 7.8] -"),
    line("bar.cta.red", control::ends_block, "p, barrier, threads?, q", "[20 7.8] .(and|or).pred"),
    line("bar.cta.red", control::ends_block, "d, barrier, threads?, q", "[20 7.8] .popc.u32"),
    line("barrier.sync", control::ends_block, "barrier, threads?", "[30 5.1] - .aligned"),
    line("barrier.arrive", control::ends_block, "barrier, threads", "[30 5.1] - .aligned"),
    line(
        "barrier.red",
        control::ends_block,
        "p, barrier, threads?, q",
        "[30 5.1] .(and|or){.aligned}.pred",
    ),
    line(
        "barrier.red",
        control::ends_block,
        "d, barrier, threads?, q",
        "[30 5.1] .popc{.aligned}.u32",
    ),
    line("barrier.cta.sync", control::ends_block, "barrier, threads?", "[30 7.8] - .aligned"),
    line("barrier.cta.arrive", control::ends_block, "barrier, threads", "[30 7.8] - .aligned"),
    line(
        "barrier.cta.red",
        control::ends_block,
        "p, barrier, threads?, q",
        "[30 7.8] .(and|or){.aligned}.pred",
    ),
    line(
        "barrier.cta.red",
        control::ends_block,
        "d, barrier, threads?, q",
        "[30 7.8] .popc{.aligned}.u32",
    ),
    line(
        "barrier.cluster.arrive",
        control::ends_block,
        "",
        "[90 7.8] - .aligned [90 8.0] .(release|relaxed){.aligned}",
    ),
    line(
        "barrier.cluster.wait",
        control::ends_block,
        "",
        "[90 7.8] - .aligned [90 8.0] .acquire{.aligned}",
    ),
    line("mbarrier.init", mbarrier::init, "address, s:u32", "[80 7.0] {.shared|shared::cta}.b64"),
    // The memory is free for other uses already.
    line("mbarrier.inval", control::nothing, "address", "[80 7.0] {.shared|shared::cta}.b64"),
    line(
        "mbarrier.expect_tx",
        mbarrier::expect_tx,
        "address, s:u32",
        "[90 8.0] {.relaxed.(cta|cluster)}{.<mbarrier_space>}.b64",
    ),
    line(
        "mbarrier.complete_tx",
        mbarrier::complete_tx,
        "address, s:u32",
        "[90 8.0] {.relaxed.(cta|cluster)}{.<mbarrier_space>}.b64",
    ),
    line("mbarrier.arrive", mbarrier::arrive, "d_, address, s:u32@90/7.8?", ARRIVE),
    line("mbarrier.arrive", mbarrier::arrive, "sink, address, s:u32?", ARRIVE_IN_CLUSTER),
    line("mbarrier.arrive", mbarrier::arrive, "d_, address, s:u32", ARRIVE_NO_COMPLETE),
    line("mbarrier.arrive_drop", mbarrier::arrive_drop, "d_, address, s:u32@90/7.8?", ARRIVE),
    line("mbarrier.arrive_drop", mbarrier::arrive_drop, "sink, address, s:u32?", ARRIVE_IN_CLUSTER),
    line("mbarrier.arrive_drop", mbarrier::arrive_drop, "d_, address, s:u32", ARRIVE_NO_COMPLETE),
    line("mbarrier.arrive.expect_tx", mbarrier::arrive, "d_, address, s:u32", EXPECT),
    line("mbarrier.arrive.expect_tx", mbarrier::arrive, "sink, address, s:u32", ARRIVE_IN_CLUSTER),
    line("mbarrier.arrive_drop.expect_tx", mbarrier::arrive_drop, "d_, address, s:u32", EXPECT),
    line(
        "mbarrier.arrive_drop.expect_tx",
        mbarrier::arrive_drop,
        "sink, address, s:u32",
        ARRIVE_IN_CLUSTER,
    ),
    line("mbarrier.test_wait", mbarrier::test_wait, "p, address, s:b64", WAIT),
    line("mbarrier.try_wait", mbarrier::test_wait, "p, address, s:b64, s:u32?", TRY),
    line("mbarrier.test_wait.parity", mbarrier::test_wait, "p, address, s:u32", WAIT_PARITY),
    line("mbarrier.try_wait.parity", mbarrier::test_wait, "p, address, s:u32, s:u32?", TRY),
    line("mbarrier.pending_count", mbarrier::pending_count, "d:u32, s:b64", "[80 7.0] .b64"),
];
