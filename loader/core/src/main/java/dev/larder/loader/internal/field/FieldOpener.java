package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.Collation;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.transform.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Opens what fields name, and sees that all have a row for each sample. */
public final class FieldOpener {
    private final SourceData data;
    private final RowsForm rowsForm;
    private final long seed;
    private final Duration timeout;
    private final Map<Dataset, WindowPlaces> windows = new HashMap<>();

    /** What the first field had for samples; each dataset whose rows follow those of others has a place in it. */
    private @Nullable String firstName;

    private long[] samples = {};
    private int fields;
    private int arrays;

    FieldOpener(SourceData data, List<FieldSpec> all, long seed, Duration timeout, RowsForm rowsForm) {
        this.data = data;
        this.rowsForm = rowsForm;
        this.seed = seed;
        this.timeout = timeout;
        for (Dataset dataset : data.datasets()) {
            List<FieldSpec> own = all.stream()
                    .filter(field -> data.of(field).contains(dataset))
                    .toList();
            WindowPlaces places = WindowPlaces.of(dataset, own, FieldSpec.span(all), seed);
            if (places != null) {
                windows.put(dataset, places);
            }
        }
    }

    /** How slots hold rows of an array. */
    @FunctionalInterface
    public interface RowsForm {
        FieldReader open(ArrayView array, FieldSpec field, @Nullable RowLookup lookup, FieldReader.Place place);

        /** Holds rows that are made of rows of any length. */
        default FieldReader open(MadeRows rows, FieldSpec field, @Nullable RowLookup lookup, FieldReader.Place place) {
            return new MadeReader(rows, lookup, place);
        }

        /** Holds rows as batches have them; random transforms draw from a seed. */
        static RowsForm finished(long seed) {
            return (array, field, lookup, place) -> {
                return field.transform() == null
                        ? new RowsReader(array, field.name(), lookup, place)
                        : new TransformedReader(array, field, field.transformSeed(seed), lookup, place);
            };
        }
    }

    /** Returns the first sample of each dataset whose rows follow those of others, and after the last how many there are. */
    long[] firstSamples() {
        return firsts(samples);
    }

    private static long[] firsts(long[] counts) {
        long[] firsts = new long[counts.length + 1];
        for (int i = 0; i < counts.length; i++) {
            firsts[i + 1] = Math.addExact(firsts[i], counts[i]);
        }
        return firsts;
    }

    FieldReader open(FieldSpec field) {
        requireSomethingToPad(field);
        List<Dataset> datasets = data.of(field);
        List<@Nullable RowLookup> lookups = new ArrayList<>();
        for (Dataset dataset : datasets) {
            lookups.add(lookup(dataset, field));
        }
        FieldReader.Place place = new FieldReader.Place(fields++, arrays);
        FieldReader reader = open(field, datasets, lookups, place);
        arrays += reader.outputs().size();
        return reader;
    }

    private FieldReader open(
            FieldSpec field, List<Dataset> datasets, List<@Nullable RowLookup> lookups, FieldReader.Place place) {
        RowSteps steps = RowSteps.of(field.transform());
        if (steps.maker() != null) {
            return openMade(field, steps, datasets, lookups, place);
        }
        boolean isArray = field.form() == FieldSpec.Form.ROWS || field.form() == FieldSpec.Form.WINDOWS;
        return isArray ? openArrays(field, datasets, lookups, place) : openRagged(field, datasets, lookups, place);
    }

    /** Opens what comes after all fields. */
    Collator open(Collation collation, long seed) {
        return new Collator(collation, seed, new FieldReader.Place(fields, arrays));
    }

    private FieldReader openArrays(
            FieldSpec field, List<Dataset> datasets, List<@Nullable RowLookup> lookups, FieldReader.Place place) {
        List<ArrayView> views =
                datasets.stream().map(dataset -> array(dataset, field)).toList();
        requireSamples(
                field,
                datasets,
                lookups,
                views.stream().mapToLong(ArrayView::rows).toArray());
        Part part = field.kept() == null
                ? (i, lookup) -> rowsForm.open(views.get(i), field, lookup, place)
                : (i, lookup) -> openKept(KeptSteps.of(views.get(i), field, timeout), field, lookup, place);
        return open(field, datasets, lookups, place, part);
    }

