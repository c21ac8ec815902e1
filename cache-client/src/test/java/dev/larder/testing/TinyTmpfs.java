package dev.larder.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opentest4j.TestAbortedException;

/** A tmpfs of a few pages, mounted for one test; where this user may not mount, the test is skipped with the reason. */
public final class TinyTmpfs implements AutoCloseable {
    private final Path folder;

    private TinyTmpfs(Path folder) {
        this.folder = folder;
    }

    /** Mounts one with these options, such as {@code size=1m}. */
    public static TinyTmpfs mount(String options) {
        try {
            Path folder = LeavesNothingBehind.newFolder();
            String refusal = run(
                    List.of("mount", "-t", "tmpfs", "-o", options + ",mode=0755", "larder-test", folder.toString()));
            if (!refusal.isEmpty()) {
                Files.delete(folder);
                throw new TestAbortedException("cannot mount a tmpfs: " + refusal);
            }
            return new TinyTmpfs(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path folder() {
        return folder;
    }

    /** Returns what the command says; nothing where it succeeds. */
    private static String run(List<String> command) throws IOException {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? "" : output.trim() + " (" + process.exitValue() + ")";
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Unmounts it, at the latest when its last file is closed. */
    @Override
    public void close() {
        try {
            String refusal = run(List.of("umount", "-l", folder.toString()));
            if (!refusal.isEmpty()) {
                throw new AssertionError("cannot unmount: " + refusal);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
