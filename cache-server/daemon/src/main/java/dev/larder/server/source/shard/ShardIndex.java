package dev.larder.server.source.shard;

import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.IntegerIndexBuilder;
import dev.larder.internal.column.TextIndexBuilder;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.KeyTableDescriptor;
import dev.larder.internal.layout.ShardRows;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.SourceArray;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Builds the index of a shard: the keys of its rows, which are counted from its first row. Each row has one key. */
final class ShardIndex {
    private final List<SourceArray> parts;
    private final ShardRows shard;
    private final ColumnMemory memory;

    private ShardIndex(List<SourceArray> parts, ShardRows shard, ColumnMemory memory) {
        this.parts = parts;
        this.shard = shard;
        this.memory = memory;
    }

    static List<CutArray> of(List<SourceArray> parts, ShardRows shard, ColumnMemory memory) {
        return new ShardIndex(parts, shard, memory).cut();
    }

    private List<CutArray> cut() {
        SourceArray any = parts.get(0);
        List<SourceArray> made;
        ColumnBuilder builder = isOfTexts() ? new TextIndexBuilder(memory) : new IntegerIndexBuilder(memory);
        try {
            fill(builder);
            String column = any.part().columnName(any.name().array());
            made = ColumnArrays.of(any.name().dataset(), column, builder, any.files());
        } catch (RuntimeException | Error e) {
            builder.close();
            throw e;
        }
        List<CutArray> cut = new ArrayList<>();
        for (SourceArray array : made) {
            SourceArray whole = part(array.part());
            SourceArray owning = array.withData(array.header(), array.data().releasing(whole::release));
            cut.add(new CutArray(owning, List.of(), WholeStream.whole(whole)));
        }
        return cut;
    }

    private boolean isOfTexts() {
        return parts.stream().anyMatch(array -> array.part() == ColumnPart.INDEX_RECORDS);
    }

    private SourceArray part(ColumnPart wanted) {
        return parts.stream()
                .filter(array -> array.part() == wanted)
                .findFirst()
                .orElseThrow(() -> ShardCut.refusal(parts.get(0), "its column has no " + wanted.suffix())
                        .remedy("load all of the column, or this dataset as whole"));
    }

    private void fill(ColumnBuilder builder) {
        if (builder instanceof TextIndexBuilder texts) {
            long keys = part(ColumnPart.INDEX_POSITIONS).shape()[0];
            try (WholeStream records = new WholeStream(part(ColumnPart.INDEX_RECORDS))) {
                for (long key = 0; key < keys; key++) {
                    long row = records.nextLong() - shard.first(keys);
                    int length = records.nextInt();
                    byte[] text = records.next(length);
                    records.next((int) KeyTableDescriptor.recordLength(length)
                            - KeyTableDescriptor.RECORD_TEXT_OFFSET
                            - length);
                    if (row >= 0 && row < shard.rows(keys)) {
                        texts.add(new String(text, StandardCharsets.UTF_8), row);
                    }
                }
            }
        } else if (builder instanceof IntegerIndexBuilder integers) {
            long keys = part(ColumnPart.INDEX_ENTRIES).shape()[0];
            try (WholeStream entries = new WholeStream(part(ColumnPart.INDEX_ENTRIES))) {
                for (long number = 0; number < keys; number++) {
                    long key = entries.nextLong();
                    long row = entries.nextLong() - shard.first(keys);
                    if (row >= 0 && row < shard.rows(keys)) {
                        integers.add(key, row);
                    }
                }
            }
        }
    }
}
