package dev.larder.server.source.arrow;

import dev.larder.internal.layout.Names;
import dev.larder.reader.Selection;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowSchema;
import dev.larder.server.reader.UnpackedFiles;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The columns of a table, which one or more Arrow files contain. Not thread-safe; owns the memory of its arrays until they are taken. */
public final class ArrowTable implements AutoCloseable {
    private static final int MOST_SUGGESTED = 20;

    private final Selection.Table search;
    private final Features fallback;
    private final boolean hasDoubles;
    private final ScanSettings settings;
    private final ColumnFactory factory;
    private final Map<String, Column> columns = new LinkedHashMap<>();
    private @Nullable SourceIdentity first;
    private @Nullable UnpackedFiles unpacked;
    private long rows;

    /** A column, and its field in the first file. */
    private record Column(FieldColumn data, ArrowField field) {}

    private ArrowTable(Selection.Table search, Features fallback, boolean hasDoubles, ScanSettings settings) {
        this.search = search;
        this.fallback = fallback;
        this.hasDoubles = hasDoubles;
        this.settings = settings;
        this.factory = new ColumnFactory(search, settings.memory());
    }

    /**
     * Reads and checks the headers of files. If buffers are compressed, a reader decompresses them, and the headers are read once more.
     * Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if a file is malformed or differs from the first one, or if no array can
     * hold the type of a column.
     *
     * @param files one at least
     * @param search the columns to take; notes those that exist
     * @param features the description of columns if the files have none
     * @param hasDoubles whether decimals become doubles, not integers
     * @return the table; the caller closes it
     */
    public static ArrowTable read(
            List<SourceIdentity> files,
            Selection.Table search,
            Features features,
            boolean hasDoubles,
            ScanSettings settings) {
        List<String> stretches = new ArrayList<>();
        List<PackedBuffers> packed = IntStream.range(0, files.size())
                .mapToObj(number -> new PackedBuffers(number, stretches))
                .toList();
        ArrowTable table = new ArrowTable(search, features, hasDoubles, settings);
        table.walk(files, packed);
        if (packed.stream().noneMatch(PackedBuffers::isFound)) {
            return table;
        }
        table.close();
        packed.forEach(PackedBuffers::complete);
        ArrowTable whole = new ArrowTable(search, features, hasDoubles, settings);
        whole.unpacked = stretches.isEmpty() ? null : UnpackedFiles.ofStretches(files, stretches, settings);
        whole.walk(files, packed);
        return whole;
    }

