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
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The columns of Arrow files that follow each other. Not thread-safe; owns the memory of its arrays until they are taken. */
public final class ArrowTable implements AutoCloseable {
    private static final int MOST_SUGGESTED = 20;

    /** For each, the fields before it are passed over once more. */
    private static final int MOST_UNFIT = 1_000;

    private final Selection.Table search;
    private final FieldChoice choice;
    private final ScanSettings settings;
    private final ColumnFactory factory;
    private final Map<String, Column> columns = new LinkedHashMap<>();
    private @Nullable SourceIdentity first;
    private @Nullable UnpackedFiles unpacked;
    private long rows;

    /** A column, and the field of the first file that it was made of. */
    private record Column(ArrowColumn data, ArrowField field) {}

    private ArrowTable(Selection.Table search, ScanSettings settings) {
        this.search = search;
        this.choice = new FieldChoice(search);
        this.settings = settings;
        this.factory = new ColumnFactory(choice, settings.memory());
    }

    /**
     * Reads the headers of files, and proves all that they say. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} where a file is
     * malformed or differs from the first one, or has a column of a type that no array can have.
     *
     * @param files one at least
     * @param search says which columns to take, and takes note of those that are there; none may be taken
     * @param features what is known of the columns where the files themselves say nothing
     * @return what was found; the caller closes it
     */
    public static ArrowTable read(
            List<SourceIdentity> files, Selection.Table search, Features features, ScanSettings settings) {
        try {
            return read(files, search, features, settings, List.of());
        } catch (PackedFound e) {
            return readPacked(files, search, features, settings);
        }
    }

    /** Ends the reading of files whose buffers have to be unpacked first. */
    private static final class PackedFound extends RuntimeException {
        private static final long serialVersionUID = 1;

        PackedFound() {
            super("buffers are packed", null, false, false);
        }
    }

    private static ArrowTable read(
            List<SourceIdentity> files,
            Selection.Table search,
            Features features,
            ScanSettings settings,
            List<UnpackedBuffers> buffers) {
        ArrowTable table = new ArrowTable(search, settings);
        try {
            for (int i = 0; i < files.size(); i++) {
                table.read(files.get(i), features, buffers.isEmpty() ? null : buffers.get(i));
                settings.onChecked().accept(1);
            }
            return table;
        } catch (RuntimeException | Error e) {
            table.close();
            throw e;
        }
    }

