package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.protocol.LoadOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes columns of texts, or indices, of text files: one file, or those of a folder, each with a level of its own. */
final class TextScan {
    private TextScan() {}

    static Source of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        FileWalk walk = FileWalk.of(path);
        List<LarderException> refusals = new ArrayList<>(walk.refusals());
        List<SourceArray> arrays = new ArrayList<>();
        boolean isAlone = walk.files().size() == 1 && walk.files().get(0).path().equals(path);
        int skipped = 0;
        for (FileWalk.Found file : walk.files()) {
            TextKind kind = TextKind.of(file.name());
            if (kind == null && !isAlone) {
                skipped++;
                continue;
            }
            try {
                TextKind known = TextKind.require(kind, file.path());
                String prefix = isAlone ? "" : TextKind.stem(file.name()) + "/";
                TextFile text = new TextFile(file.path(), known, settings.isCancelled());
                arrays.addAll(read(dataset, prefix, text, options));
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
        return ColumnScan.source(new Source(dataset, path, arrays, skipped, walk.hidden()), refusals);
    }

    private static List<SourceArray> read(String dataset, String prefix, TextFile text, SourceOptions options) {
        Path file = text.path();
        SourceIdentity identity = SourceIdentity.of(file);
        CellSink sink =
                options.as() == LoadOptions.As.INDEX ? new IndexSink(options.keys()) : new StringsSink(options.keys());
        try {
            text.read(sink);
            List<SourceArray> arrays = sink.arrays(dataset, prefix, file, List.of(identity));
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
