package dev.larder.loader.internal.field;

import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Describes one field of every sample to its reader.
 *
 * @param name how batches call it
 * @param truncateAt how many items of a ragged row are taken at most
 * @param group the name of the group that draws together; empty where the field draws for itself
 * @param padded whether rows of different lengths are padded; else they are packed
 * @param kept under which name the steps before the first random one are kept; null where they are not
 * @param dataset which of several datasets side by side it is from; null where only one of them has it
 */
public record FieldSpec(
        String column,
        Form form,
        String name,
        Padding padding,
        long truncateAt,
        @Nullable Lookup lookup,
        @Nullable Transform transform,
        String group,
        boolean padded,
        @Nullable Kept kept,
        @Nullable Window window,
        @Nullable String dataset) {
    /** How batches hold a field. */
    public enum Form {
        ROWS,
        WINDOWS,
        PADDED,
        PACKED,
        TEXTS,
        FILES
    }

    /** How ragged rows are made equally long: at which end, to a multiple of what, with which number. */
    public record Padding(boolean left, long multiple, double fillValue) {
        static final Padding DEFAULT = new Padding(false, 1, 0);
    }

    /**
     * Which windows of an array are taken.
     *
     * @param length how many rows each has
     * @param stride from one window to the next
     * @param offset how many rows after the place of the window its first one is
     * @param random whether windows lie anywhere, in every epoch elsewhere
     * @param borders the array that says where documents begin, which no window crosses; null where they count for nothing
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

        /** Says what windows that go together have in common. */
        String places() {
            return "stride=" + stride + (random ? " random" : "") + (borders == null ? "" : " within=" + borders);
        }
    }

    /** Where the row of a field is found: in an array of rows, or by keys in an index. */
    record Lookup(String keys, @Nullable String index) {}

    /**
     * What computed rows are called, and how they are waited for.
     *
     * @param version that of the user's code among their steps; empty where there is none
     * @param patience how long to wait for a row that another process computes; null for what fits the loader's timeout
     */
    public record Kept(
            String name, String version, @Nullable Duration patience) {}

    /** Describes a field of which nothing else is said. */
    public static FieldSpec of(String column, Form form) {
        return new FieldSpec(
                column,
                form,
                column,
                Padding.DEFAULT,
                Long.MAX_VALUE,
                null,
                null,
                "",
                form == Form.PADDED,
                null,
                null,
                null);
    }

    public FieldSpec withName(String newName) {
        return new FieldSpec(
                column, form, newName, padding, truncateAt, lookup, transform, group, padded, kept, window, dataset);
    }

    public FieldSpec withPadding(Padding newPadding) {
        return new FieldSpec(
                column, form, name, newPadding, truncateAt, lookup, transform, group, padded, kept, window, dataset);
    }

    public FieldSpec withTruncateAt(long items) {
        return new FieldSpec(
                column, form, name, padding, items, lookup, transform, group, padded, kept, window, dataset);
    }

    /** Returns the same, with rows that are found by keys. */
    public FieldSpec withLookup(String keys, @Nullable String index) {
        return new FieldSpec(
                column,
                form,
                name,
                padding,
                truncateAt,
                new Lookup(keys, index),
                transform,
                group,
                padded,
                kept,
                window,
                dataset);
    }

    public FieldSpec withTransform(Transform newTransform) {
        return new FieldSpec(
                column, form, name, padding, truncateAt, lookup, newTransform, group, padded, kept, window, dataset);
    }

    public FieldSpec withPadded() {
        return new FieldSpec(
                column, form, name, padding, truncateAt, lookup, transform, group, true, kept, window, dataset);
    }

    public FieldSpec withGroup(String newGroup) {
        return new FieldSpec(
                column, form, name, padding, truncateAt, lookup, transform, newGroup, padded, kept, window, dataset);
    }

    public FieldSpec withKept(Kept newKept) {
        return new FieldSpec(
                column, form, name, padding, truncateAt, lookup, transform, group, padded, newKept, window, dataset);
    }

    public FieldSpec withWindow(Window newWindow) {
        return new FieldSpec(
                column, form, name, padding, truncateAt, lookup, transform, group, padded, kept, newWindow, dataset);
    }

    public FieldSpec withDataset(String newDataset) {
        return new FieldSpec(
                column, form, name, padding, truncateAt, lookup, transform, group, padded, kept, window, newDataset);
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

    /** Says which windows the samples of a loader are; nothing where they are rows. */
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

    /** Returns whether its samples are windows that begin where the loader says, and not where an array of the dataset does. */
    boolean hasPlacedWindows() {
        return window != null && lookup == null;
    }

    /** Returns whether batches are made of rows of an array as they are stored, by steps that a device may do. */
    public boolean isStored() {
        return form == Form.ROWS && kept == null && !makesRows();
    }

    /** Returns whether a step makes rows of bytes, whatever their length. */
    public boolean makesRows() {
        return RowSteps.of(transform).maker() != null;
    }

    /** Returns how many steps come before the first random one. */
    int stepsToKeep() {
        List<Step> steps = transform == null ? List.of() : transform.steps();
        int count = 0;
        while (count < steps.size() && !steps.get(count).isRandom()) {
            count++;
        }
        return count;
    }

    /** Returns the random crops and flips in the order of the transform. */
    List<Step> randomMoves() {
        return transform == null
                ? List.of()
                : transform.steps().stream()
                        .filter(step -> step instanceof Step.RandomCrop
                                || step instanceof Step.RandomFlip
                                || step instanceof Step.RandomResizedCrop)
                        .toList();
    }

    /** Returns what random steps draw from, by the loader's seed. */
    long transformSeed(long seed) {
        return Philox.seedFor(seed, group.isEmpty() ? "field " + name : "group " + group);
    }
}
