package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.RowShapes;
import dev.larder.internal.column.TextIndexBuilder;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ArrayKeys;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes columns of plain arrays that are found already: one column for each key, and an index of the scenes. Without keys all arrays are rows of one
 * column.
 */
final class RaggedFiles {
    private static final String INDEX = "scene";
    private static final String ONLY_COLUMN = "data";

    private RaggedFiles() {}

    /** Refuses keys that would be columns with the name of the index. */
    static void requireColumns(List<String> keys) {
        if (keys.contains(INDEX)) {
            throw Failure.of(ErrorCode.USAGE, "a key has the same name as the index")
                    .with("key", INDEX)
                    .remedy("rename the files: the column " + INDEX + " leads from scenes to rows");
        }
    }

    /** Replaces plain arrays with columns that have them as rows, or adds refusals. */
    static void join(Findings found) {
        List<String> keys = found.options().keys();
        Map<String, Map<String, SourceArray>> columns = columns(found.arrays(), keys);
        String advice = keys.isEmpty() ? "; if the folder has files of several keys, name them with --columns" : "";
        columns.values().forEach(rows -> requireAlike(rows, advice, found.refusals()));
        if (!found.isSound()) {
            return;
        }
        List<SourceArray> arrays = new ArrayList<>();
        Set<String> scenes = new LinkedHashSet<>();
        columns.forEach((column, rows) -> {
            arrays.addAll(column(found.dataset(), column, List.copyOf(rows.values()), found.memory()));
            scenes.addAll(rows.keySet());
        });
        List<SourceIdentity> first = found.arrays().get(0).files().subList(0, 1);
        arrays.addAll(index(found.dataset(), scenes, first, found.memory()));
        found.replaceAll(arrays);
    }

    /** Returns for each column the arrays of its rows, sorted by scene. */
    private static Map<String, Map<String, SourceArray>> columns(List<SourceArray> arrays, List<String> named) {
        ArrayKeys keys = new ArrayKeys(named);
        Map<String, Map<String, SourceArray>> columns = new TreeMap<>();
        for (SourceArray array : arrays) {
            String name = array.name().array();
            @Nullable String key = keys.keyOf(name);
            String last = name.substring(name.lastIndexOf('/') + 1);
            if (key == null && named.contains(last) && last.length() < name.length()) {
                key = last; // an archive is a scene
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
                ArrayData.joined(rows),
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
