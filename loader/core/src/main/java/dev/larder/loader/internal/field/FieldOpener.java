package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import org.jspecify.annotations.Nullable;

/** Opens what fields name, and sees that all have a row for each sample. */
public final class FieldOpener {
    private final Dataset dataset;
    private final RowsForm rowsForm;
    private final long seed;
    private final @Nullable WindowPlaces windows;
    private @Nullable String firstName;
    private long rows;
    private int fields;
    private int arrays;

    FieldOpener(Dataset dataset, RowsForm rowsForm, long seed, @Nullable WindowPlaces windows) {
        this.dataset = dataset;
        this.seed = seed;
        this.rowsForm = rowsForm;
        this.windows = windows;
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
                if (field.kept() != null) {
                    return new ComputedReader(KeptSteps.of(array, field), field.transformSeed(seed), lookup, place);
                }
                return field.transform() == null
                        ? new RowsReader(array, field.name(), lookup, place)
                        : new TransformedReader(array, field, field.transformSeed(seed), lookup, place);
            };
        }
    }

    /** Returns how many samples there are. */
    long rows() {
        return rows;
    }

    FieldReader open(FieldSpec field) {
        RowLookup lookup = lookup(field);
        FieldReader.Place place = new FieldReader.Place(fields++, arrays);
        FieldReader reader = open(field, lookup, place);
        arrays += reader.outputs().size();
        return reader;
    }

    private FieldReader open(FieldSpec field, @Nullable RowLookup lookup, FieldReader.Place place) {
        RowSteps steps = RowSteps.of(field.transform());
        if (steps.maker() != null) {
            return openMade(field, steps, lookup, place);
        }
        if (field.form() == FieldSpec.Form.ROWS || field.form() == FieldSpec.Form.WINDOWS) {
            ArrayView array = rowsOf(field);
            requireRows(lookup, array.name(), array.rows());
            return rowsForm.open(array, field, lookup, place);
        }
        RaggedRows ragged = switch (field.form()) {
            case TEXTS -> RaggedRows.of(dataset.strings(field.column()), field.truncateAt());
            case FILES -> RaggedRows.of(dataset.bytes(field.column()), field.truncateAt());
            default -> RaggedArrays.of(dataset.ragged(field.column()), field);
        };
        requireRows(lookup, ragged.column(), ragged.rows());
        return field.padded()
                ? new PaddedReader(ragged, field, lookup, place)
                : new PackedReader(ragged, field.name(), lookup, place);
    }

    private FieldReader openMade(FieldSpec field, RowSteps steps, @Nullable RowLookup lookup, FieldReader.Place place) {
        RowBytes source = switch (field.form()) {
            case ROWS, WINDOWS -> RowBytes.of(rowsOf(field), field.window() == null);
            case TEXTS -> RowBytes.of(dataset.strings(field.column()), field.truncateAt());
            case FILES -> RowBytes.of(dataset.bytes(field.column()), field.truncateAt());
            default -> RowBytes.of(dataset.ragged(field.column()), field.truncateAt());
        };
        requireRows(lookup, source.column(), source.rows());
        MadeRows rows = MadeRows.of(source, steps, field.name(), field.transformSeed(seed));
        return rows.isRagged()
                ? new MadeRaggedReader(rows, field.name(), field.padded() ? field.padding() : null, lookup, place)
                : rowsForm.open(rows, field, lookup, place);
    }

    private ArrayView rowsOf(FieldSpec field) {
        ArrayView array = withRows(dataset.array(field.column()));
        return field.window() == null ? array : windowsOf(array, field.window());
    }

    private ArrayView windowsOf(ArrayView array, FieldSpec.Window window) {
        if (array.rows() < window.length()) {
            throw unfit(array, "its " + array.rows() + " rows are fewer than a window's " + window.length());
        }
        return array.windows(window.length());
    }

    private @Nullable RowLookup lookup(FieldSpec field) {
        FieldSpec.Lookup lookup = field.lookup();
        FieldSpec.Window window = field.window();
        if (lookup == null) {
            return window == null || windows == null ? null : windows.lookup(dataset, window.offset());
        }
        RowLookup found = lookup.index() == null
                ? RowLookup.of(dataset, lookup.keys())
                : RowLookup.of(dataset, lookup.keys(), lookup.index());
        return window == null || window.offset() == 0 ? found : found.after(window.offset());
    }

    private ArrayView withRows(ArrayView array) {
        if (array.dimensions() == 0) {
            throw unfit(array, "a 0-d array has no rows; leave it out of arrays(…)");
        }
        return array;
    }

    private RuntimeException unfit(ArrayView array, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot make batches of this array")
                .with("dataset", dataset.name())
                .with("version", dataset.version())
                .with("array", array.name())
                .remedy(remedy);
    }

    /** Takes note of how many rows a field has, or those that its rows are looked up by. */
    private void requireRows(@Nullable RowLookup lookup, String column, long columnRows) {
        String name = lookup == null ? column : lookup.keys();
        long found = lookup == null ? columnRows : lookup.rows();
        if (firstName == null) {
            firstName = name;
            rows = found;
        } else if (found != rows) {
            throw Failure.of(ErrorCode.BAD_INPUT, "arrays of one loader differ in rows")
                    .with("dataset", dataset.name())
                    .with("version", dataset.version())
                    .with(firstName, rows)
                    .with(name, found)
                    .remedy("name arrays with equal first dimensions, or look rows up with Field.rows(…).lookup(…)");
        }
    }
}