    /** Reads all files; closes the table if that fails. */
    private void walk(List<SourceIdentity> files, List<PackedBuffers> packed) {
        try {
            for (int i = 0; i < files.size(); i++) {
                read(files.get(i), packed.get(i));
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private void read(SourceIdentity identity, PackedBuffers packed) {
        try (ArrowFile file = ArrowFile.open(identity);
                PackedBuffers its = packed) {
            if (its.isComplete()) {
                its.open(file, unpacked);
            }
            Reading reading = new Reading(file);
            ArrowMessages.read(file, its, reading, settings.isCancelled());
            reading.requireNoneRefused();
        }
        identity.requireUnchanged();
        settings.onChecked().accept(packed.isComplete() ? 0 : 1);
        first = first == null ? identity : first;
    }

    /** Returns the rows of all files. */
    public long rows() {
        return rows;
    }

    /** Returns the names of classes by the columns of their numbers. */
    public Map<String, List<String>> labels() {
        return factory.labels();
    }

    /** Returns the arrays, under names below one level; they own their memory from then on. */
    public List<SourceArray> arrays(String dataset, String level, List<SourceIdentity> files) {
        FoundArrays arrays = new FoundArrays(dataset, level, files, settings.memory());
        try {
            columns.values().forEach(column -> column.data.addArrays(arrays));
            UnpackedFiles owned = unpacked;
            if (owned == null || arrays.all().isEmpty()) {
                return arrays.all();
            }
            unpacked = null;
            return arrays.all().stream()
                    .map(array -> array.withData(array.header(), owned.owning(array.data(), files.get(0))))
                    .toList();
        } catch (RuntimeException | Error e) {
            arrays.release();
            throw e;
        }
    }

    @Override
    public void close() {
        columns.values().forEach(column -> column.data.close());
        UnpackedFiles owned = unpacked;
        if (owned != null) {
            owned.close();
        }
    }

    /** Reads one file. */
    private final class Reading implements ArrowMessages.Visitor {
        private final ArrowFile file;
        private List<ArrowField> fields = List.of();
        private final List<@Nullable FieldColumn> found = new ArrayList<>();

        /** Columns that no array can hold, with the reasons. The others are read, so that the refusal can name those that load. */
        private final List<String> refused = new ArrayList<>();

        Reading(ArrowFile file) {
            this.file = file;
        }

        @Override
        public void schema(ArrowSchema schema) {
            fields = hasDoubles
                    ? schema.fields().stream().map(ArrowField::withDoubles).toList()
                    : schema.fields();
            if (first == null) {
                Features described = Features.ofMetadata(schema.huggingFace());
                makeColumns(described.isEmpty() ? fallback : described);
            }
            String firstName = String.valueOf(
                    (first == null ? file.identity() : first).file().getFileName());
            Set<String> missing = new LinkedHashSet<>(columns.keySet());
            for (int i = 0; i < fields.size(); i++) {
                String name = nameOf(i);
                Column column = columns.get(name);
                found.add(column == null ? null : column.data);
                if (column == null) {
                    continue;
                } else if (!missing.remove(name)) {
                    throw file.refusal("it has two columns " + Names.printable(name));
                } else if (!column.field.fits(fields.get(i))) {
                    throw other("column " + name + " has another type, or other parts, than in " + firstName + ": "
                            + fields.get(i).words() + ", not " + column.field.words());
                }
                column.data.enter(fields.get(i));
            }
            if (!missing.isEmpty()) {
                throw other("it has no columns " + missing + ", but " + firstName + " has");
            }
        }

        private String nameOf(int index) {
            return ColumnArrays.cleanName(fields.get(index).name(), "column" + index);
        }

        private RuntimeException other(String reason) {
            return file.unread(
                    reason, "choose columns that all files have, with --columns, or load the files one by one");
        }

        private void makeColumns(Features features) {
            for (int i = 0; i < fields.size(); i++) {
                ArrowField field = fields.get(i);
                String name = nameOf(i);
                factory.note(name, field);
                if (!factory.wants(name, field) || columns.containsKey(name)) {
                    continue; // a name that comes twice is refused later
                }
                try {
                    columns.put(name, new Column(factory.column(name, field, features.of(field.name()), null), field));
                } catch (FieldColumn.Unfit e) {
                    refused.add(name + " (" + e.within(name) + ")");
                }
            }
            if (columns.isEmpty() && refused.isEmpty() && search.isForAll()) {
                throw file.unread("it has no columns", "remove it, or leave it out with --exclude");
            }
        }

        @Override
        public void dictionary(long id, boolean isMore, BatchCursor words) {
            List<CodesColumn> its =
                    factory.codes().stream().filter(column -> column.id() == id).toList();
            if (!words.isReadable() && !its.isEmpty()) {
                words.collectAll();
                return;
            }
            for (CodesColumn column : its) {
                words.again();
                column.takeWords(words, isMore);
            }
        }

        @Override
        public void batch(BatchCursor batch) {
            for (int i = 0; i < fields.size(); i++) {
                FieldColumn column = found.get(i);
                batch.begin(batch.length());
                if (column == null) {
                    batch.skip(fields.get(i));
                } else if (!batch.isReadable()) {
                    batch.collect(fields.get(i));
                } else {
                    try {
                        column.take(batch, 0, batch.length());
                    } catch (FieldColumn.Unfit e) {
                        String name = nameOf(i);
                        refused.add(name + " (" + e.within(name) + ")");
                        columns.remove(name);
                        found.set(i, null);
                        column.close();
                        batch.again();
                        batch.skip(fields.get(i));
                    }
                }
            }
            rows = Math.addExact(rows, batch.length());
        }

        /** Refuses the file if it has columns that no array can hold. */
        void requireNoneRefused() {
            if (refused.isEmpty()) {
                return;
            }
            String rest = columns.keySet().stream().limit(MOST_SUGGESTED).collect(Collectors.joining(","));
            throw file.unread(
                    "no array can hold these columns: " + Refusal.shown(refused),
                    rest.isEmpty()
                            ? "convert them with pyarrow, or load the file --as bytes"
                            : "load the others with --columns " + rest + ", or convert them with pyarrow");
        }
    }
}
