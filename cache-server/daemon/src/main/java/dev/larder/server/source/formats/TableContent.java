package dev.larder.server.source.formats;

import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.lang.ref.SoftReference;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The numbers of a file, kept from the check for the copy if it is large, read once more if it is small. Thread-safe. */
final class TableContent {
    private final DiscoveredFile file;
    private final @Nullable NumberFormat wanted;
    private final @Nullable NumberTable kept;
    private final LongConsumer beforeSpill;
    private final long rows;

    /** What was read again of a small table: each of its columns asks for it. */
    private SoftReference<@Nullable NumberTable> again = new SoftReference<>(null);

    /** Takes over a table that has been read. */
    TableContent(DiscoveredFile file, @Nullable NumberFormat wanted, NumberTable table, LongConsumer beforeSpill) {
        this.beforeSpill = beforeSpill;
        this.file = file;
        this.wanted = wanted;
        this.rows = table.rows();
        this.kept = table.isSmall() ? null : table;
    }

    long rows() {
        return rows;
    }

    Path path() {
        return file.path();
    }

    /** Returns the numbers; they belong to this. */
    synchronized NumberTable table() {
        NumberTable known = kept == null ? again.get() : kept;
        if (known != null) {
            return known;
        }
        try {
            NumberTable read = TableFormat.read(file, wanted, beforeSpill);
            if (read.rows() != rows) {
                throw Refusal.changed(file.path());
            }
            again = new SoftReference<>(read);
            return read;
        } catch (IOException e) {
            throw Refusal.unreadable(file.path(), 0, e);
        }
    }

    /** Frees what is kept. Idempotent. */
    void release() {
        if (kept != null) {
            kept.close();
        }
    }
}
