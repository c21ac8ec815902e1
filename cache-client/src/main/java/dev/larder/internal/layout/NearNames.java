package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Suggests names that a misspelt name may have meant. */
public final class NearNames {
    private static final int MOST = 3;
    private static final int SHOWN = 10;
    private static final int COMPARED = 10_000;

    private NearNames() {}

    /** A name and its edit distance from another. */
    private record Near(String name, int distance) {}

    /** Returns the exception for a dataset that a store does not have. */
    public static LarderException noSuchDataset(Path store, String name, Collection<String> known) {
        List<String> near = of(name, known);
        return Failure.of(ErrorCode.NOT_FOUND, "no such dataset")
                .with("dataset", name)
                .with("store", store)
                .remedy(
                        !near.isEmpty()
                                ? "did you mean " + String.join(", ", near) + "? larder ls lists all"
                                : Names.datasetObjection(name) != null
                                        ? "larder ls lists all"
                                        : "larder ls lists all; larder load " + name + "=PATH loads it");
    }

    /** Returns the exception for an array that a version does not have. It lists the version's arrays and columns. */
    public static LarderException noSuchArray(
            Path store, String dataset, long version, String array, List<ArrayEntry> arrays) {
        List<String> known = arrays.stream()
                .map(entry -> entry.part().columnName(entry.name()))
                .distinct()
                .toList();
        Failure failure = Failure.of(ErrorCode.NOT_FOUND, "no such array")
                .with("dataset", dataset)
                .with("version", version)
                .with("array", array)
                .with("store", store);
        for (ArrayEntry entry : arrays) {
            String kind = entry.part().kind();
            if (!kind.isEmpty() && entry.part().columnName(entry.name()).equals(array)) {
                return failure.remedy("it is a column: open it with Dataset." + kind + "(\"" + array
                        + "\"), or name one of its arrays, such as " + entry.name()
                        + "; a loader decodes files of images by its transform: decode,resize(224,224),toFloat");
            }
        }
        return failure.remedy(insteadOf(array, known));
    }

    /** Returns the exception for the name of a dataset in place of an array's. It lists the first arrays. */
    public static LarderException notOneArray(Path store, String dataset, int arrays, List<String> names) {
        String first =
                names.stream().limit(SHOWN).map(name -> dataset + "/" + name).collect(Collectors.joining(", "));
        return Failure.of(
                        ErrorCode.NOT_FOUND,
                        arrays == 0 ? "the dataset has no array" : "the dataset has several arrays")
                .with("dataset", dataset)
                .with("arrays", arrays)
                .with("store", store)
                .remedy(
                        arrays == 0
                                ? "name another: larder ls"
                                : "name one: " + first + (names.size() > SHOWN ? ", …" : ""));
    }

    /** Returns the text about the existing names: similar ones, and all of them if they are few, otherwise their number. */
    static String insteadOf(String name, List<String> known) {
        List<String> near = of(name, known);
        String question = near.isEmpty() ? "" : "did you mean " + String.join(", ", near) + "?";
        if (!near.isEmpty() && known.size() > SHOWN) {
            return question + " there are " + known.size();
        }
        if (!near.isEmpty() && near.size() == known.size()) {
            return question;
        }
        String first = String.join(", ", known.subList(0, Math.min(SHOWN, known.size())));
        return question
                + (near.isEmpty() ? "" : " ")
                + (known.size() == 1 ? "there is " : "there are ")
                + (first.isEmpty() ? "none" : first)
                + (known.size() > SHOWN ? ", … (" + known.size() + ")" : "");
    }

    /**
     * Returns up to three names, nearest first, whose edit distance is at most a third of the length or that begin with the
     * name. Compares at most ten thousand names. Returns nothing for an empty or overlong name.
     */
    public static List<String> of(String name, Collection<String> known) {
        if (name.isEmpty() || name.length() > Names.ARRAY_LIMIT) {
            return List.of();
        }
        int limit = Math.max(1, name.length() / 3);
        return known.stream()
                .limit(COMPARED)
                .filter(other -> isPart(name, other) || Math.abs(other.length() - name.length()) <= limit)
                .map(other -> new Near(other, distance(name, other)))
                .filter(near -> isPart(name, near.name) || near.distance <= limit)
                .sorted(Comparator.comparingInt(Near::distance).thenComparing(Near::name))
                .limit(MOST)
                .map(Near::name)
                .toList();
    }

    private static boolean isPart(String a, String b) {
        return a.startsWith(b) || b.startsWith(a);
    }

    /** Counts the insertions, deletions, replacements and swaps of neighbours between two words (optimal string alignment). */
    static int distance(String a, String b) {
        int[] beforeLast = new int[b.length() + 1];
        int[] last = new int[b.length() + 1];
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int[] spare = beforeLast;
            beforeLast = last;
            last = row;
            row = spare;
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(last[j], row[j - 1]));
                if (isSwap(a, i, b, j)) {
                    row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
                }
            }
        }
        return row[b.length()];
    }

    private static boolean isSwap(String a, int i, String b, int j) {
        return i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    }
}
