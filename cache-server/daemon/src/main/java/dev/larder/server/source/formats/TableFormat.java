package dev.larder.server.source.formats;

import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ArrayKeys;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.WantedType;
import dev.larder.server.source.text.CellSink;
import dev.larder.server.source.text.MatrixSink;
import dev.larder.server.source.text.NumberFormat;
import dev.larder.server.source.text.NumbersSink;
import dev.larder.server.source.text.TextFile;
import java.util.ArrayList;
import java.util.List;

/** Tables as text, with commas or tabs between the fields. Only the end of a table decides on shapes and types, so it is read once. */
final class TableFormat implements SourceFormat {
    @Override
    public List<SourceArray> arrays(DiscoveredFile file, SourceProbe probe) {
        SourceOptions options = probe.options();
        ColumnMemory memory = probe.settings().memory();
        CellSink sink = options.dtype().isEmpty()
                ? new NumbersSink(
                        memory, new ArrayKeys(options.keys())::mayChoose, names -> probe.choose(file, names)::contains)
                : new MatrixSink(wanted(file, options), memory);
        try {
            new TextFile(file.path(), probe.settings().isCancelled()).read(sink);
            List<SourceArray> arrays = new ArrayList<>();
            for (ColumnArray array : sink.arrays(file.path())) {
                ColumnPart part = ColumnPart.valueOf(array.part());
                arrays.add(probe.array(file, array.name(), array.header(), ArrayData.of(array), part));
            }
            return arrays;
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
                    file.path(), "the shape of a table is that of its rows and columns", "load it without --shape");
        }
        return new NumberFormat(dtype);
    }
}
