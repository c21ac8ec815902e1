package dev.larder.loader.internal.field;

import dev.larder.client.Dataset;
import dev.larder.internal.layout.StoreLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Looks up in a version's manifest which file an array was loaded from, to name it in failures. */
public final class SourceFileLookup {
    private static final Pattern ARRAY = Pattern.compile("\"array\":\\s*\"([^\"]*)\"");
    private static final Pattern PATH = Pattern.compile("\"path\":\\s*\"((?:[^\"\\\\]|\\\\.)*)\"");

    private SourceFileLookup() {}

    /** Returns the file of an array or column, the first where there are several; null where none is known. */
    public static @Nullable String of(Dataset dataset, String column) {
        Path manifest = dataset.stored().folder().resolve(StoreLayout.MANIFEST);
        List<String> found = new ArrayList<>();
        try (Stream<String> lines = Files.lines(manifest)) { // one line for each source, see FORMAT.md
            lines.filter(line -> isOf(line, column)).forEach(line -> addPath(line, found));
        } catch (IOException | RuntimeException e) {
            return null; // the version may be retired by now; the failure has all else
        }
        if (found.isEmpty()) {
            return null;
        }
        return found.size() == 1 ? found.get(0) : found.get(0) + " (and " + (found.size() - 1) + " more)";
    }

    private static boolean isOf(String line, String column) {
        Matcher array = ARRAY.matcher(line);
        return array.find() && (array.group(1).equals(column) || array.group(1).startsWith(column + "/"));
    }

    private static void addPath(String line, List<String> found) {
        Matcher path = PATH.matcher(line);
        if (path.find()) {
            found.add(path.group(1).replace("\\\\", "\\"));
        }
    }
}
