package dev.larder.server.metrics;

/** The counters of the daemon. Totals only grow while it runs; the others rise and fall. */
public enum Counter {
    CAPACITY_BYTES("capacity bytes"),
    RESIDENT_BYTES("resident bytes"),
    LEASED_BYTES("leased bytes"),
    PINNED_BYTES("pinned bytes"),
    RETIRED_BYTES("retired bytes"),
    DATASETS("datasets"),
    ARRAYS("arrays"),
    CLIENTS("clients"),
    SAMPLED_OPENS("sampled opens"),
    LOADING("loading"),
    LOADS("loads"),
    LOAD_FAILURES("load failures"),
    BUILDS("builds"),
    BUILD_FAILURES("build failures"),
    EVICTIONS("evictions"),
    SPACE_REFUSALS("space refusals"),
    WAITING("waiting"),
    ASK_HITS("ask hits"),
    ASK_MISSES("ask misses"),
    ASKS_UNKNOWN("asks unknown"),
    ASKS_LATE("asks late"),
    ASKS_FAILED("asks failed"),
    ASKS_LEFT("asks left"),
    WAIT_MICROS("wait micros"),
    WAITS_TO_10_MS("waits to 10 ms"),
    WAITS_TO_100_MS("waits to 100 ms"),
    WAITS_TO_1_S("waits to 1 s"),
    WAITS_TO_10_S("waits to 10 s"),
    WAITS_TO_1_MIN("waits to 1 min"),
    WAITS_TO_10_MIN("waits to 10 min"),
    WAITS_LONGER("waits longer"),
    REQUESTS("requests"),
    CONNECTIONS("connections"),
    PROTOCOL_ERRORS("protocol errors");

    private final String label;

    Counter(String label) {
        this.label = label;
    }

    /** Returns the label in the counters' file. */
    public String label() {
        return label;
    }
}
