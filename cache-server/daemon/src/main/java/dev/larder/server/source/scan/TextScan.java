package dev.larder.server.source.scan;

import dev.larder.column.ColumnArray;
import dev.larder.column.ColumnMemory;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.reader.WantedColumns;
import dev.larder.server.source.BuiltData;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.text.CellSink;
import dev.larder.server.source.text.TextColumns;
import dev.larder.server.source.text.TextFile;
import dev.larder.server.source.text.TextKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes columns of texts, or indices, of text files: one file, or those of a folder, each with a level of its own. */
final class TextScan {
    private TextScan() {}

    static ScannedSource of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        FileWalk walk = FileWalk.of(path, options, settings);
        List<LarderException> refusals = walk.refusals();
        List<SourceArray> arrays = new ArrayList<>();
        FileTable files = walk.files();
        boolean isAlone = files.size() == 1 && files.path(0).equals(path);
        int skipped = 0;
        for (int i = 0; i < files.size(); i++) {
            String name = files.name(i);
            TextKind kind = TextKind.of(name);
            if (kind == null && !isAlone) {
                skipped++;
                continue;
            }
            try {
                TextKind known = TextKind.require(kind, files.path(i));
                String prefix = isAlone ? "" : WantedColumns.storedName(TextKind.stem(name)) + "/";
                TextFile text = new TextFile(files.path(i), known, settings.isCancelled());
                arrays.addAll(read(dataset, prefix, text, options, settings.memory()));
            } catch (RuntimeException | Error e) {
                if (!(e instanceof LarderException refusal) || refusal.code() != ErrorCode.BAD_INPUT) {
                    arrays.forEach(SourceArray::release);
                    throw e;
                }
                refusals.add(refusal);
            }
        }
        if (arrays.isEmpty() && refusals.isEmpty()) {
            throw ColumnScan.nothing(path, skipped, walk.hidden(), "files of these kinds are read: " + TextKind.ALL);
        }
        return ColumnScan.source(new ScannedSource(dataset, path, arrays, skipped, walk.hidden()), refusals);
    }

    private static List<SourceArray> read(
            String dataset, String prefix, TextFile text, SourceOptions options, ColumnMemory memory) {
        Path file = text.path();
        SourceIdentity identity = SourceIdentity.of(file);
        List<String> wanted = text.kind().columns(options.keys());
        CellSink sink = new TextColumns(wanted, options.as() == LoadOptions.As.INDEX, memory);
        try {
            text.read(sink);
            List<SourceArray> arrays = new ArrayList<>();
            for (ColumnArray array : sink.arrays(file)) {
                ColumnPart part = ColumnPart.valueOf(array.part());
                ColumnArrays.requireName(file, prefix + part.columnName(array.name()));
                ArrayName name = new ArrayName(dataset, prefix + array.name());
                arrays.add(new SourceArray(name, array.header(), new BuiltData(array), List.of(identity), part));
            }
            if (arrays.isEmpty()) {
                throw Refusal.of(file, 0, "it has no columns");
            }
            identity.requireUnchanged();
            return arrays;
        } catch (RuntimeException | Error e) {
            sink.close();
            throw e;
        }
    }
}
