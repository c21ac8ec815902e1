package dev.larder.server.source.formats;

import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.server.source.ArrayKeys;
import dev.larder.server.source.BuiltData;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceProbe;
import dev.larder.server.source.WantedType;
import dev.larder.server.source.text.CellSink;
import dev.larder.server.source.text.MatrixSink;
import dev.larder.server.source.text.NumberFormat;
import dev.larder.server.source.text.NumbersSink;
import dev.larder.server.source.text.TextFile;
import dev.larder.server.source.text.TextKind;
import java.util.List;

/** Tables as text, with commas or tabs between the fields. A table is read once, as only its end decides about shapes and types. */
final class TableFormat implements SourceFormat {
    @Override
    public List<Member> members(DiscoveredFile file, SourceProbe probe, SourceOptions options) {
        ColumnMemory memory = probe.settings().memory();
        CellSink sink = options.dtype().isEmpty()
                ? new NumbersSink(
                        memory,
                        new ArrayKeys(options.keys())::mayChoose,
                        names -> probe.choose(file, options, names)::contains)
                : new MatrixSink(wanted(file, options), memory);
        try {
            TextKind kind = TextKind.require(TextKind.of(file.fileName()), file.path());
            new TextFile(file.path(), kind, probe.settings().isCancelled()).read(sink);
            return sink.arrays(file.path()).stream()
                    .map(array -> new Member(
                            array.name(), array.header(), new BuiltData(array), ColumnPart.valueOf(array.part())))
                    .toList();
        } catch (RuntimeException | Error e) {
            sink.close();
            throw e;
        }
    }

    private static NumberFormat wanted(DiscoveredFile file, SourceOptions options) {
        Dtype dtype = WantedType.dtype(options.dtype());
        if (!NumberFormat.isNumeric(dtype)) {
            throw Refusal.of(file.path(), 0, "a table of numbers cannot become elements of " + dtype);
        } else if (!options.shape().isEmpty()) {
            throw Refusal.unfit(
                    file.path(), "a table says its shape itself: its rows and columns", "load it without --shape");
        }
        return new NumberFormat(dtype);
    }
}