    private FieldReader openMade(
            FieldSpec field,
            RowSteps steps,
            List<Dataset> datasets,
            List<@Nullable RowLookup> lookups,
            FieldReader.Place place) {
        List<RowBytes> sources =
                datasets.stream().map(dataset -> rowBytes(dataset, field)).toList();
        requireSamples(
                field,
                datasets,
                lookups,
                sources.stream().mapToLong(RowBytes::rows).toArray());
        if (field.kept() != null) {
            return open(
                    field,
                    datasets,
                    lookups,
                    place,
                    (i, lookup) -> openKept(
                            KeptSteps.of(sources.get(i), datasets.get(i), field, timeout), field, lookup, place));
        }
        List<MadeRows> made = sources.stream()
                .map(source -> MadeRows.of(source, steps, field.name(), field.transformSeed(seed)))
                .toList();
        if (!made.get(0).isRagged()) {
            return open(
                    field, datasets, lookups, place, (i, lookup) -> rowsForm.open(made.get(i), field, lookup, place));
        } else if (made.size() > 1) {
            throw Failure.of(ErrorCode.USAGE, "rows of different lengths are not made from several datasets in a row")
                    .with("field", field.name())
                    .with("dataset", data.name())
                    .remedy("let the function make rows of one shape: map(…) instead of mapRagged(…)");
        }
        return new MadeRaggedReader(
                made.get(0), field.name(), field.padded() ? field.padding() : null, lookups.get(0), place);
    }

    /** Refuses {@code padded()} where rows are of one length; who takes a column as padded may make such rows of it. */
    private static void requireSomethingToPad(FieldSpec field) {
        Step maker = RowSteps.of(field.transform()).maker();
        boolean differ = maker == null
                ? field.form() != FieldSpec.Form.ROWS && field.form() != FieldSpec.Form.WINDOWS
                : field.form() == FieldSpec.Form.PADDED || (maker instanceof Step.MapRow map && map.ragged());
        if (field.padded() && !differ) {
            throw Failure.of(ErrorCode.BAD_INPUT, "there is nothing to pad, rows of this field are of one length")
                    .with("field", field.name())
                    .with(
                            "steps",
                            field.transform() == null ? "[]" : field.transform().steps())
                    .remedy("leave padded() out, or make rows of different lengths: mapRagged(…)");
        }
    }

    private static RowBytes rowBytes(Dataset dataset, FieldSpec field) {
        return switch (field.form()) {
            case ROWS, WINDOWS -> RowBytes.of(array(dataset, field));
            case TEXTS -> RowBytes.of(dataset.strings(field.column()), field.truncateAt());
            case FILES -> RowBytes.of(dataset.bytes(field.column()), field.truncateAt());
            default -> RowBytes.of(dataset.ragged(field.column()), field.truncateAt());
        };
    }

    /** Opens rows of equal length in one dataset. */
    @FunctionalInterface
    private interface Part {
        FieldReader open(int dataset, @Nullable RowLookup lookup);
    }

    private FieldReader open(
            FieldSpec field,
            List<Dataset> datasets,
            List<@Nullable RowLookup> lookups,
            FieldReader.Place place,
            Part part) {
        if (datasets.size() == 1) {
            return part.open(0, lookups.get(0));
        }
        ConcatLookup places = concatenated(field, lookups, new long[datasets.size()]);
        List<FieldReader> parts = IntStream.range(0, datasets.size())
                .mapToObj(i -> part.open(i, places))
                .toList();
        for (int i = 1; i < parts.size(); i++) {
            requireAlike(field, datasets, parts, i);
        }
        return new ConcatReader(parts, places, place);
    }

    /** Reads rows that are kept, which is the host's work whatever form batches have. */
    private FieldReader openKept(
            KeptSteps steps, FieldSpec field, @Nullable RowLookup lookup, FieldReader.Place place) {
        return new ComputedReader(steps, field.transformSeed(seed), lookup, place);
    }

