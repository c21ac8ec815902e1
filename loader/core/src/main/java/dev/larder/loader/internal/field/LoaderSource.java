package dev.larder.loader.internal.field;

import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.OutputArray;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Where batches come from: fields of one version of a dataset whose rows belong together. */
public record LoaderSource(Dataset dataset, List<FieldReader> fields, long rows) {
    /** Takes some fields, or the rows of every array where none is named. */
    public static LoaderSource of(Dataset dataset, List<FieldSpec> named, FieldOpener.RowsForm rowsForm, long seed) {
        List<FieldSpec> wanted = wanted(dataset, named);
        if (wanted.isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "dataset has no arrays")
                    .with("dataset", dataset.name())
                    .exception();
        }
        requireGroupsDrawAlike(wanted);
        FieldOpener opener = new FieldOpener(dataset, rowsForm, seed, WindowPlaces.of(dataset, wanted, seed));
        List<FieldReader> readers = new ArrayList<>();
        for (FieldSpec field : wanted) {
            readers.add(opener.open(field));
        }
        LoaderSource source = new LoaderSource(dataset, List.copyOf(readers), opener.rows());
        source.requireDifferentNames();
        return source;
    }

    /** Returns the fields that are named, else one for every array. */
    public static List<FieldSpec> wanted(Dataset dataset, List<FieldSpec> named) {
        return named.isEmpty()
                ? dataset.arrayNames().stream()
                        .map(name -> FieldSpec.of(name, FieldSpec.Form.ROWS))
                        .toList()
                : named;
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

    /** Returns how many bytes of one sample are read or written, about. */
    public long sampleByteSize() {
        return Math.max(
                fields.stream().mapToLong(FieldReader::sampleByteSize).sum(),
                arrays().stream().mapToLong(OutputArray::rowByteSize).sum());
    }

    /** Returns whether filling in samples runs code of the user, which may take any time. */
    public boolean runsUserCode() {
        return fields.stream().anyMatch(FieldReader::runsUserCode);
    }

    /** Returns what decodes images, and a fingerprint of how; empty where nothing is decoded. */
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
        return Failure.of(code, what).with("dataset", dataset.name()).with("version", dataset.version());
    }

    /** Starts the failure of a stage; its code is that of the cause, or what kind of cause it is. */
    public Failure failure(String what, PipelineStage stage, @Nullable Throwable cause) {
        Failure failure = failure(code(cause), what)
                .with("stage", stage)
                .with("thread", Thread.currentThread().getName());
        return cause == null ? failure : failure.with("cause", cause).cause(cause);
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
}
