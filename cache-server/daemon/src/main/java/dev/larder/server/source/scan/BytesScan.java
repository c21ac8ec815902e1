package dev.larder.server.source.scan;

import dev.larder.column.ColumnMemory;
import dev.larder.column.RowOffsets;
import dev.larder.column.StringsBuilder;
import dev.larder.column.TextIndexBuilder;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.JoinedData;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes the files of a folder, whatever they are, the rows of one column, and their names an index. */
final class BytesScan {
    private static final String FILES = "files";
    private static final String NAMES = FILES + "/names";
    private static final String INDEX = "file";

    private BytesScan() {}

    static ScannedSource of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        if (!options.keys().isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "--columns cannot be used with --as bytes")
                    .with("keys", options.keys())
                    .remedy("remove --columns: every file of the folder is loaded");
        }
        FileWalk walk = FileWalk.of(path, options, settings);
        FileTable files = walk.files();
        List<SourceArray> arrays = new ArrayList<>();
        if (walk.refusals().isEmpty()) {
            if (files.isEmpty()) {
                throw ColumnScan.nothing(path, 0, walk.hidden(), "name a folder with files");
            }
            arrays.add(values(dataset, FILES, files, JoinedData.of(files)));
            arrays.addAll(offsets(dataset, FILES, files, settings.memory()));
            addNames(dataset, files, settings.memory(), arrays);
        }
        return ColumnScan.source(new ScannedSource(dataset, path, arrays, 0, walk.hidden()), walk.refusals());
    }

    /** Returns the bytes of all files, one after the other. */
    static SourceArray values(String dataset, String column, FileTable files, ArrayData data) {
        long byteSize = 0;
        for (int i = 0; i < files.size(); i++) {
            byteSize = ByteSums.add(byteSize, files.byteSize(i));
        }
        return new SourceArray(
                new ArrayName(dataset, ColumnPart.BYTES_VALUES.arrayName(column)),
                NpyHeader.of(Dtype.parse("|u1"), Order.C, byteSize),
                data,
                files,
                ColumnPart.BYTES_VALUES);
    }

    /** Returns where the bytes of each file begin, and the end. */
    static List<SourceArray> offsets(String dataset, String column, FileTable files, ColumnMemory memory) {
        RowOffsets offsets = new RowOffsets(memory);
        for (int i = 0; i < files.size(); i++) {
            offsets.add(files.byteSize(i));
        }
        return ColumnArrays.of(dataset, column, offsets, List.of(files.get(0)));
    }

    private static void addNames(String dataset, FileTable files, ColumnMemory memory, List<SourceArray> arrays) {
        List<SourceIdentity> first = List.of(files.get(0));
        StringsBuilder names = new StringsBuilder(memory);
        TextIndexBuilder index = new TextIndexBuilder(memory);
        try {
            for (int i = 0; i < files.size(); i++) {
                String name = files.name(i);
                names.add(name);
                index.add(name, i);
            }
            arrays.addAll(ColumnArrays.of(dataset, NAMES, names, first));
            arrays.addAll(ColumnArrays.of(dataset, INDEX, index, first));
        } catch (RuntimeException | Error e) {
            names.close();
            index.close();
            arrays.forEach(SourceArray::release);
            throw e;
        }
    }
}
