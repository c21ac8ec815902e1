package dev.larder.layout;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Finds the names that a misspelt one may have meant. */
public final class NearNames {
    private static final int MOST = 3;
    private static final int SHOWN = 10;
    private static final int COMPARED = 10_000;

    private NearNames() {}

    /** Says what there is instead of a name: all of it, where that is little, else near names, else the first ones. */
    public static String insteadOf(String name, List<String> known) {
        List<String> near = known.size() <= SHOWN ? List.of() : of(name, known);
        if (!near.isEmpty()) {
            return "did you mean " + String.join(", ", near) + "? there are " + known.size();
        }
        String first = String.join(", ", known.subList(0, Math.min(SHOWN, known.size())));
        return "it has " + (first.isEmpty() ? "none" : first)
                + (known.size() > SHOWN ? ", … (" + known.size() + ")" : "");
    }

    /**
     * Returns up to three names within a third of the length in edits, or that one is the beginning of; nearest first. Looks at no
     * more than ten thousand.
     */
    public static List<String> of(String name, Collection<String> known) {
        int limit = Math.max(1, name.length() / 3);
        return known.stream()
                .limit(COMPARED)
                .filter(other -> other.startsWith(name) || name.startsWith(other) || distance(name, other) <= limit)
                .sorted(Comparator.comparingInt((String other) -> distance(name, other))
                        .thenComparing(Comparator.naturalOrder()))
                .limit(MOST)
                .toList();
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
