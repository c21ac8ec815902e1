package dev.larder.server.catalog;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** A catalog in memory, which is lost when it is closed. */
final class InMemoryCatalog implements Catalog {
    private final Map<Key, CatalogEntry> entries = new ConcurrentHashMap<>();

    @Override
    public void put(CatalogEntry entry) {
        entries.put(new Key(entry.dataset(), entry.version()), entry);
    }

    @Override
    public Optional<CatalogEntry> find(String dataset, long version) {
        return Optional.ofNullable(entries.get(new Key(dataset, version)));
    }

    @Override
    public boolean remove(String dataset, long version) {
        return entries.remove(new Key(dataset, version)) != null;
    }

    @Override
    public List<CatalogEntry> entries() {
        return List.copyOf(entries.values());
    }

    @Override
    public boolean touch(String dataset, long version, long epochMs) {
        return entries.computeIfPresent(new Key(dataset, version), (key, entry) -> entry.usedAt(epochMs)) != null;
    }

    @Override
    public void close() {
        entries.clear();
    }

    private record Key(String dataset, long version) {}
}
