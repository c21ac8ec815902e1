package dev.larder.internal.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds small tools that every Linux has. */
public final class SystemTools {
    private static final String USUAL_PATH = "/usr/bin:/bin";

    private SystemTools() {}

    /** Returns the path of a tool of util-linux or coreutils. */
    public static String path(String name) throws IOException {
        String path = System.getenv("PATH");
        for (String folder : (path == null ? USUAL_PATH : path + ":" + USUAL_PATH).split(":", -1)) {
            Path tool = Path.of(folder).resolve(name);
            if (tool.isAbsolute() && Files.isExecutable(tool)) {
                return tool.toString();
            }
        }
        throw new IOException("no " + name + " on this machine; install util-linux and coreutils");
    }
}
