package dev.larder.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opentest4j.TestAbortedException;

/** A file system that is mounted for one test; if this user may not mount, the test is skipped with the reason. */
public final class TinyTmpfs implements AutoCloseable {
    private final Path folder;

    private TinyTmpfs(Path folder) {
        this.folder = folder;
    }

    /** Mounts a tmpfs with these options, such as {@code size=1m}. */
    public static TinyTmpfs mount(String options) {
        return mount("tmpfs", options + ",mode=0755");
    }

    /** Mounts an overlayfs whose upper folder is on this tmpfs. Close the overlay first. */
    public TinyTmpfs overlay() {
        try {
            Path lower = Files.createDirectory(folder.resolve("lower"));
            Path upper = Files.createDirectory(folder.resolve("upper"));
            Path work = Files.createDirectory(folder.resolve("work"));
            return mount("overlay", "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TinyTmpfs mount(String type, String options) {
        try {
            Path folder = LeavesNothingBehind.newFolder();
            String refusal = run(List.of("mount", "-t", type, "-o", options, "larder-test", folder.toString()));
            if (!refusal.isEmpty()) {
                Files.delete(folder);
                throw new TestAbortedException("cannot mount: type=" + type + " reason=" + refusal);
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
