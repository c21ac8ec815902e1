package dev.larder.server.metrics;

/** What the daemon counts. Totals only grow while it runs; the others rise and fall. */
public enum Counter {
    RESIDENT_BYTES("resident bytes"),
    LEASED_BYTES("leased bytes"),
    RETIRED_BYTES("retired bytes"),
    DATASETS("datasets"),
    ARRAYS("arrays"),
    LOADS("loads"),
    LOAD_FAILURES("load failures"),
    EVICTIONS("evictions"),
    REQUESTS("requests"),
    CONNECTIONS("connections"),
    PROTOCOL_ERRORS("protocol errors");

    private final String label;

    Counter(String label) {
        this.label = label;
    }

    /** Returns the words under which readers find it. */
    public String label() {
        return label;
    }
}
