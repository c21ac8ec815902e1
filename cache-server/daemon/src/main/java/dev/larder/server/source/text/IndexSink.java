package dev.larder.server.source.text;

import dev.larder.column.ColumnBuilder;
import dev.larder.column.ColumnMemory;
import dev.larder.column.IntegerIndexBuilder;
import dev.larder.column.TextIndexBuilder;
import dev.larder.error.LarderException;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes an index of some columns of a text file, else of its first: each cell leads to the number of its row. */
public final class IndexSink implements CellSink {
    private static final int MOST_LISTED = 10_000;

    private final ColumnMemory memory;
    private final Map<String, Keys> columns = new LinkedHashMap<>();
    private final Set<String> others = new LinkedHashSet<>();
    private long row;

    public IndexSink(List<String> wanted, ColumnMemory memory) {
        this.memory = memory;
        wanted.forEach(column -> columns.put(column, new Keys(memory)));
    }

    @Override
    public boolean isWanted(String column) {
        return columns.isEmpty() || columns.containsKey(column);
    }

    @Override
    public void column(String name) {
        if (columns.isEmpty()) {
            columns.put(name, new Keys(memory));
        } else if (others.size() < MOST_LISTED && !columns.containsKey(name)) {
            others.add(name);
        }
    }

    @Override
    public void cell(String column, String text, boolean isInteger) {
        column(column);
        Keys keys = columns.get(column);
        if (keys != null) {
            if (keys.texts.size() > row) {
                throw new BadCell("it has two values for " + column);
            }
            keys.add(text, isInteger, row);
        }
    }

    @Override
    public void endRow() {
        row++;
        columns.forEach((column, keys) -> {
            if (keys.texts.size() < row) {
                throw new BadCell("it has no value for " + column + ", and an index needs one in each row");
            }
        });
    }

    @Override
    public List<SourceArray> arrays(String dataset, String prefix, Path file, List<SourceIdentity> identity) {
        List<SourceArray> arrays = new ArrayList<>();
        columns.forEach((column, keys) -> {
            if (row > 0 && keys.texts.size() == 0) {
                throw Refusal.noColumns(file, List.of(column), others);
            }
            ColumnArrays.requireName(file, prefix + column);
            try {
                arrays.addAll(ColumnArrays.of(dataset, prefix + column, keys.narrowest(), identity));
            } catch (LarderException e) {
                throw Refusal.of(file, 0, e.getMessage() == null ? "a key occurs twice" : e.getMessage());
            }
        });
        return arrays;
    }

    @Override
    public void close() {
        columns.values().forEach(Keys::close);
    }

    /** Keys of one column: integers as long as all of them are. */
    private static final class Keys {
        private final TextIndexBuilder texts;
        private @Nullable IntegerIndexBuilder integers;

        Keys(ColumnMemory memory) {
            this.texts = new TextIndexBuilder(memory);
            this.integers = new IntegerIndexBuilder(memory);
        }

        void add(String text, boolean isInteger, long row) {
            texts.add(text, row);
            if (integers != null) {
                if (isInteger) {
                    integers.add(Long.parseLong(text), row);
                } else {
                    integers.close();
                    integers = null;
                }
            }
        }

        /** Returns the builder that is left, and closes the other. */
        ColumnBuilder narrowest() {
            if (integers == null || texts.size() == 0) {
                return texts;
            }
            texts.close();
            return integers;
        }

        void close() {
            texts.close();
            if (integers != null) {
                integers.close();
            }
        }
    }
}
