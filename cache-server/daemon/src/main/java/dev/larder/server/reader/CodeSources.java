package dev.larder.server.reader;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;

/** Finds the jars of classes. */
final class CodeSources {
    private CodeSources() {}

    /** Returns the jar or folder that a class was loaded from. */
    static Path of(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        try {
            return Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException("type=" + type, e);
        }
    }
}
