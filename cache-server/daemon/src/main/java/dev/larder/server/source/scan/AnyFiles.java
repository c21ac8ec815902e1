package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.RowOffsets;
import dev.larder.internal.column.TextIndexBuilder;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Extents;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.util.List;

/** Makes one column of the files of a folder, of any kind: a row for each file, and an index of their names. */
final class AnyFiles implements Format {
    private static final String FILES = "files";
    private static final String NAMES = FILES + "/names";
    private static final String INDEX = "file";

    @Override
    public String kindOf(String fileName) {
        return FILES;
    }

    @Override
    public void look(FileTable files, Findings found) {
        if (!found.options().keys().isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "--columns cannot be used with --as bytes")
                    .with("keys", found.options().keys())
                    .remedy("remove --columns: every file of the folder is loaded");
        }
        if (!found.isSound()) {
            return;
        } else if (files.isEmpty()) {
            throw found.nothing("name a folder with files");
        }
        found.read(files.size());
        found.add(values(found.dataset(), FILES, files, Extents.of(files)));
        found.addAll(offsets(found.dataset(), FILES, files, found.memory()));
        addNames(files, found);
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

    /** Returns the offsets of the files in the values, and the end. */
    static List<SourceArray> offsets(String dataset, String column, FileTable files, ColumnMemory memory) {
        RowOffsets offsets = new RowOffsets(memory);
        for (int i = 0; i < files.size(); i++) {
            offsets.add(files.byteSize(i));
        }
        return ColumnArrays.of(dataset, column, offsets, List.of(files.get(0)));
    }

    private static void addNames(FileTable files, Findings found) {
        List<SourceIdentity> first = List.of(files.get(0));
        found.addAll(ColumnArrays.ofTexts(found.dataset(), NAMES, files.names(), first, found.memory()));
        TextIndexBuilder index = new TextIndexBuilder(found.memory());
        try {
            files.names().forEach(name -> index.add(name, index.size()));
            found.addAll(ColumnArrays.of(found.dataset(), INDEX, index, first));
        } catch (RuntimeException | Error e) {
            index.close();
            throw e;
        }
    }
}
