package dev.larder.command;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;

/** Sources to load in tests. */
final class Samples {
    private Samples() {}

    /** Writes a vector of bytes 0, 1, 2, … to {@code <folder>/<name>.npy}. */
    static Path vector(Path folder, String name, int length) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = (byte) i;
        }
        Path file = folder.resolve(name + ".npy");
        try {
            Files.write(file, header(length));
            Files.write(file, data, StandardOpenOption.APPEND);
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes a file of zeros that takes some time to load but no space on disk. */
    static Path large(Path folder, long bytes) {
        Path file = folder.resolve("large.npy");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            byte[] header = header(bytes);
            sparse.write(header);
            sparse.setLength(header.length + bytes);
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes a file of random bytes to {@code <folder>/noise.npy}; the length is a multiple of a MiB. */
    static Path noise(Path folder, long bytes, long seed) {
        Path file = folder.resolve("noise.npy");
        SplittableRandom random = new SplittableRandom(seed);
        byte[] chunk = new byte[1 << 20];
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(header(bytes));
            for (long written = 0; written < bytes; written += chunk.length) {
                random.nextBytes(chunk);
                out.write(chunk);
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] header(long length) {
        ByteBuffer header = NpyHeader.of(Dtype.parse("|u1"), Order.C, length).encode(64);
        byte[] bytes = new byte[header.remaining()];
        header.get(bytes);
        return bytes;
    }

    /** Starts a process that holds a lease, as any program can, or skips the test where there is no Python. */
    static Process reader(Path lease) {
        String script =
                "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_SH); print('held', flush=True);"
                        + " sys.stdin.read()";
        try {
            Process process = new ProcessBuilder("/usr/bin/python3", "-c", script, lease.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            if (process.getInputStream().read() != 'h') {
                throw new AssertionError("no lease: " + lease);
            }
            return process;
        } catch (IOException noPython) {
            throw new TestAbortedException("needs python3: " + noPython);
        }
    }

    /**
     * Runs a command line on a terminal of 40 columns and 8 rows, presses a key when it has drawn twice, and returns what it drew
     * and its exit code; or skips the test if there is no Python.
     */
    static String onTerminal(String command, char key) {
        String script = """
                import fcntl, os, pty, struct, sys, termios
                pid, terminal = pty.fork()
                if pid == 0:
                    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 8, 40, 0, 0))
                    os.environ['TERM'] = 'xterm'
                    os.execvp('sh', ['sh', '-c', 'exec ' + sys.argv[1]])
                drawn, pressed = b'', False
                while True:
                    try:
                        drawn += os.read(terminal, 65536)
                    except OSError:
                        break
                    if not pressed and drawn.count(b'\\x1b[J') >= 2:
                        os.write(terminal, sys.argv[2].encode())
                        pressed = True
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                sys.stdout.buffer.write(drawn.replace(b'^C', b'') + b'exit=%d' % code)
                """;
        try {
            Process process = new ProcessBuilder("/usr/bin/python3", "-c", script, command, String.valueOf(key))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException noPython) {
            throw new TestAbortedException("needs python3: " + noPython);
        }
    }

    /** Runs a script with numpy in a folder and returns what it printed, or skips the test where there is no numpy. */
    static String numpy(Path folder, String script) {
        try {
            Process process = new ProcessBuilder("/usr/bin/python3", "-c", "import numpy as np\n" + script)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor(60, TimeUnit.SECONDS);
            assumeTrue(!output.contains("ModuleNotFoundError"), "needs numpy");
            if (process.exitValue() != 0) {
                throw new AssertionError(output);
            }
            return output.strip();
        } catch (IOException noPython) {
            throw new TestAbortedException("needs python3: " + noPython);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
