package dev.larder.internal.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds the programs of coreutils and util-linux. */
public final class SystemTools {
    /** The path if the environment has none. */
    public static final String USUAL_PATH = "/usr/bin:/bin";

    private SystemTools() {}

    /** Returns the path of a program, in the {@code PATH} of this process or {@link #USUAL_PATH}. */
    public static String find(String name) throws IOException {
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
