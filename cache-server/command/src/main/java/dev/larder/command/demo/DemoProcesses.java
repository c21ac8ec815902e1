package dev.larder.command.demo;

import dev.larder.command.program.LarderScript;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.error.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The daemon and the readers of the demo. {@link #close} ends them, also if this process is interrupted. If it is killed, the readers end because their input
 * does, and the daemon because nothing uses it.
 */
public final class DemoProcesses implements AutoCloseable {
    private static final Duration IDLE = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path store;
    private final String program;
    private final List<Process> readers = new ArrayList<>();
    private @Nullable Path files;
    private boolean isServed;
    private boolean hasEnded;

    /** Prepares processes for a store that does not exist yet. */
    public DemoProcesses(Path store) {
        this.store = store;
        this.program = LarderScript.require();
        Runtime.getRuntime().addShutdownHook(new Thread(this::end, "end of the demo"));
    }

    /** A reader that has reported, and that holds the dataset. */
    public record Reader(long pid, DemoReader.Report report) {
        /** Returns the bytes of the store's pages that it maps; a page that n processes map counts 1/n. */
        public long mappedBytes(Path store) throws IOException {
            return MappedPages.proportionalBytes(pid, store);
        }
    }

    /** Makes the dataset {@code demo} and starts a daemon that has loaded it. */
    public synchronized void serve(long seed) throws IOException {
        files = Files.createTempDirectory("larder-demo");
        DemoData.write(files, seed);
        Process daemon = start("serve", "--detach", "--until-idle", IDLE.toSeconds() + "s", "--load", "demo=" + files);
        daemon.getOutputStream().close();
        daemon.getInputStream().transferTo(OutputStream.nullOutputStream());
        requireSuccess(daemon, "the daemon did not start"); // another one may serve this store: it goes on
        isServed = true;
        removeFiles();
    }

    /** Starts readers, each with an order of its own, and returns their reports. */
    public List<Reader> read(int count) throws IOException {
        synchronized (this) {
            for (int seed = 0; seed < count && !hasEnded; seed++) {
                readers.add(start("demo", "--read=" + seed));
            }
        }
        List<Reader> reports = new ArrayList<>();
        for (Process reader : readers) {
            BufferedReader output =
                    new BufferedReader(new InputStreamReader(reader.getInputStream(), StandardCharsets.UTF_8));
            String line = output.readLine();
            if (line == null) {
                requireSuccess(reader, "a reader failed");
                throw failed("a reader printed no report", 0);
            }
            reports.add(new Reader(reader.pid(), DemoReader.Report.parse(line)));
        }
        return reports;
    }

    private Process start(String... arguments) throws IOException {
        List<String> words = new ArrayList<>(List.of(program));
        words.addAll(List.of(arguments));
        words.addAll(List.of("--store", store.toString()));
        return new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private void requireSuccess(Process process, String failure) {
        try {
            int code = process.waitFor();
            if (code != 0) {
                throw failed(failure, code);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("the demo was interrupted", ErrorCode.INTERRUPTED.number());
        }
    }

    private LarderException failed(String failure, int code) {
        return Failure.of(ErrorCode.ofNumber(code), failure)
                .with("store", store)
                .with("exitCode", code)
                .remedy("its message is above; larder doctor finds problems of this machine");
    }

    @Override
    public void close() {
        end();
    }

    /** Ends the readers, then the daemon, which removes the store. */
    private synchronized void end() {
        if (hasEnded) {
            return;
        }
        hasEnded = true;
        readers.forEach(DemoProcesses::end);
        removeFiles();
        if (isServed) {
            try {
                Object unused = ControlClient.at(store).stop(false, progress -> {});
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_DAEMON) {
                    throw e;
                }
            }
        }
    }

    private static void end(Process reader) {
        try {
            reader.getOutputStream().close();
            if (!reader.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                reader.destroyForcibly();
            }
        } catch (IOException | InterruptedException e) {
            reader.destroyForcibly();
        }
    }

    private void removeFiles() {
        Path folder = files;
        if (folder == null) {
            return;
        }
        files = null;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                Files.delete(entry);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot remove the demo's files")
                    .with("path", folder)
                    .cause(e)
                    .remedy("remove the folder");
        }
    }
}
