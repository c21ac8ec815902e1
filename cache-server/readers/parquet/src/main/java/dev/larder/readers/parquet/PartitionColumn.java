package dev.larder.readers.parquet;

import dev.larder.reader.ByteSequence;
import dev.larder.reader.Offer;
import dev.larder.reader.Output;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The values that folders of partitions have for the rows of one table: integers if all are, else codes and the texts that they number, as a
 * dictionary has them.
 */
final class PartitionColumn {
    private static final Pattern INTEGER = Pattern.compile("-?[0-9]{1,18}");

    private final String name;
    private final List<Stretch> stretches = new ArrayList<>();
    private int firstOffer;

    /** Some rows with one value. */
    private record Stretch(String value, long rows) {
        boolean isNull() {
            return value.equals(Partition.NULL);
        }
    }

    /** Starts without rows, under its whole name. */
    PartitionColumn(String name) {
        this.name = name;
    }

    void add(String value, long rows) {
        stretches.add(new Stretch(value, rows));
    }

    private boolean isOfIntegers() {
        return stretches.stream()
                .allMatch(its -> its.isNull() || INTEGER.matcher(its.value).matches());
    }

    private boolean hasNulls() {
        return stretches.stream().anyMatch(its -> its.isNull() && its.rows > 0);
    }

    private Map<String, Integer> classes() {
        Map<String, Integer> classes = new LinkedHashMap<>();
        for (Stretch its : stretches) {
            if (!its.isNull()) {
                classes.putIfAbsent(its.value, classes.size());
            }
        }
        return classes;
    }

    void offer(List<Offer> offers) {
        long rows = stretches.stream().mapToLong(Stretch::rows).sum();
        firstOffer = offers.size();
        offers.add(Offer.array(name, isOfIntegers() ? "<i8" : "<i4", List.of(rows)));
        if (hasNulls()) {
            offers.add(Offer.array(name + TableColumn.MASK, "|b1", List.of(rows)));
        }
        if (!isOfIntegers()) {
            long bytes = classes().keySet().stream()
                    .mapToLong(word -> word.getBytes(StandardCharsets.UTF_8).length)
                    .sum();
            offers.addAll(Offer.strings(name + TableColumn.CLASSES, classes().size(), bytes));
        }
    }

    void write(Output output) {
        Map<String, Integer> classes = classes();
        boolean isOfIntegers = isOfIntegers();
        int offer = firstOffer;
        ByteSequence numbers = new ByteSequence(output, offer++, 0);
        for (Stretch its : stretches) {
            long value = its.isNull() ? 0 : isOfIntegers ? Long.parseLong(its.value) : classes.get(its.value);
            for (long row = 0; row < its.rows; row++) {
                if (isOfIntegers) {
                    numbers.putLong(value);
                } else {
                    numbers.putInt((int) value);
                }
            }
        }
        numbers.flush();
        if (hasNulls()) {
            ByteSequence mask = new ByteSequence(output, offer++, 0);
            for (Stretch its : stretches) {
                for (long row = 0; row < its.rows; row++) {
                    mask.put(its.isNull() ? (byte) 1 : 0);
                }
            }
            mask.flush();
        }
        if (!isOfIntegers) {
            writeClasses(output, offer, classes);
        }
    }

    private static void writeClasses(Output output, int offer, Map<String, Integer> classes) {
        ByteSequence bytes = new ByteSequence(output, offer, 0);
        ByteSequence ends = new ByteSequence(output, offer + 1, 0);
        long end = 0;
        ends.putLong(end);
        for (String word : classes.keySet()) {
            byte[] utf8 = word.getBytes(StandardCharsets.UTF_8);
            bytes.put(utf8, 0, utf8.length);
            end += utf8.length;
            ends.putLong(end);
        }
        bytes.flush();
        ends.flush();
    }
}
