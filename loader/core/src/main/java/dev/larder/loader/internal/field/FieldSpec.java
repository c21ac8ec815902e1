package dev.larder.loader.internal.field;

import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Describes one field of every sample to its reader.
 *
 * @param name its name in batches
 * @param padding how rows of different lengths are padded; null if they are packed
 * @param truncateAt the most items of a ragged row that are taken
 * @param transform the steps, or none
 * @param group the name of the group that draws together; empty if the field draws for itself
 * @param kept the name of the rows that the steps before the first random one make, if these are kept
 * @param dataset the name of one of several datasets side by side; null if only one of them has the column
 */
public record FieldSpec(
        String column,
        Form form,
        String name,
        @Nullable Padding padding,
        long truncateAt,
        @Nullable Lookup lookup,
        Transform transform,
        String group,
        @Nullable Kept kept,
        @Nullable Window window,
        @Nullable String dataset) {
    /** The forms of a field in batches. */
    public enum Form {
        ROWS,
        WINDOWS,
        PADDED,
        PACKED,
        TEXTS,
        FILES
    }

    /** The padding of ragged rows: its end, the unit of the length, and the number that fills up. */
    public record Padding(boolean left, long multiple, double fillValue) {
        public static final Padding DEFAULT = new Padding(false, 1, 0);
    }

    /**
     * The windows of an array.
     *
     * @param length the number of rows in each
     * @param stride the rows from one window to the next
     * @param offset the rows from the place of a window to its first row
     * @param random whether windows are at random places, others in every epoch
     * @param borders the array with the first row of each document, which no window crosses; null if windows may cross documents
     */
    public record Window(
            long length,
            long stride,
            long offset,
            boolean random,
            @Nullable String borders) {
        /** Returns how many rows after its place it ends. */
        long end() {
            return Math.addExact(offset, length);
        }

        /** Returns the properties that windows of one loader share. */
        String places() {
            return "stride=" + stride + (random ? " random" : "") + (borders == null ? "" : " within=" + borders);
        }
    }

    /** Finds the row of a sample: in an array of rows, or by keys in an index. */
    public record Lookup(String keys, @Nullable String index) {}

    /**
     * The name of computed rows, and the wait for them.
     *
     * @param version that of the user's code among their steps; empty if there is none
     * @param patience how long to wait for a row that another process computes; null for a third of the loader's timeout, 10 s at most
     */
    public record Kept(
            String name, String version, @Nullable Duration patience) {}

    /** The parts of a field that {@link #with} may change. */
    public static final class Draft {
        public String name;
        public @Nullable Padding padding;
        public long truncateAt = Long.MAX_VALUE;
        public @Nullable Lookup lookup;
        public Transform transform = new Transform();
        public String group = "";
        public @Nullable Kept kept;
        public @Nullable Window window;
        public @Nullable String dataset;

        private Draft(String name) {
            this.name = name;
        }

        private FieldSpec field(String column, Form form) {
            return new FieldSpec(
                    column, form, name, padding, truncateAt, lookup, transform, group, kept, window, dataset);
        }
    }

    /** Describes a field as it is without further words. */
    public static FieldSpec of(String column, Form form) {
        Draft draft = new Draft(column);
        draft.padding = form == Form.PADDED ? Padding.DEFAULT : null;
        return draft.field(column, form);
    }

    /** Returns a changed copy. */
    public FieldSpec with(Consumer<Draft> change) {
        Draft draft = new Draft(name);
        draft.padding = padding;
        draft.truncateAt = truncateAt;
        draft.lookup = lookup;
        draft.transform = transform;
        draft.group = group;
        draft.kept = kept;
        draft.window = window;
        draft.dataset = dataset;
        change.accept(draft);
        return draft.field(column, form);
    }

    /** Returns how many rows a window of these fields reaches over. */
    static long span(List<FieldSpec> fields) {
        return fields.stream()
                .filter(FieldSpec::hasPlacedWindows)
                .map(FieldSpec::window)
                .filter(Objects::nonNull)
                .mapToLong(Window::end)
                .max()
                .orElse(0);
    }

    /** Describes the windows that are the samples of a loader; empty if samples are rows. */
    public static String windows(List<FieldSpec> fields) {
        List<Window> windows = fields.stream()
                .filter(FieldSpec::hasPlacedWindows)
                .map(FieldSpec::window)
                .filter(Objects::nonNull)
                .toList();
        return windows.isEmpty()
                ? ""
                : " of windows(span=" + span(fields) + " " + windows.get(0).places() + ")";
    }

    /** Returns whether the loader places its windows, and not an array of the dataset. */
    boolean hasPlacedWindows() {
        return window != null && lookup == null;
    }

    /** Returns whether batches are made of rows of an array as they are stored, by steps that a device may do. */
    public boolean isStored() {
        return form == Form.ROWS && kept == null && !makesRows();
    }

    /** Returns whether a step makes rows from bytes of any length. */
    public boolean makesRows() {
        return RowSteps.of(transform).maker() != null;
    }

    /** Returns how many steps come before the first random one. */
    int stepsToKeep() {
        List<Step> steps = transform.steps();
        int count = 0;
        while (count < steps.size() && !steps.get(count).isRandom()) {
            count++;
        }
        return count;
    }

    /** Returns the random crops and flips in the order of the transform. */
    List<Step> randomMoves() {
        return transform.steps().stream()
                .filter(step -> step instanceof Step.RandomCrop
                        || step instanceof Step.RandomFlip
                        || step instanceof Step.RandomResizedCrop)
                .toList();
    }

    /** Returns the seed of its random steps, derived from the loader's seed. */
    long transformSeed(long seed) {
        return Philox.seedFor(seed, group.isEmpty() ? "field " + name : "group " + group);
    }
}
