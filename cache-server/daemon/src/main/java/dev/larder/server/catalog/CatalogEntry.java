package dev.larder.server.catalog;

/**
 * The catalog's entry for a version: its time of last use, which its manifest does not contain.
 *
 * @param lastUseEpochMs when a lease was last seen, in milliseconds since the epoch
 */
public record CatalogEntry(String dataset, long version, long lastUseEpochMs) {}
