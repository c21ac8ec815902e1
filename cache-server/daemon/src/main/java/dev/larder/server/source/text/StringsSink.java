package dev.larder.server.source.text;

import dev.larder.column.ColumnMemory;
import dev.larder.column.StringsBuilder;
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

/** Makes a column of texts of each column of a text file. A row without a cell has the empty text there. */
public final class StringsSink implements CellSink {
    /** A missing cell costs 8 bytes, though nothing in the file stands for it: so there must not be many more than others. */
    private static final long MOST_MISSING_EACH = 64;

    private static final long FREE_CELLS = 1L << 24;
    private static final int MAX_COLUMNS = 10_000;

    private final List<String> wanted;
    private final ColumnMemory memory;
    private final Map<String, StringsBuilder> columns = new LinkedHashMap<>();
    private final Set<String> others = new LinkedHashSet<>();
    private long rows;
    private long given;

    /** Keeps some columns; all of them if none is named. */
    public StringsSink(List<String> wanted, ColumnMemory memory) {
        this.wanted = wanted;
        this.memory = memory;
    }

    @Override
    public boolean isWanted(String column) {
        return wanted.isEmpty() || wanted.contains(column);
    }

    @Override
    public void column(String name) {
        if (isWanted(name)) {
            builder(name);
        } else if (others.size() < MAX_COLUMNS) {
            others.add(name);
        }
    }

    private StringsBuilder builder(String name) {
        StringsBuilder builder = columns.get(name);
        if (builder == null) {
            if (columns.size() == MAX_COLUMNS) {
                throw new BadCell("there are more than " + MAX_COLUMNS + " columns");
            }
            builder = new StringsBuilder(memory);
            columns.put(name, builder);
            fill(builder, rows);
        }
        return builder;
    }

    @Override
    public void cell(String column, String text, boolean isInteger) {
        if (isWanted(column)) {
            StringsBuilder builder = builder(column);
            if (builder.size() > rows) {
                throw new BadCell("it has two values for " + column);
            }
            builder.add(text);
            given++;
        } else {
            column(column);
        }
    }

    @Override
    public void endRow() {
        rows++;
        if (rows * columns.size() > FREE_CELLS + MOST_MISSING_EACH * given) {
            throw new BadCell("nearly all of its cells are missing");
        }
        for (StringsBuilder builder : columns.values()) {
            fill(builder, rows);
        }
    }

    private static void fill(StringsBuilder builder, long rows) {
        while (builder.size() < rows) {
            builder.add("");
        }
    }

    @Override
    public List<SourceArray> arrays(String dataset, String prefix, Path file, List<SourceIdentity> identity) {
        List<String> missing =
                wanted.stream().filter(name -> !columns.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            List<String> present = new ArrayList<>(columns.keySet());
            present.addAll(others);
            throw Refusal.noColumns(file, missing, present);
        }
        List<SourceArray> arrays = new ArrayList<>();
        columns.forEach((column, builder) -> {
            ColumnArrays.requireName(file, prefix + column);
            arrays.addAll(ColumnArrays.of(dataset, prefix + column, builder, identity));
        });
        return arrays;
    }

    /** Returns what was made of a column, which belongs to the caller from now on; null where it has not so many rows. */
    @Nullable
    public StringsBuilder column(String name, long expectedRows) {
        StringsBuilder builder = columns.get(name);
        return builder == null || rows != expectedRows ? null : builder;
    }

    @Override
    public void close() {
        columns.values().forEach(StringsBuilder::close);
    }
}
