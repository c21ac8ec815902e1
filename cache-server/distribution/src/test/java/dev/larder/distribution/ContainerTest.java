package dev.larder.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uses an archive as in a container: with processes of its own, a /dev/shm of 64 MiB, and a user who is only a number. */
@Tag("slow")
class ContainerTest {
    private static final int UID = 23456;
    private static final int LARGE_BYTES = 100 << 20;
    private static final List<String> NAMESPACES =
            List.of("unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc");

    /** Becomes the user in a /dev/shm of its own; then runs what follows. */
    private static final String ENTER = """
            mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm &&
            exec setpriv --reuid=%d --regid=%d --clear-groups --no-new-privs -- "$@"
            """.formatted(UID, UID);

    /** Takes the command, the sources and the folder for Python. Prints a line for each step. */
    private static final String SESSION = """
            larder=$1 sources=$2 client=$3
            for python in python3 /usr/bin/python3; do
              "$python" -c 'import numpy' 2>/dev/null && break
            done
            "$larder" serve --detach --load d="$sources/small" >/dev/null || exit
            echo "store $("$larder" path d/a)"
            "$python" -c 'import numpy' 2>/dev/null || { echo "python has no numpy"; exec "$larder" stop; }
            echo "python $(PYTHONPATH=$client "$python" -B -c 'import larder; print(larder.open("d/a").sum(), larder._store._location())')"
            load() {
              code=0
              "$larder" load "e=$sources/large" >"$sources/printed" 2>&1 || code=$?
              echo "load $code $(tail -n 1 "$sources/printed")"
              "$larder" ls --json | tr -d ' ' | grep -o '"name":"[^"]*"'
              "$larder" stop >/dev/null
              echo "stop $? left:$(ls -A /dev/shm; find /var/tmp -maxdepth 1 -user "$(id -u)")"
            }
            load
            export LARDER_STORE=/dev/shm/own
            "$larder" serve --detach --load d="$sources/small" >/dev/null || exit
            load
            """;

    @TempDir
    Path temporary;

    @BeforeEach
    void needNamespaces() {
        List<String> probe = new ArrayList<>(NAMESPACES);
        probe.addAll(List.of("sh", "-c", ENTER, "sh", "test", "-x", temporary.toString()));
        openToAll(temporary);
        assumeTrue(
                Installed.run(Map.of(), probe).code() == 0,
                "cannot make namespaces, or other users cannot reach this folder");
    }

    private static void openToAll(Path folder) {
        try {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Writes a file of numpy's whose bytes are zeros but for the first. */
    private static void writeArray(Path file, int byteSize) throws IOException {
        String dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + byteSize + ",), }";
        byte[] header = (dict + " ".repeat(117 - dict.length()) + "\n").getBytes(StandardCharsets.ISO_8859_1);
        Files.createDirectories(file.getParent());
        try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
            out.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0});
            out.write(header);
            out.write(7);
            out.setLength(128 + (long) byteSize);
        }
    }

    @Test
    void aUserWithoutANameServesAndReadsFromADiskOrIsRefusedWhatDoesNotFitAndLeavesNothing() throws IOException {
        Path sources = Files.createDirectory(temporary.resolve("sources"));
        openToAll(sources);
        writeArray(sources.resolve("small/a.npy"), 1 << 20);
        writeArray(sources.resolve("large/b.npy"), LARGE_BYTES);
        Path installed =
                Installed.unpack("larder.archive", temporary.resolve("in")).root();

        List<String> words = new ArrayList<>(NAMESPACES);
        words.addAll(List.of("sh", "-c", ENTER, "sh", "bash", "-c", SESSION, "session"));
        words.addAll(List.of(installed.resolve("bin/larder").toString(), sources.toString()));
        words.add(installed.resolve("python").toString());
        Ended ended = Installed.run(
                Map.of("HOME", "/", "PATH", "/usr/local/bin:/usr/bin:/bin", "TMPDIR", sources.toString()), words);

        assertThat(ended.code()).as(ended.toString()).isZero();
        assumeTrue(!ended.out().contains("python has no numpy"), "no numpy");
        assertThat(ended.out().lines())
                .as(ended.err())
                .satisfiesExactly(
                        store -> assertThat(store).isEqualTo("store /var/tmp/larder-" + UID + "/data/d/1/a.npy"),
                        python -> assertThat(python).isEqualTo("python 7 /var/tmp/larder-" + UID),
                        load -> assertThat(load).startsWith("load 0 ").contains("bytes=" + LARGE_BYTES),
                        name -> assertThat(name).isEqualTo("\"name\":\"d/a\""),
                        name -> assertThat(name).isEqualTo("\"name\":\"e/b\""),
                        stop -> assertThat(stop).isEqualTo("stop 0 left:"),
                        load -> assertThat(load)
                                .startsWith("load 5 larder: not enough space: needed=")
                                .contains("; "),
                        name -> assertThat(name).isEqualTo("\"name\":\"d/a\""),
                        stop -> assertThat(stop).isEqualTo("stop 0 left:"));
    }
}
