package dev.larder.server.source.scan;

import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.reader.Selection;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
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
import org.jspecify.annotations.Nullable;

/** Makes columns of texts, or indices, of text files: one file, or those of a folder, each with a level of its own. */
final class TextFiles implements Format {
    @Override
    public @Nullable String kindOf(String fileName) {
        return TextKind.of(fileName) == null ? null : "texts";
    }

    @Override
    public void look(FileTable files, Findings found) {
        for (int i = 0; i < files.size(); i++) {
            int number = i;
            found.refusing(() -> read(files, number, found));
        }
        found.read(files.size());
        if (found.arrays().isEmpty() && found.isSound()) {
            throw found.nothing("files of these kinds are read: " + TextKind.ALL);
        }
    }

    private static void read(FileTable files, int index, Findings found) {
        String name = files.name(index);
        String prefix = found.listing().isFolder() ? Selection.storedName(TextKind.stem(name)) + "/" : "";
        TextFile text = new TextFile(files.path(index), found.settings().isCancelled());
        found.addAll(read(found.dataset(), prefix, text, found.options(), found.memory()));
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
                arrays.add(new SourceArray(name, array.header(), ArrayData.of(array), List.of(identity), part));
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