    private FieldReader openRagged(
            FieldSpec field, List<Dataset> datasets, List<@Nullable RowLookup> lookups, FieldReader.Place place) {
        if (field.kept() != null) {
            throw KeptSteps.notOfOneLength(field);
        }
        List<RaggedRows> columns =
                datasets.stream().map(dataset -> ragged(dataset, field)).toList();
        requireSamples(
                field,
                datasets,
                lookups,
                columns.stream().mapToLong(RaggedRows::rows).toArray());
        RaggedRows rows = columns.get(0);
        RowLookup lookup = lookups.get(0);
        if (columns.size() > 1) {
            ConcatRows all = ConcatRows.of(columns);
            rows = all;
            lookup = concatenated(field, lookups, all.firstRows());
        }
        return field.padded()
                ? new PaddedReader(rows, field, lookup, place)
                : new PackedReader(rows, field.name(), lookup, place);
    }

    private ConcatLookup concatenated(FieldSpec field, List<@Nullable RowLookup> lookups, long[] firstRows) {
        return new ConcatLookup(field.column(), firstSamples(), firstRows, lookups.toArray(RowLookup[]::new));
    }

    private static RaggedRows ragged(Dataset dataset, FieldSpec field) {
        return switch (field.form()) {
            case TEXTS -> RaggedRows.of(dataset.strings(field.column()), field.truncateAt());
            case FILES -> RaggedRows.of(dataset.bytes(field.column()), field.truncateAt());
            default -> RaggedArrays.of(dataset.ragged(field.column()), field);
        };
    }

    private static ArrayView array(Dataset dataset, FieldSpec field) {
        ArrayView array = dataset.array(field.column());
        if (array.dimensions() == 0) {
            throw unfit(dataset, array, "a 0-d array has no rows; leave it out of arrays(…)");
        }
        FieldSpec.Window window = field.window();
        if (window == null) {
            return array;
        }
        if (array.rows() < window.length()) {
            throw unfit(dataset, array, "its " + array.rows() + " rows are fewer than a window's " + window.length());
        }
        return array.windows(window.length());
    }

    private @Nullable RowLookup lookup(Dataset dataset, FieldSpec field) {
        FieldSpec.Lookup lookup = field.lookup();
        FieldSpec.Window window = field.window();
        if (lookup == null) {
            WindowPlaces places = windows.get(dataset);
            return window == null || places == null ? null : places.lookup(window.offset());
        }
        RowLookup found = lookup.index() == null
                ? RowLookup.of(dataset, lookup.keys())
                : RowLookup.of(dataset, lookup.keys(), lookup.index());
        return window == null || window.offset() == 0 ? found : found.after(window.offset());
    }

    private static RuntimeException unfit(Dataset dataset, ArrayView array, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot make batches of this array")
                .with("dataset", dataset.name())
                .with("version", dataset.version())
                .with("array", array.name())
                .remedy(remedy);
    }

    /** Takes note of how many rows a field has in each dataset, or those that its rows are looked up by. */
    private void requireSamples(
            FieldSpec field, List<Dataset> datasets, List<@Nullable RowLookup> lookups, long[] columnRows) {
        long[] found = columnRows.clone();
        String name = field.column();
        for (int i = 0; i < found.length; i++) {
            RowLookup lookup = lookups.get(i);
            if (lookup != null) {
                name = lookup.keys();
                found[i] = lookup.rows();
            }
        }
        if (firstName == null) {
            firstName = name;
            samples = found;
            return;
        }
        for (int i = 0; i < found.length; i++) {
            if (found[i] != samples[i]) {
                Dataset dataset = datasets.get(i);
                throw Failure.of(ErrorCode.BAD_INPUT, "arrays of one loader differ in rows")
                        .with("dataset", dataset.name())
                        .with("version", dataset.version())
                        .with(firstName, samples[i])
                        .with(name, found[i])
                        .remedy(
                                "name arrays with equal first dimensions, or look rows up with Field.rows(…).lookup(…)");
            }
        }
    }

    private static void requireAlike(FieldSpec field, List<Dataset> datasets, List<FieldReader> parts, int part) {
        String first = described(parts.get(0));
        String found = described(parts.get(part));
        if (!first.equals(found)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "rows of an array differ from dataset to dataset")
                    .with("array", field.column())
                    .with(datasets.get(0).name(), first)
                    .with(datasets.get(part).name(), found)
                    .remedy("concatenate datasets whose arrays have the same dtype and row shape");
        }
    }

    private static String described(FieldReader reader) {
        OutputArray made = reader.outputs().get(0);
        return made.dtype() + " " + Arrays.toString(made.rowShape());
    }
}
