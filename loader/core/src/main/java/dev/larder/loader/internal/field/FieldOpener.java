package dev.larder.loader.internal.field;

import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.Collation;
import dev.larder.loader.transform.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Opens the readers of fields and checks that each has a row for every sample. */
final class FieldOpener {
    private final SourceData data;
    private final @Nullable DeviceFields devices;
    private final long seed;
    private final Duration timeout;
    private final Map<Dataset, WindowPlaces> windows = new HashMap<>();
    private final DiskRows.OpenFiles files = new DiskRows.OpenFiles();

    /** The name of the first field, and its number of samples in each concatenated dataset. */
    private @Nullable String firstName;

    private long[] samples = {};
    private int fields;
    private int arrays;

    FieldOpener(SourceData data, List<FieldSpec> all, long seed, Duration timeout, @Nullable DeviceFields devices) {
        this.data = data;
        this.devices = devices;
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

    /** Returns the first sample of each concatenated dataset, followed by the total number of samples. */
    long[] firstSamples() {
        long[] firsts = new long[samples.length + 1];
        for (int i = 0; i < samples.length; i++) {
            firsts[i + 1] = Math.addExact(firsts[i], samples[i]);
        }
        return firsts;
    }

    /** Closes the files of the fields that were opened. */
    void close() {
        files.close();
    }

    FieldReader open(FieldSpec field) {
        requireSomethingToPad(field);
        List<Dataset> datasets = data.of(field);
        List<@Nullable RowLookup> lookups = new ArrayList<>();
        List<SourceRows> sources = new ArrayList<>();
        for (Dataset dataset : datasets) {
            lookups.add(lookup(dataset, field));
            sources.add(SourceRows.of(dataset, field, files));
        }
        requireSamples(field, datasets, lookups, sources);
        List<SampleRows> rows = new ArrayList<>();
        for (int i = 0; i < datasets.size(); i++) {
            rows.add(rows(sources.get(i), datasets.get(i), field));
            requireAlike(field, datasets, rows, i);
        }
        boolean isOne = datasets.size() == 1;
        RowLookup lookup = isOne ? lookups.get(0) : RowLookup.concatenated(field.column(), firstSamples(), lookups);
        FieldReader reader = reader(field, rows, new FieldReader.Place(fields++, arrays, lookup, firstSamples()));
        arrays += reader.outputs().size();
        return reader;
    }

    /** Opens the collator, which runs after all fields. */
    Collator open(Collation collation, long seed) {
        return new Collator(collation, seed, new FieldReader.Place(fields, arrays, null, new long[0]));
    }

    /** Chooses the rows that do the steps of a field. */
    private SampleRows rows(SourceRows source, Dataset dataset, FieldSpec field) {
        long drawn = field.transformSeed(seed);
        RowSteps steps = RowSteps.of(field.transform());
        if (field.kept() != null) {
            return EqualRows.of(KeptSteps.of(source, dataset, field, timeout), drawn);
        } else if (steps.maker() != null) {
            return MadeRows.of(source, steps, drawn);
        }
        return source.array() == null
                ? RaggedRows.of(source, field.transform())
                : EqualRows.of(source, field.transform(), drawn);
    }

    /** Chooses the layout of a field in slots. */
    private FieldReader reader(FieldSpec field, List<SampleRows> rows, FieldReader.Place place) {
        if (rows.get(0).isRagged()) {
            return new RaggedReader(rows, field, place);
        }
        FieldReader reader =
                devices == null ? null : devices.open(rows.get(0), field, field.transformSeed(seed), place);
        return reader == null ? new EqualReader(rows, field.name(), place) : reader;
    }

    /** Refuses {@code padded()} if rows have equal length, as they may after a step over a ragged column. */
    private static void requireSomethingToPad(FieldSpec field) {
        Step maker = RowSteps.of(field.transform()).maker();
        boolean differ = maker == null
                ? field.form() != FieldSpec.Form.ROWS && field.form() != FieldSpec.Form.WINDOWS
                : field.form() == FieldSpec.Form.PADDED || (maker instanceof Step.MapRow map && map.ragged());
        if (field.padding() != null && !differ) {
            throw Failure.of(ErrorCode.BAD_INPUT, "there is nothing to pad, rows of this field are of one length")
                    .with("field", field.name())
                    .with("steps", field.transform().steps())
                    .remedy("leave padded() out, or make rows of different lengths: mapRagged(…)");
        }
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

    /** Refuses a field whose numbers of samples (its rows, or their keys) differ from those of the first field. */
    private void requireSamples(
            FieldSpec field, List<Dataset> datasets, List<@Nullable RowLookup> lookups, List<SourceRows> sources) {
        long[] found = sources.stream().mapToLong(SourceRows::rows).toArray();
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

    private static void requireAlike(FieldSpec field, List<Dataset> datasets, List<SampleRows> rows, int part) {
        String first = described(rows.get(0));
        String found = described(rows.get(part));
        if (!first.equals(found)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "rows of a field differ from dataset to dataset")
                    .with("array", field.column())
                    .with(datasets.get(0).name(), first)
                    .with(datasets.get(part).name(), found)
                    .remedy("concatenate datasets whose arrays have the same dtype and row shape");
        }
    }

    private static String described(SampleRows rows) {
        return rows.dtype() + " " + Arrays.toString(rows.shape());
    }
}
