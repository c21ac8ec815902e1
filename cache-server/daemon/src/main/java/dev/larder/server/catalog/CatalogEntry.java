package dev.larder.server.catalog;

/**
 * What is remembered of one version, which is what its manifest cannot say.
 *
 * @param lastUseEpochMs when somebody was last seen to lease it
 */
public record CatalogEntry(String dataset, long version, long lastUseEpochMs) {
    /** Returns the same with another time of last use. */
    public CatalogEntry usedAt(long epochMs) {
        return new CatalogEntry(dataset, version, epochMs);
    }
}
