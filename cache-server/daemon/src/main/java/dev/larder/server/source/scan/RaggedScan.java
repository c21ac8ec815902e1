package dev.larder.server.source.scan;

import dev.larder.column.ColumnMemory;
import dev.larder.column.RowShapes;
import dev.larder.column.TextIndexBuilder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.JoinedData;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes files of arrays the rows of columns: each key one column, the scenes an index. Without keys all files are one column.
 * The files are found and checked as plain arrays first; their data is copied from where it lies.
 */
final class RaggedScan {
    private static final String INDEX = "scene";
    private static final String ONLY_COLUMN = "data";

    private RaggedScan() {}

    static ScannedSource of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        if (options.keys().contains(INDEX)) {
            throw Failure.of(ErrorCode.USAGE, "a key has the same name as the index")
                    .with("key", INDEX)
                    .remedy("rename the files: the column " + INDEX + " leads from scenes to rows");
        }
        ScannedSource plain = ScannedSource.scan(dataset, path, options.withAs(LoadOptions.As.ARRAYS), settings);
        Map<String, Map<String, SourceArray>> columns = columns(plain.arrays(), options.keys());
        List<LarderException> refusals = new Refusals();
        String advice =
                options.keys().isEmpty() ? "; if the folder has files of several keys, name them with --columns" : "";
        columns.values().forEach(rows -> requireAlike(rows, advice, refusals));
        List<SourceArray> arrays = new ArrayList<>();
        Set<String> scenes = new LinkedHashSet<>();
        if (refusals.isEmpty()) {
            columns.forEach((column, rows) -> {
                arrays.addAll(column(dataset, column, List.copyOf(rows.values()), settings.memory()));
                scenes.addAll(rows.keySet());
            });
            arrays.addAll(index(dataset, scenes, plain.arrays().get(0).files().subList(0, 1), settings.memory()));
        }
        return ColumnScan.source(
                new ScannedSource(dataset, path, arrays, plain.skippedFiles(), plain.hiddenFiles()), refusals);
    }

    /** Returns for each column the arrays of its rows, sorted by scene. */
    private static Map<String, Map<String, SourceArray>> columns(List<SourceArray> arrays, List<String> named) {
        KeyFilter keys = new KeyFilter(named);
        Map<String, Map<String, SourceArray>> columns = new TreeMap<>();
        for (SourceArray array : arrays) {
            String name = array.name().array();
            @Nullable String key = keys.keyOf(name);
            String last = name.substring(name.lastIndexOf('/') + 1);
            if (key == null && named.contains(last) && last.length() < name.length()) {
                key = last; // of an archive, whose name is the scene
            }
            String column = key == null ? ONLY_COLUMN : key;
            String scene = key == null ? name : name.substring(0, name.length() - key.length() - 1);
            columns.computeIfAbsent(column, c -> new TreeMap<>()).put(scene, array);
        }
        return columns;
    }

    private static void requireAlike(Map<String, SourceArray> rows, String advice, List<LarderException> refusals) {
        SourceArray first = rows.values().iterator().next();
        for (SourceArray row : rows.values()) {
            NpyHeader header = row.header();
            if (!header.dtype().equals(first.dtype())) {
                refusals.add(Refusal.of(
                        row.file(),
                        0,
                        "its dtype is " + header.dtype() + ", but that of " + first.file() + " is " + first.dtype()
                                + advice));
            } else if (header.dimensions() != first.header().dimensions()) {
                refusals.add(Refusal.of(
                        row.file(),
                        0,
                        "it has " + header.dimensions() + " dimensions, but " + first.file() + " has "
                                + first.header().dimensions() + advice));
            } else if (header.order() == Order.F && header.dimensions() > 1) {
                refusals.add(Refusal.of(
                        row.file(),
                        0,
                        "it is in Fortran order, and rows of a ragged column must be in C order: save it with"
                                + " numpy.save(path, numpy.ascontiguousarray(array))"));
            }
        }
    }

    private static List<SourceArray> column(
            String dataset, String column, List<SourceArray> rows, ColumnMemory memory) {
        RowShapes shapes = new RowShapes(rows.get(0).header().dimensions(), memory);
        List<SourceIdentity> files = new ArrayList<>(rows.size());
        for (SourceArray row : rows) {
            shapes.add(row.shape());
            files.addAll(row.files());
        }
        List<SourceArray> arrays = new ArrayList<>();
        arrays.add(new SourceArray(
                new ArrayName(dataset, ColumnPart.RAGGED_VALUES.arrayName(column)),
                NpyHeader.of(rows.get(0).dtype(), Order.C, shapes.elements()),
                JoinedData.of(rows),
                files,
                ColumnPart.RAGGED_VALUES));
        arrays.addAll(ColumnArrays.of(dataset, column, shapes, files.subList(0, 1)));
        return arrays;
    }

    private static List<SourceArray> index(
            String dataset, Set<String> scenes, List<SourceIdentity> first, ColumnMemory memory) {
        TextIndexBuilder index = new TextIndexBuilder(memory);
        for (String scene : scenes) {
            index.add(scene, index.size());
        }
        return ColumnArrays.of(dataset, INDEX, index, first);
    }
}
