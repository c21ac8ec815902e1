package dev.larder.testing;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * A small file system that is mounted for one test, or part of one. The test is skipped with the reason if this user or machine cannot mount it.
 */
public final class TinyTmpfs implements AutoCloseable {
    private final Path folder;
    private final @Nullable TinyTmpfs below;

    private TinyTmpfs(Path folder, @Nullable TinyTmpfs below) {
        this.folder = folder;
        this.below = below;
    }

    /** Mounts a tmpfs with these options, such as {@code size=1m}. */
    public static TinyTmpfs mount(String options) {
        return mount(List.of("-t", "tmpfs", "-o", options + ",mode=0755", "larder-test"), null);
    }

    /** Mounts an overlayfs whose upper folder is on a tmpfs with these options. */
    public static TinyTmpfs overlay(String options) {
        return on(mount(options), below -> {
            Path lower = Files.createDirectory(below.folder.resolve("lower"));
            Path upper = Files.createDirectory(below.folder.resolve("upper"));
            Path work = Files.createDirectory(below.folder.resolve("work"));
            String layers = "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work;
            return mount(List.of("-t", "overlay", "-o", layers, "larder-test"), below);
        });
    }

    /** Mounts an ext4 on a file that fills a tmpfs with these options. */
    public static TinyTmpfs ext4(String options) {
        return on(mount(options), below -> {
            Path image = below.folder.resolve("image");
            try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
                file.setLength(Files.getFileStore(below.folder).getTotalSpace());
            }
            requireDone("make an ext4", run(List.of("mkfs.ext4", "-q", "-F", "-m", "0", image.toString())));
            return mount(List.of("-o", "loop", image.toString()), below);
        });
    }

    /** Mounts a folder a second time, for readers only. */
    public static TinyTmpfs readOnly(Path folder) {
        return mount(List.of("-o", "bind,ro", folder.toString()), null);
    }

    private interface Mounting {
        TinyTmpfs on(TinyTmpfs below) throws IOException;
    }

    private static TinyTmpfs on(TinyTmpfs below, Mounting mounting) {
        try {
            return mounting.on(below);
        } catch (IOException e) {
            below.close();
            throw new UncheckedIOException(e);
        } catch (TestAbortedException e) {
            below.close();
            throw e;
        }
    }

    private static TinyTmpfs mount(List<String> words, @Nullable TinyTmpfs below) {
        Path folder = LeavesNothingBehind.newFolder();
        List<String> command = new ArrayList<>(List.of("mount"));
        command.addAll(words);
        command.add(folder.toString());
        String refusal = run(command);
        if (!refusal.isEmpty()) {
            Folders.remove(folder);
        }
        requireDone("mount " + String.join(" ", words), refusal);
        return new TinyTmpfs(folder, below);
    }

    private static void requireDone(String what, String refusal) {
        if (!refusal.isEmpty()) {
            throw new TestAbortedException("cannot " + what + ": " + refusal);
        }
    }

    public Path folder() {
        return folder;
    }

    /** Returns what the command says; nothing where it succeeds. */
    private static String run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? "" : output.trim() + " (" + process.exitValue() + ")";
        } catch (IOException notInstalled) {
            return notInstalled.toString();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Unmounts it, at the latest when its last file is closed. */
    @Override
    public void close() {
        String refusal = run(List.of("umount", "-l", folder.toString()));
        if (!refusal.isEmpty()) {
            throw new AssertionError("cannot unmount: " + refusal);
        }
        Folders.remove(folder);
        if (below != null) {
            below.close();
        }
    }
}
