package dev.larder.loader.internal.field;

import dev.larder.client.Column;
import dev.larder.client.Dataset;
import dev.larder.client.StringsColumn;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.loader.internal.slot.Collation;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.PipelineStage;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The source of batches: fields of one or more dataset versions with matching rows.
 *
 * @param fields the readers of the fields in the order of {@code specs}, followed by the {@link Collator}, if any
 * @param firstSamples the first sample of each concatenated dataset, followed by the total number of samples
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record LoaderSource(SourceData data, List<FieldSpec> specs, List<FieldReader> fields, long[] firstSamples) {
    /**
     * Opens the given fields, or the rows of every array if none is given.
     *
     * @param devices decides which steps kernels do; null if the host does all steps
     */
    public static LoaderSource of(
            SourceData data,
            List<FieldSpec> named,
            @Nullable Collation collation,
            long seed,
            Duration timeout,
            @Nullable DeviceFields devices) {
        List<FieldSpec> wanted = wanted(data, named);
        if (wanted.isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "dataset has no arrays")
                    .with("dataset", data.name())
                    .exception();
        }
        requireGroupsDrawAlike(wanted);
        data.requireSameKeys();
        FieldOpener opener = new FieldOpener(data, wanted, seed, timeout, devices);
        try {
            List<FieldReader> readers = new ArrayList<>();
            for (FieldSpec field : wanted) {
                readers.add(opener.open(field));
            }
            if (collation != null) {
                readers.add(opener.open(collation, seed));
            }
            LoaderSource source = new LoaderSource(data, wanted, List.copyOf(readers), opener.firstSamples());
            source.requireDifferentNames();
            return source;
        } catch (RuntimeException | Error e) {
            opener.close();
            throw e;
        }
    }

    /** Returns the named fields, or one for every array if none is named. */
    public static List<FieldSpec> wanted(SourceData data, List<FieldSpec> named) {
        if (!named.isEmpty()) {
            return named;
        }
        if (data.joins() == SourceData.Joins.CONCAT) {
            return arrays(data.datasets().get(0)).toList();
        }
        return data.datasets().stream()
                .flatMap(dataset -> arrays(dataset).map(field -> field.with(draft -> draft.dataset = dataset.name())))
                .toList();
    }

    private static Stream<FieldSpec> arrays(Dataset dataset) {
        return dataset.arrayNames().stream().map(name -> FieldSpec.of(name, FieldSpec.Form.ROWS));
    }

    /** Returns the collator, which changes whole batches. */
    public @Nullable Collator collator() {
        return fields.get(fields.size() - 1) instanceof Collator collator ? collator : null;
    }

    /** Returns the number of samples. */
    public long rows() {
        return firstSamples[firstSamples.length - 1];
    }

    /** Returns the number of samples in each concatenated dataset. */
    public long[] samplesOfDatasets() {
        long[] counts = new long[firstSamples.length - 1];
        Arrays.setAll(counts, i -> firstSamples[i + 1] - firstSamples[i]);
        return counts;
    }

    /** Adds the origin of a sample's row to a failure: its file, and its dataset and row if there are several datasets. */
    public void describeSample(Failure failure, FieldReader field, HostSlot slot, int sample) {
        List<Dataset> datasets = data.of(specs.get(field.field()));
        int part = 0;
        if (data.isConcatenated()) {
            long number = slot.rows[sample];
            part = RowLookup.part(firstSamples, number);
            failure.with("of", datasets.get(part).name()).with("row", number - firstSamples[part]);
        }
        long row;
        try {
            row = field.row(slot, sample);
        } catch (RuntimeException e) { // the lookup itself has failed
            return;
        }
        RowOrigin.describe(failure, datasets.get(part), field.column(), row);
    }

    private static void requireGroupsDrawAlike(List<FieldSpec> fields) {
        Map<String, FieldSpec> firsts = new HashMap<>();
        for (FieldSpec field : fields) {
            FieldSpec first = field.group().isEmpty() ? field : firsts.computeIfAbsent(field.group(), group -> field);
            if (!first.randomMoves().equals(field.randomMoves())) {
                throw new IllegalArgumentException(
                        "fields of a group differ in their random steps: group=" + field.group()
                                + " " + first.name() + "=" + first.randomMoves()
                                + " " + field.name() + "=" + field.randomMoves()
                                + "; give each the same random crops and flips in the same order");
            }
        }
    }

    private void requireDifferentNames() {
        Set<String> seen = new LinkedHashSet<>();
        for (OutputArray array : arrays()) {
            if (!seen.add(array.name())) {
                throw new IllegalArgumentException(
                        "an array of a batch is named twice, use as(…): array=" + array.name());
            }
        }
    }

    /** Returns the arrays that every batch has. */
    public List<OutputArray> arrays() {
        return fields.stream().flatMap(field -> field.outputs().stream()).toList();
    }

    /** Returns the approximate number of bytes read or written for one sample. */
    public long sampleByteSize() {
        return Math.max(
                fields.stream().mapToLong(FieldReader::sampleByteSize).sum(),
                arrays().stream().mapToLong(OutputArray::rowByteSize).sum());
    }

    /** Returns the files of rows that may not be in memory. */
    public List<DiskRows> disks() {
        return fields.stream().flatMap(field -> field.disks().stream()).toList();
    }

    /** Adds the file of a read that hangs to a failure, if there is one. */
    public Failure describeReads(Failure failure) {
        disks().forEach(disk -> disk.describeHanging(failure));
        return failure;
    }

    /** Returns the remedy if no batch is ready in time: the parts to check. */
    public String whatToCheck() {
        return disks().stream().anyMatch(DiskRows::isHanging)
                ? "check the disk or the server of the file that is being read"
                : "check the sampler, the transforms and the machine's load";
    }

    /** Closes the files of rows. No thread may read them any more; the garbage collector closes them otherwise. */
    public void closeFiles() {
        disks().forEach(DiskRows::close);
    }

    /** Returns whether filling in samples runs user code, which may take any time. */
    public boolean runsUserCode() {
        return fields.stream().anyMatch(FieldReader::runsUserCode);
    }

    /** Returns the image decoder and a fingerprint of its results, or an empty text if no field is decoded. */
    public String decoder() {
        return fields.stream()
                .map(FieldReader::decoder)
                .filter(Objects::nonNull)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /** Starts a failure that names the dataset. */
    public Failure failure(ErrorCode code, String what) {
        return data.failure(code, what);
    }

    /** Starts the failure of a stage. Its error code is that of the cause, or follows from the type of the cause. */
    public Failure failure(String what, PipelineStage stage, @Nullable Throwable cause) {
        Failure failure = failure(code(cause), what)
                .with("stage", stage)
                .with("thread", Thread.currentThread().getName());
        return cause == null
                ? failure
                : failure.with("cause", cause instanceof LarderException known ? known.getMessage() : cause)
                        .cause(cause);
    }

    private static ErrorCode code(@Nullable Throwable cause) {
        if (cause instanceof LarderException known) {
            return known.code();
        }
        if (cause instanceof IllegalStateException) {
            return ErrorCode.REFUSED;
        }
        return cause == null || cause instanceof IndexOutOfBoundsException ? ErrorCode.BAD_INPUT : ErrorCode.UNEXPECTED;
    }

    /**
     * Finds the origin of a row for failures: the row's own name, and its file if that is certain. A wrong file is
     * worse than none, because a user may remove it.
     */
    private static final class RowOrigin {
        private static final Pattern LINE =
                Pattern.compile("^\\{\"array\":\"([^\"]*)\",\"path\":\"((?:[^\"\\\\]|\\\\.)*)\".*");
        private static final Pattern ORIGINS = Pattern.compile("^\"origins\": \\[\"((?:[^\"\\\\]|\\\\.)*)\"],$");

        private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u([0-9a-f]{4})|(.))");

        private final Dataset dataset;
        private final String column;
        private final Map<String, Set<String>> sourcesOfArrays = new TreeMap<>();
        private final Set<String> all = new LinkedHashSet<>();
        private @Nullable String origin;

        private RowOrigin(Dataset dataset, String column) {
            this.dataset = dataset;
            this.column = column;
        }

        /** Adds the row's name and its source to a failure, if they are known. */
        static void describe(Failure failure, Dataset dataset, String column, long row) {
            RowOrigin origin = new RowOrigin(dataset, column);
            String name = origin.addName(failure, row);
            try (Stream<String> lines = Files.lines(dataset.stored().folder().resolve(StoreLayout.MANIFEST))) {
                lines.forEach(origin::read); // one line for each source, see FORMAT.md
            } catch (IOException | RuntimeException e) {
                return; // the version may have been retired; the failure has all other facts
            }
            String source = origin.source(name);
            if (source != null) {
                failure.with("source", source);
            }
        }

        private @Nullable String addName(Failure failure, long row) {
            String folder = column.substring(0, column.lastIndexOf('/') + 1);
            for (Naming naming : List.of(
                    new Naming(column + "/names", "file"),
                    new Naming(folder + "path", "file"), // of a folder of images
                    new Naming(folder + "keys", "key"))) { // of archives of samples
                String name = name(naming.texts, row);
                if (name != null) {
                    failure.with(naming.fact, name);
                    return name;
                }
            }
            return null;
        }

        /** A column of texts that names rows, and the key of its text in failures. */
        private record Naming(String texts, String fact) {}

        private @Nullable String name(String texts, long row) {
            boolean isThere = dataset.columns().contains(new Column(texts, Column.Kind.STRINGS));
            StringsColumn names = isThere ? dataset.strings(texts) : null;
            return names == null || row < 0 || row >= names.rows() ? null : names.get(row);
        }

        private void read(String line) {
            Matcher source = LINE.matcher(line);
            if (source.matches()) {
                String path = unescaped(source.group(2));
                all.add(path);
                sourcesOfArrays
                        .computeIfAbsent(source.group(1), array -> new LinkedHashSet<>())
                        .add(path);
                return;
            }
            Matcher only = ORIGINS.matcher(line);
            if (only.matches()) {
                origin = unescaped(only.group(1));
            }
        }

        private static String unescaped(String text) {
            return ESCAPE.matcher(text)
                    .replaceAll(escape -> Matcher.quoteReplacement(
                            escape.group(1) == null
                                    ? escape.group(2)
                                    : Character.toString(Integer.parseInt(escape.group(1), 16))));
        }

        /** Returns the row's file if only one matches, otherwise the loaded path, which is usually a folder. */
        private @Nullable String source(@Nullable String name) {
            List<String> named = name == null
                    ? List.of()
                    : all.stream().filter(path -> path.endsWith("/" + name)).toList();
            if (named.size() == 1) {
                return named.get(0);
            }
            Set<String> own = new LinkedHashSet<>();
            sourcesOfArrays.forEach((array, paths) -> {
                if (array.equals(column) || array.startsWith(column + "/")) {
                    own.addAll(paths);
                }
            });
            return own.size() == 1 && isOnlySource(own) ? own.iterator().next() : origin;
        }

        /** Returns whether every array with this file has no other file: an array may list only the first of its files. */
        private boolean isOnlySource(Set<String> own) {
            return sourcesOfArrays.values().stream().noneMatch(paths -> paths.size() > 1 && paths.containsAll(own));
        }
    }
}
