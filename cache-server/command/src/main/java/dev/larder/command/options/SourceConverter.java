package dev.larder.command.options;

import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.SourceAddress;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code NAME=PATH}, split at the first {@code =}; the path becomes absolute, as the daemon lives in another folder. */
public final class SourceConverter implements ITypeConverter<LoadRequest.Source> {
    private static final Path PARENT = Path.of("..");

    @Override
    public LoadRequest.Source convert(String text) {
        if (SourceAddress.is(text)) { // perhaps with a password, and with a = in its query
            throw new TypeConversionException(
                    "not a source: '" + SourceAddress.visible(text) + "' (a source is NAME=ADDRESS)");
        }
        int split = text.indexOf('=');
        if (split <= 0 || split == text.length() - 1) {
            throw new TypeConversionException("not a source: '" + text + "' (a source is NAME=PATH)");
        }
        String path = text.substring(split + 1);
        return path.equals(StandardInput.PATH)
                ? new LoadRequest.Source(text.substring(0, split), path)
                : source(text.substring(0, split), path);
    }

    /** Returns the source that a path of this process stands for. */
    static LoadRequest.Source source(String name, String path) {
        return new LoadRequest.Source(name, absolute(path));
    }

    /** Tidies a path, except where that could lead past a symbolic link. */
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
