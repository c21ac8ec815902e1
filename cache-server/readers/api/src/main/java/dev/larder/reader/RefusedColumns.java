package dev.larder.reader;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Collects the columns that cannot be read, so that one refusal names all of them, and those that can be loaded without them. Thread-safe.
 */
public final class RefusedColumns {
    private static final int MOST_SHOWN = 20;
    private static final int MOST_REASON_CHARS = 200;
    private static final int MOST_NAMES_CHARS = 1000;

    private final Map<String, BadSource> refused = new LinkedHashMap<>();
    private boolean hasUnwanted;

    /** Notes that the files have a column that the request does not name. */
    public synchronized void unwanted() {
        hasUnwanted = true;
    }

    /** Returns whether any column was added. */
    public synchronized boolean hasAny() {
        return !refused.isEmpty();
    }

    /** Adds a column; its remedy follows the advice to load the others. */
    public synchronized void add(BadSource column) {
        refused.putIfAbsent(column.column(), column);
    }

    /** Adds a column without advice of its own. */
    public void add(int file, String column, String reason) {
        add(new BadSource(file, BadSource.NOWHERE, column, reason, ""));
    }

    /** Refuses all that were added; {@code others} are the columns that can be read. */
    public synchronized void requireNone(Collection<String> others) throws BadSource {
        if (refused.isEmpty()) {
            return;
        }
        BadSource first = refused.values().iterator().next();
        String remedy = remedy(others);
        if (refused.size() == 1) {
            throw withCause(
                    new BadSource(
                            first.file(), first.offset(), first.column(), String.valueOf(first.getMessage()), remedy),
                    first);
        }
        List<String> shown = refused.values().stream()
                .limit(MOST_SHOWN)
                .map(column -> column.column() + " (" + cut(String.valueOf(column.getMessage())) + ")")
                .toList();
        String more = refused.size() > MOST_SHOWN ? " and " + (refused.size() - MOST_SHOWN) + " more" : "";
        throw withCause(
                new BadSource(
                        first.file(),
                        BadSource.NOWHERE,
                        "",
                        refused.size() + " columns cannot be read: " + String.join(", ", shown) + more,
                        remedy),
                first);
    }

    private static BadSource withCause(BadSource whole, BadSource first) {
        whole.initCause(first);
        return whole;
    }

    private static String cut(String reason) {
        return reason.length() <= MOST_REASON_CHARS ? reason : reason.substring(0, MOST_REASON_CHARS) + "…";
    }

    private String remedy(Collection<String> others) {
        String names = names(others);
        Set<String> remedies = new LinkedHashSet<>();
        if (!names.isEmpty()) {
            remedies.add("load others with --columns " + names);
        } else if (hasUnwanted) {
            remedies.add("name other columns with --columns");
        }
        refused.values().stream()
                .map(BadSource::remedy)
                .filter(advice -> !advice.isEmpty())
                .limit(MOST_SHOWN)
                .forEach(remedies::add);
        if (remedies.isEmpty()) {
            remedies.add("leave the file out with --exclude");
        }
        return String.join(", or ", remedies);
    }

    /** Returns names to paste behind {@code --columns}: a readable number of them, none of a refused column. */
    private String names(Collection<String> others) {
        Set<String> names = new LinkedHashSet<>();
        int length = 0;
        for (String other : others) {
            String name = Selection.storedName(other);
            Selection only = new Selection(List.of(name));
            if (names.size() < MOST_SHOWN
                    && length + name.length() < MOST_NAMES_CHARS
                    && refused.keySet().stream().noneMatch(only::wants)
                    && names.add(name)) {
                length += name.length();
            }
        }
        return String.join(",", names);
    }
}
