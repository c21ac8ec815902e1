package dev.larder.server.source;

import dev.larder.column.RowOffsets;
import dev.larder.column.StringsBuilder;
import dev.larder.column.TextIndexBuilder;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayName;
import dev.larder.layout.ByteSums;
import dev.larder.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the files of a folder, whatever they are, the rows of one column, and their names an index. */
final class BytesScan {
    private static final String FILES = "files";
    private static final String NAMES = FILES + "/names";
    private static final String INDEX = "file";

    private BytesScan() {}

    /** What became of looking at a file: one of the two is there. */
    private record Looked(
            @Nullable SourceIdentity identity, @Nullable LarderException refusal) {
        static Looked at(Path file) {
            try {
                return new Looked(SourceIdentity.of(file), null);
            } catch (LarderException e) {
                return new Looked(null, e);
            }
        }
    }

    static Source of(String dataset, Path path, SourceOptions options) {
        if (!options.keys().isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "keys do not go with --as bytes")
                    .with("keys", options.keys())
                    .remedy("leave --keys out: every file of the folder is loaded");
        }
        FileWalk walk = FileWalk.of(path);
        List<LarderException> refusals = new ArrayList<>(walk.refusals());
        List<SourceIdentity> files = new ArrayList<>();
        for (Looked looked : walk.files().parallelStream()
                .map(file -> Looked.at(file.path()))
                .toList()) {
            if (looked.identity != null) {
                files.add(looked.identity);
            } else if (looked.refusal != null) {
                refusals.add(looked.refusal);
            }
        }
        List<SourceArray> arrays = new ArrayList<>();
        if (refusals.isEmpty()) {
            if (files.isEmpty()) {
                throw ColumnScan.nothing(path, 0, walk.hidden(), "name a folder with files");
            }
            arrays.add(values(dataset, files));
            addOffsets(dataset, files, arrays);
            addNames(dataset, walk.files(), files.subList(0, 1), arrays);
        }
        return ColumnScan.source(new Source(dataset, path, arrays, 0, walk.hidden()), refusals);
    }

    private static SourceArray values(String dataset, List<SourceIdentity> files) {
        List<ArrayData> contents = new ArrayList<>(files.size());
        long byteSize = 0;
        for (SourceIdentity file : files) {
            contents.add(new FileData(new FileRegion(file.file(), 0, file.byteSize()), false));
            byteSize = ByteSums.add(byteSize, file.byteSize());
        }
        return new SourceArray(
                new ArrayName(dataset, ColumnPart.BYTES_VALUES.arrayName(FILES)),
                NpyHeader.of(Dtype.parse("|u1"), Order.C, byteSize),
                new JoinedData(contents),
                files,
                ColumnPart.BYTES_VALUES);
    }

    private static void addOffsets(String dataset, List<SourceIdentity> files, List<SourceArray> arrays) {
        RowOffsets offsets = new RowOffsets();
        files.forEach(file -> offsets.add(file.byteSize()));
        arrays.addAll(ColumnScan.arrays(dataset, FILES, offsets, files.subList(0, 1)));
    }

    private static void addNames(
            String dataset, List<FileWalk.Found> files, List<SourceIdentity> first, List<SourceArray> arrays) {
        StringsBuilder names = new StringsBuilder();
        TextIndexBuilder index = new TextIndexBuilder();
        try {
            for (FileWalk.Found file : files) {
                names.add(file.name());
                index.add(file.name(), index.size());
            }
            arrays.addAll(ColumnScan.arrays(dataset, NAMES, names, first));
            arrays.addAll(ColumnScan.arrays(dataset, INDEX, index, first));
        } catch (RuntimeException | Error e) {
            names.close();
            index.close();
            arrays.forEach(SourceArray::release);
            throw e;
        }
    }
}
