package dev.larder.server.source.formats;

import dev.larder.server.source.ArrayData;
import java.nio.channels.ReadableByteChannel;

/**
 * Some columns of a table.
 *
 * @param content where the numbers are
 * @param group which columns
 * @param format what they become
 */
record TableData(TableContent content, ColumnGroups.Group group, NumberFormat format) implements ArrayData {
    @Override
    public ReadableByteChannel open() {
        return new TableChannel(content.path(), content.table(), group, format);
    }

    @Override
    public void release() {
        content.release();
    }
}
