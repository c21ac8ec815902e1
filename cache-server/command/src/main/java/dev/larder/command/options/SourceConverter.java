package dev.larder.command.options;

import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.SourceAddress;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts {@code NAME=PATH}, split at the first {@code =}. The path becomes absolute, because the daemon has another working folder. */
public final class SourceConverter implements ITypeConverter<LoadRequest.Source> {
    private static final Path PARENT = Path.of("..");

    @Override
    public LoadRequest.Source convert(String text) {
        if (SourceAddress.is(text)) { // perhaps with a password, and with a = in its query
            throw nameless(text);
        }
        int split = text.indexOf('=');
        if (split <= 0 || split == text.length() - 1) {
            throw nameless(text);
        }
        String path = text.substring(split + 1);
        return path.equals(StandardInput.PATH)
                ? new LoadRequest.Source(text.substring(0, split), path)
                : source(text.substring(0, split), path);
    }

    private static TypeConversionException nameless(String text) {
        return new TypeConversionException(
                "a source is NAME=PATH, not '" + shown(text) + "'; give it a name: " + suggested(text));
    }

    /** Returns a path, or an address without its secrets. */
    public static String shown(String text) {
        return SourceAddress.is(text) ? SourceAddress.visible(text) : text;
    }

    /** Returns {@code NAME=PATH} for a path or an address; the name is its last part. */
    public static String suggested(String text) {
        if (text.length() > 1 && text.indexOf('=') == text.length() - 1) {
            return text + "PATH";
        }
        String path = text.startsWith("=") ? text.substring(1) : text;
        String last = path.replaceFirst("[?#].*", "").replaceFirst("/+$", "").replaceFirst(".*/", "");
        String stem = last.replaceFirst("(?<=.)\\..*", "").replaceAll("[^\\p{L}\\p{Nd}+_-]+", "_");
        boolean isName = stem.chars().anyMatch(Character::isLetterOrDigit) && Names.datasetObjection(stem) == null;
        return (isName ? stem : "NAME") + "=" + (path.isEmpty() ? "PATH" : shown(path));
    }

    /** Returns the source for a path of this process. */
    static LoadRequest.Source source(String name, String path) {
        return new LoadRequest.Source(name, absolute(path));
    }

    /** Normalizes a path unless that could bypass a symbolic link. */
    private static String absolute(String path) {
        if (SourceAddress.is(path)) {
            return path;
        }
        Path absolute = Path.of(path).toAbsolutePath();
        for (Path step : absolute) {
            if (step.equals(PARENT)) {
                return absolute.toString();
            }
        }
        return absolute.normalize().toString();
    }
}
