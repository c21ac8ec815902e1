package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.regex.PatternSyntaxException;

/**
 * Leaves out files and folders of a source by patterns of their names, or of their paths within the source. Leaves out everything below a folder that
 * is left out.
 */
public final class Exclusion {
    private final List<PathMatcher> matchers;

    private Exclusion(List<PathMatcher> matchers) {
        this.matchers = matchers;
    }

    /** Reads patterns as of a shell, such as {@code *.tmp} or {@code raw/**}; fails with {@link ErrorCode#USAGE} on a bad one. */
    public static Exclusion of(List<String> patterns) {
        return new Exclusion(patterns.stream().map(Exclusion::matcher).toList());
    }

    private static PathMatcher matcher(String pattern) {
        try {
            return FileSystems.getDefault().getPathMatcher("glob:" + pattern);
        } catch (PatternSyntaxException e) {
            throw Failure.of(ErrorCode.USAGE, "bad pattern")
                    .with("exclude", pattern)
                    .with("reason", e.getDescription())
                    .cause(e)
                    .remedy("give --exclude a shell pattern, as in --exclude '*.tmp'");
        }
    }

    /**
     * Returns whether an entry of a folder is left out.
     *
     * @param level the path of the folder within the source, with a slash at its end; empty for the source itself
     */
    public boolean matches(String level, String name) {
        if (matchers.isEmpty()) {
            return false;
        }
        Path file = Path.of(name);
        Path whole = Path.of(level + name);
        return matchers.stream().anyMatch(matcher -> matcher.matches(file) || matcher.matches(whole));
    }
}
