package dev.larder.loader.internal.field;

import dev.larder.client.Column;
import dev.larder.client.Dataset;
import dev.larder.client.StringsColumn;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the origin of a row for failures: the row's own name, and its file if that is certain. A wrong file is worse than
 * none, because a user may remove it.
 */
final class RowOrigin {
    private static final Pattern LINE =
            Pattern.compile("^\\{\"array\":\"([^\"]*)\",\"path\":\"((?:[^\"\\\\]|\\\\.)*)\".*");
    private static final Pattern ORIGINS = Pattern.compile("^\"origins\": \\[\"((?:[^\"\\\\]|\\\\.)*)\"],$");

    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u([0-9a-f]{4})|(.))");

    private final Dataset dataset;
    private final String column;
    private final Map<String, Set<String>> sourcesOfArrays = new TreeMap<>();
    private final Set<String> all = new LinkedHashSet<>();
    private @Nullable String origin;

    private RowOrigin(Dataset dataset, String column) {
        this.dataset = dataset;
        this.column = column;
    }

    /** Adds the row's name and its source to a failure, as far as they are known. */
    static void describe(Failure failure, Dataset dataset, String column, long row) {
        RowOrigin origin = new RowOrigin(dataset, column);
        String name = origin.addName(failure, row);
        try (Stream<String> lines = Files.lines(dataset.stored().folder().resolve(StoreLayout.MANIFEST))) {
            lines.forEach(origin::read); // one line for each source, see FORMAT.md
        } catch (IOException | RuntimeException e) {
            return; // the version may be retired by now; the failure has all else
        }
        String source = origin.source(name);
        if (source != null) {
            failure.with("source", source);
        }
    }

    private @Nullable String addName(Failure failure, long row) {
        String folder = column.substring(0, column.lastIndexOf('/') + 1);
        for (Naming naming : List.of(
                new Naming(column + "/names", "file"),
                new Naming(folder + "path", "file"), // of a folder of images
                new Naming(folder + "keys", "key"))) { // of archives of samples
            String name = name(naming.texts, row);
            if (name != null) {
                failure.with(naming.fact, name);
                return name;
            }
        }
        return null;
    }

    /** A column of texts that names rows, and the fact of a failure that its text is. */
    private record Naming(String texts, String fact) {}

    private @Nullable String name(String texts, long row) {
        boolean isThere = dataset.columns().contains(new Column(texts, Column.Kind.STRINGS));
        StringsColumn names = isThere ? dataset.strings(texts) : null;
        return names == null || row < 0 || row >= names.rows() ? null : names.get(row);
    }

    private void read(String line) {
        Matcher source = LINE.matcher(line);
        if (source.matches()) {
            String path = unescaped(source.group(2));
            all.add(path);
            sourcesOfArrays
                    .computeIfAbsent(source.group(1), array -> new LinkedHashSet<>())
                    .add(path);
            return;
        }
        Matcher only = ORIGINS.matcher(line);
        if (only.matches()) {
            origin = unescaped(only.group(1));
        }
    }

    private static String unescaped(String text) {
        return ESCAPE.matcher(text)
                .replaceAll(escape -> Matcher.quoteReplacement(
                        escape.group(1) == null
                                ? escape.group(2)
                                : Character.toString(Integer.parseInt(escape.group(1), 16))));
    }

    /** Returns the file of the row if only one fits, else the path that was loaded, mostly a folder. */
    private @Nullable String source(@Nullable String name) {
        List<String> named = name == null
                ? List.of()
                : all.stream().filter(path -> path.endsWith("/" + name)).toList();
        if (named.size() == 1) {
            return named.get(0);
        }
        Set<String> own = new LinkedHashSet<>();
        sourcesOfArrays.forEach((array, paths) -> {
            if (array.equals(column) || array.startsWith(column + "/")) {
                own.addAll(paths);
            }
        });
        return own.size() == 1 && isOnlySource(own) ? own.iterator().next() : origin;
    }

    /** Returns whether no array has this file and others: an array may list only the first of its files. */
    private boolean isOnlySource(Set<String> own) {
        return sourcesOfArrays.values().stream().noneMatch(paths -> paths.size() > 1 && paths.containsAll(own));
    }
}
