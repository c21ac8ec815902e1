package dev.larder.loader.sample;

/** Gives a sampler its description. */
record NamedSampler(String description, Sampler orders) implements Sampler {
    @Override
    public SampleOrder order(long rows, long epoch) {
        return orders.order(rows, epoch);
    }

    @Override
    public String toString() {
        return description;
    }
}
