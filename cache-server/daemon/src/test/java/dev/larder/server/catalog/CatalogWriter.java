package dev.larder.server.catalog;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process that writes to a catalog until it is killed. */
final class CatalogWriter {
    private static final int WARM_UP = 1_000;

    private CatalogWriter() {}

    /** Starts one with the flags of this process; it says {@code writing} once it is at it. */
    static Process start(Path file) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("--") || flag.startsWith("-D"))
                .forEach(command::add);
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), CatalogWriter.class.getName(), file.toString()));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    public static void main(String[] args) {
        Catalog catalog = ChronicleCatalog.open(Path.of(args[0]), false);
        for (long version = 0; ; version++) {
            catalog.put(CatalogContractTest.entry("dataset" + version % 100, version % 1_000));
            catalog.remove("dataset" + version % 100, version % 1_000 - 500);
            if (version == WARM_UP) {
                System.out.println("writing");
            }
        }
    }
}
