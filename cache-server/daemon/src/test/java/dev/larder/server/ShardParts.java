package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.ArrayView;
import dev.larder.client.BytesColumn;
import dev.larder.client.Column;
import dev.larder.client.Dataset;
import dev.larder.client.IndexColumn;
import dev.larder.client.Larder;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.internal.layout.ShardRows;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.ShardRecord;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/** Compares shards of a dataset with the whole, row by row, and puts them together again. */
final class ShardParts {
    private final Dataset whole;
    private final Map<String, ByteArrayOutputStream> joined = new TreeMap<>();

    ShardParts(Dataset whole) {
        this.whole = whole;
    }

    /** Checks that a shard has just the rows that it should, and keeps those that none before had. */
    void add(Dataset shard, ShardRows rows) {
        ShardRecord record = Objects.requireNonNull(
                Manifest.readShard(shard.stored().folder().resolve(StoreLayout.MANIFEST)));
        assertThat(shard.arrayNames()).isEqualTo(whole.arrayNames());
        assertThat(shard.columns()).isEqualTo(whole.columns());
        shard.columns().forEach(column -> compare(column, shard, rows));
        for (String name : shard.arrayNames()) {
            ShardRecord.Whole noted = record.wholes().get(name);
            if (noted != null) {
                assertThat(noted).isEqualTo(wholeOf(name));
            } else {
                add(name, shard.array(name), record.rows().get(name), rows);
            }
        }
    }

    private ShardRecord.Whole wholeOf(String name) {
        ArrayView view = whole.array(name);
        return ShardRecord.Whole.of(Arrays.stream(view.shape()).boxed().toList(), view.crc32c());
    }

    private void add(String name, ArrayView part, @Nullable List<Long> cut, ShardRows rows) {
        ArrayView all = whole.array(name);
        if (cut == null) {
            assertThat(bytes(part)).as(name).isEqualTo(bytes(all));
            return;
        }
        long rowBytes = all.shape()[0] == 0 ? 0 : all.byteSize() / all.shape()[0];
        byte[] expected = Arrays.copyOfRange(bytes(all), (int) (cut.get(0) * rowBytes), (int) (cut.get(1) * rowBytes));
        assertThat(bytes(part)).as(name).isEqualTo(expected);
        long firstOwn = cut.size() > 3 ? cut.get(3) : rows.firstOwn(cut.get(2));
        int skipped = (int) ((firstOwn - cut.get(0)) * rowBytes);
        joined.computeIfAbsent(name, key -> new ByteArrayOutputStream())
                .write(expected, skipped, expected.length - skipped);
    }

    /** Checks that what was kept makes up the whole. */
    void requireAll() {
        joined.forEach((name, parts) -> assertThat(parts.toByteArray()).as(name).isEqualTo(bytes(whole.array(name))));
    }

    private static byte[] bytes(ArrayView view) {
        byte[] bytes = new byte[(int) view.byteSize()];
        if (bytes.length > 0) {
            view.dataBuffer(0, bytes.length).get(bytes);
        }
        return bytes;
    }

    private void compare(Column column, Dataset shard, ShardRows rows) {
        List<String> all = rowsOf(column, whole);
        List<String> found = rowsOf(column, shard);
        if (column.kind() == Column.Kind.INDEX) {
            IndexColumn here = shard.index(column.name());
            long first = rows.first(all.size());
            for (int k = 0; k < all.size(); k++) {
                long row = whole.index(column.name()).rowOfKey(k) - first;
                boolean isHere = row >= 0 && row < rows.rows(all.size());
                assertThat(here.find(all.get(k))).isEqualTo(isHere ? row : IndexColumn.ABSENT);
            }
        } else if (column.name().endsWith("classes")) {
            assertThat(found).as(column.name()).isEqualTo(all);
        } else {
            int first = (int) rows.first(all.size());
            assertThat(found).as(column.name()).isEqualTo(all.subList(first, first + (int) rows.rows(all.size())));
        }
    }

    private static List<String> rowsOf(Column column, Dataset dataset) {
        List<String> rows = new ArrayList<>();
        switch (column.kind()) {
            case STRINGS -> {
                StringsColumn texts = dataset.strings(column.name());
                for (long row = 0; row < texts.rows(); row++) {
                    rows.add(texts.get(row));
                }
            }
            case BYTES -> {
                BytesColumn bytes = dataset.bytes(column.name());
                for (long row = 0; row < bytes.rows(); row++) {
                    rows.add(shown(bytes.row(row)));
                }
            }
            case RAGGED -> {
                RaggedColumn ragged = dataset.ragged(column.name());
                for (long row = 0; row < ragged.rows(); row++) {
                    rows.add(Arrays.toString(ragged.shape(row)) + shown(ragged.row(row)));
                }
            }
            case INDEX -> {
                IndexColumn index = dataset.index(column.name());
                for (long key = 0; key < index.size(); key++) {
                    rows.add(index.key(key));
                }
            }
        }
        return rows;
    }

    private static String shown(DirectBuffer row) {
        byte[] bytes = new byte[row.capacity()];
        row.getBytes(0, bytes);
        return Arrays.toString(bytes);
    }

    /** Opens datasets and compares them. */
    static void requireShards(Larder larder, String whole, List<String> shards) {
        try (Dataset all = larder.dataset(whole)) {
            ShardParts parts = new ShardParts(all);
            for (int node = 0; node < shards.size(); node++) {
                try (Dataset shard = larder.dataset(shards.get(node))) {
                    parts.add(shard, new ShardRows(node, shards.size()));
                }
            }
            parts.requireAll();
        }
    }
}
