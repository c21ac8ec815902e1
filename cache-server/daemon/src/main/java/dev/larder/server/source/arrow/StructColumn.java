package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import java.util.List;

/** Structs: each of their fields is a column of its own. */
final class StructColumn extends ArrowColumn {
    private final Nulls nulls;
    private final List<ArrowColumn> fields;

    /** Starts without rows; the fields know of these nulls. */
    StructColumn(Nulls nulls, List<ArrowColumn> fields) {
        this.nulls = nulls;
        this.fields = List.copyOf(fields);
    }

    @Override
    void enter(ArrowField field) {
        for (int i = 0; i < fields.size(); i++) {
            fields.get(i).enter(field.children().get(i));
        }
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        fields.forEach(field -> field.take(batch, from, to));
    }

    @Override
    void addArrays(FoundArrays arrays) {
        fields.forEach(field -> field.addArrays(arrays));
    }

    @Override
    public void close() {
        fields.forEach(ArrowColumn::close);
    }
}
