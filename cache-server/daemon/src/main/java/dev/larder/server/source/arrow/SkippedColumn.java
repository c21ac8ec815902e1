package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;

/** A part of a struct that is not wanted: passed over, and not even checked. */
final class SkippedColumn extends ArrowColumn {
    private ArrowField field;

    SkippedColumn(ArrowField field) {
        this.field = field;
    }

    @Override
    void enter(ArrowField its) {
        field = its;
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        batch.skip(field);
    }

    @Override
    void addArrays(FoundArrays arrays) {}
}