    /** Goes through all headers for what is packed, has a reader unpack it, and reads the table then. */
    private static ArrowTable readPacked(
            List<SourceIdentity> files, Selection.Table search, Features features, ScanSettings settings) {
        List<UnpackedBuffers> buffers = new ArrayList<>();
        List<String> words = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) {
            try (ArrowFile file = ArrowFile.open(files.get(i))) {
                UnpackedBuffers its = new UnpackedBuffers(i, file, new FieldChoice(search), words);
                ArrowMessages.read(file, its, settings.isCancelled());
                its.sort();
                buffers.add(its);
            }
        }
        UnpackedFiles unpacked = words.isEmpty() ? null : UnpackedFiles.ofStretches(files, words, settings);
        try {
            if (unpacked != null) {
                buffers.forEach(its -> its.open(unpacked));
            }
            ArrowTable table = read(files, search, features, settings, buffers);
            table.unpacked = unpacked;
            return table;
        } catch (RuntimeException | Error e) {
            if (unpacked != null) {
                unpacked.close();
            }
            throw e;
        } finally {
            buffers.forEach(UnpackedBuffers::close);
        }
    }

    private void read(SourceIdentity identity, Features features, @Nullable UnpackedBuffers buffers) {
        try (ArrowFile file = ArrowFile.open(identity, identity.file(), buffers)) {
            Reading reading = new Reading(file, features);
            ArrowMessages.read(file, reading, settings.isCancelled());
            reading.requireNoneRefused();
        }
        identity.requireUnchanged();
        first = first == null ? identity : first;
    }

    /** Returns the rows of all files. */
    public long rows() {
        return rows;
    }

    /** Returns the names of classes, by the names of the columns whose numbers stand for them. */
    public Map<String, List<String>> labels() {
        return factory.labels();
    }

    /** Returns the arrays, under names below one level; the memory of what was built belongs to them from now on. */
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

    /** Goes through one file. */
    private final class Reading implements ArrowMessages.Visitor {
        private final ArrowFile file;
        private final Features fallback;
        private List<ArrowField> fields = List.of();
        private final List<@Nullable ArrowColumn> found = new ArrayList<>();

        /** Columns that no array holds, with the reasons. The others are read, so that the refusal can name those that load. */
        private final List<String> refused = new ArrayList<>();

        private final Set<String> unfit = new HashSet<>();

        Reading(ArrowFile file, Features fallback) {
            this.file = file;
            this.fallback = fallback;
        }

        @Override
        public void schema(ArrowSchema schema) {
            fields = schema.fields();
            if (first == null) {
                Features said = Features.ofMetadata(schema.huggingFace());
                makeColumns(said.isEmpty() ? fallback : said);
            }
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
                    throw other("column " + name + " is of type "
                            + fields.get(i).words() + ", or made of others, and that of " + name(first) + " of "
                            + column.field.words());
                }
                column.data.enter(fields.get(i));
            }
            if (!missing.isEmpty()) {
                throw other("it has no columns " + missing + ", and " + name(first) + " has");
            }
        }

        private String nameOf(int index) {
            return ColumnArrays.cleanName(fields.get(index).name(), "column" + index);
        }

        private String name(@Nullable SourceIdentity identity) {
            return identity == null
                    ? "the first file"
                    : String.valueOf(identity.file().getFileName());
        }

        private RuntimeException other(String reason) {
            return Refusal.unfit(
                    file.identity().file(),
                    reason,
                    "choose columns that all files have, with --columns, or load the files one by one");
        }

        private void makeColumns(Features features) {
            for (int i = 0; i < fields.size(); i++) {
                String name = nameOf(i);
                choice.note(name, fields.get(i));
                if (!choice.takes(name, fields.get(i)) || columns.containsKey(name)) {
                    continue; // a name that comes twice is refused below
                }
                ArrowColumn column = factory.column(
                        name, fields.get(i), features.of(fields.get(i).name()), null);
                if (column == null) {
                    refused.add(name + " (" + String.join(", ", factory.takeRefused()) + ")");
                } else {
                    columns.put(name, new Column(column, fields.get(i)));
                }
            }
            if (columns.isEmpty() && refused.isEmpty() && search.isForAll()) {
                throw Refusal.unfit(
                        file.identity().file(), "it has no columns", "remove it, or leave it out with --exclude");
            }
        }

        @Override
        public void dictionary(long id, boolean isMore, BatchCursor words) {
            requireReadable(words);
            List<CodesColumn> its =
                    factory.codes().stream().filter(column -> column.id() == id).toList();
            for (CodesColumn column : its) {
                try {
                    column.takeWords(words.again(), isMore);
                } catch (ArrowColumn.Unfit e) {
                    refuse(e);
                }
            }
        }

        /** Refuses the column that a dictionary belongs to, once. */
        private void refuse(ArrowColumn.Unfit refusal) {
            int field = IntStream.range(0, fields.size())
                    .filter(i -> refusal.isOf(nameOf(i)))
                    .boxed()
                    .max(Comparator.comparing(i -> nameOf(i).length()))
                    .orElseThrow(() -> refusal);
            if (found.get(field) != null) {
                refuse(field, refusal);
            }
        }

        private void refuse(int field, ArrowColumn.Unfit refusal) {
            String name = nameOf(field);
            refused.add(name + " (" + refusal.within(name) + ")");
            unfit.add(name);
            found.set(field, null);
            if (unfit.size() == MOST_UNFIT) {
                requireNoneRefused();
            }
        }

        private void requireReadable(BatchCursor batch) {
            if (batch.codec() != null && !columns.isEmpty()) {
                requireNoneRefused(); // before a reader unpacks what is of no use
                throw new PackedFound();
            }
        }

        @Override
        public void batch(BatchCursor batch) {
            requireReadable(batch);
            long length = batch.length();
            BatchCursor cursor = batch;
            for (int i = 0; i < fields.size(); i++) {
                ArrowColumn column = found.get(i);
                cursor.requireNextRows(length);
                if (column == null) {
                    cursor.skip(fields.get(i));
                } else {
                    try {
                        column.take(cursor, 0, length);
                    } catch (ArrowColumn.Unfit e) {
                        refuse(i, e);
                        cursor = behind(batch, i);
                    }
                }
            }
            rows = Math.addExact(rows, length);
        }

        /** Returns a cursor that stands behind a field. */
        private BatchCursor behind(BatchCursor batch, int last) {
            BatchCursor again = batch.again();
            for (int i = 0; i <= last; i++) {
                again.skip(fields.get(i));
            }
            return again;
        }

        /** Refuses a file if it has columns that no array holds. */
        void requireNoneRefused() {
            if (refused.isEmpty()) {
                return;
            }
            String rest = columns.keySet().stream()
                    .filter(name -> !unfit.contains(name))
                    .limit(MOST_SUGGESTED)
                    .collect(Collectors.joining(","));
            throw Refusal.unfit(
                    file.identity().file(),
                    "no array can hold these columns: " + Refusal.shown(refused),
                    rest.isEmpty()
                            ? "convert them with pyarrow, or load the file --as bytes"
                            : "load the others with --columns " + rest + ", or convert them with pyarrow");
        }
    }
}
