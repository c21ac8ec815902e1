package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.process.Guardian;
import dev.larder.internal.process.ProcessFamily;
import dev.larder.internal.process.SystemTools;
import dev.larder.message.MessageReader;
import dev.larder.message.Messages;
import dev.larder.reader.Answer;
import dev.larder.reader.FormatReader;
import dev.larder.reader.ReaderProgram;
import dev.larder.reader.WarningsOnly;
import dev.larder.reader.Wire;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The process of one reader. It has a heap of its own, and none of the daemon's environment, descriptors or terminal. The kernel kills it when the
 * daemon dies. Its output is untrusted and bounded.
 */
final class ReaderChild implements AutoCloseable {
    private static final String USUAL_PATH = "/usr/bin:/bin";

    /** The time zone, and the variable that keeps SIGUSR2, which schedulers send, from crashing a JVM. */
    private static final Set<String> KEPT = Set.of("TZ", "_JAVA_SR_SIGNUM");

    private static final int QUOTED_BYTES = 1_500;
    private static final int MOST_CRASH_BYTES = 8 << 10;
    private static final String CRASH = "A fatal error has been detected by the Java Runtime Environment";

    /** So many answers may wait: each may have {@link Messages#MAX_BYTES}. */
    private static final int MOST_WAITING = 8;

    private static final int EXIT_OUT_OF_MEMORY = 3;

    /** The JVM adds this to the number of the signal that killed a process. */
    private static final int EXIT_BY_SIGNAL = 128;

    private static final int SIGKILL = 9;
    private static final Map<Integer, String> SIGNALS = Map.of(
            4, "SIGILL", 6, "SIGABRT", 7, "SIGBUS", 8, "SIGFPE", SIGKILL, "SIGKILL", 11, "SIGSEGV", 15, "SIGTERM", 31,
            "SIGSYS");

    /** Time limit for the end of a reader after its last answer. */
    private static final long END_SECONDS = 5;

    private static final long WORDS_MS = 500;

    /** With less to read than this, the second compiler and a parallel collector cost more processor time than they save. */
    private static final long QUICK_BYTES = 64L << 20;

    /** With less to read than this, the reader starts and ends, and compiled code hardly runs. */
    private static final long TINY_BYTES = 1L << 20;

    private final ReaderSpec spec;
    private final Path folder;
    private final ReaderClasses classes;
    private final String heap;
    private final ProcessFamily family = ProcessFamily.begin();
    private final BlockingQueue<Said> said = new LinkedBlockingQueue<>(MOST_WAITING);
    private final byte[] lastWords = new byte[QUOTED_BYTES];
    private final CountDownLatch wordsEnd = new CountDownLatch(1);
    private int wordsBytes;
    private final CountDownLatch started = new CountDownLatch(1);
    private volatile @Nullable Process process;
    private volatile @Nullable Guardian guardian;
    private volatile @Nullable IOException notStarted;
    private volatile boolean closed;

    /** The next answer of the reader, or the reason why there is none. */
    record Said(@Nullable Answer answer, @Nullable IOException broken) {}

    private ReaderChild(ReaderSpec spec, Path folder, String heap, ReaderClasses classes) {
        this.spec = spec;
        this.folder = folder;
        this.heap = heap;
        this.classes = classes;
    }

    /**
     * Starts a reader.
     *
     * @param folder its working folder, with its temporary files
     * @param sourceBytes how much it reads; {@link Long#MAX_VALUE} if that is unknown
     */
    static ReaderChild start(Readers.Known reader, Path folder, String heap, int workers, long sourceBytes) {
        Readers.Known.Startable startable = reader.requireStartable();
        String classPath = classPath(reader.spec(), startable.folder());
        ReaderClasses classes = ReaderClasses.of(reader.spec(), startable.java(), classPath);
        ReaderChild process = new ReaderChild(reader.spec(), folder, heap, classes);
        // The kernel kills the process when the thread that started it ends: this one stays with it.
        Thread thread =
                new Thread(() -> process.run(startable.java(), classPath, workers, sourceBytes), "larder-reader");
        thread.setDaemon(true);
        thread.start();
        process.awaitStart();
        return process;
    }

    private List<String> words(Path java, String classPath, int workers, long sourceBytes) throws IOException {
        boolean isQuick = sourceBytes < QUICK_BYTES;
        List<String> words = new ArrayList<>(List.of(SystemTools.find("env"), "--default-signal"));
        words.addAll(List.of(SystemTools.find("setsid"), SystemTools.find("setpriv")));
        words.addAll(List.of("--pdeathsig", "KILL", "--", java.toString()));
        words.addAll(List.of(
                "-Xmx" + heap,
                "-XX:+ExitOnOutOfMemoryError",
                "-XX:-UsePerfData",
                "-XX:+DisplayVMOutputToStderr",
                "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=/dev/null", // standard output has the reason of a crash
                workers > 1 && !isQuick ? "-XX:+UseParallelGC" : "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=" + (isQuick ? 1 : 4),
                "-XX:CompileThresholdScaling=" + (sourceBytes < TINY_BYTES ? 5 : 1),
                "-Djava.io.tmpdir=" + folder,
                "-Dslf4j.internal.verbosity=ERROR",
                "-Djava.util.logging.config.class=" + WarningsOnly.class.getName()));
        words.addAll(classes.flags(folder));
        words.addAll(spec.flags());
        words.addAll(List.of("-cp", classPath, ReaderProgram.class.getName()));
        return words;
    }

    private static String classPath(ReaderSpec spec, Path folder) {
        List<String> entries = new ArrayList<>();
        entries.add(CodeSources.of(FormatReader.class).toString());
        Messages.classPath().forEach(entry -> entries.add(entry.toString()));
        entries.addAll(spec.classPath());
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(folder, "*.jar")) {
            List<String> found = new ArrayList<>();
            jars.forEach(jar -> found.add(jar.toAbsolutePath().toString()));
            found.stream().sorted().forEach(entries::add);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot list the jars of a reader")
                    .with("kind", spec.kind())
                    .with("reason", e)
                    .cause(e)
                    .remedy("check the folder " + folder);
        }
        String foreign = ForeignJars.classPath(spec);
        if (!foreign.isEmpty()) {
            entries.add(foreign);
        }
        return String.join(":", entries);
    }

    private void run(Path java, String classPath, int workers, long sourceBytes) {
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(words(java, classPath, workers, sourceBytes)).directory(folder.toFile());
            Map<String, String> environment = builder.environment();
            environment.keySet().removeIf(name -> !spec.environment().contains(name) && !KEPT.contains(name));
            environment.put("PATH", USUAL_PATH);
            environment.put("LC_ALL", "C.UTF-8"); // Java reads names of files in the locale's encoding
            environment.put(ProcessFamily.VARIABLE, family.token());
            Guardian guarding = new Guardian(family);
            guardian = guarding;
            Process running = builder.start();
            process = running;
            family.leadBy(running.pid());
            guarding.watch(running.pid());
            started.countDown();
            Thread quoting = new Thread(() -> keepLastWords(running.getErrorStream()), "larder-reader-words");
            quoting.setDaemon(true);
            quoting.start();
            listen(running);
            running.waitFor();
        } catch (IOException e) {
            notStarted = e;
        } catch (RuntimeException e) {
            notStarted = new IOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            started.countDown();
        }
    }

    /** Takes the answers of the reader until it ends or sends anything else, or until the process is closed. */
    private void listen(Process running) throws InterruptedException {
        MessageReader messages = new MessageReader();
        try (InputStream in = running.getInputStream()) {
            try {
                while (!closed) {
                    tell(new Said(Wire.answer(messages, in), null));
                }
            } catch (IOException e) {
                keepCrash(messages.beginning(MOST_CRASH_BYTES), in);
                tell(new Said(null, e));
            }
        } catch (IOException e) {
            tell(new Said(null, e));
        }
    }

    /** A JVM that crashes prints the reason to standard output, in lines that begin with a sign. */
    private void keepCrash(byte[] begin, InputStream in) throws IOException {
        if (begin.length > 0 && begin[0] == '#') {
            keep(begin, begin.length);
            byte[] more = in.readNBytes(MOST_CRASH_BYTES - begin.length);
            keep(more, more.length);
        }
    }

    /** Waits until the daemon takes an answer, or until the process is closed. */
    private void tell(Said next) throws InterruptedException {
        boolean taken = false;
        while (!taken && !closed) {
            taken = said.offer(next, 100, TimeUnit.MILLISECONDS);
        }
    }

    private void keepLastWords(InputStream in) {
        byte[] some = new byte[8192];
        try (in) {
            for (int count = in.read(some); count >= 0; count = in.read(some)) {
                keep(some, count);
            }
        } catch (IOException ended) {
            return;
        } finally {
            wordsEnd.countDown();
        }
    }

    private void keep(byte[] some, int count) {
        synchronized (lastWords) {
            int kept = Math.min(count, QUOTED_BYTES);
            int before = Math.min(wordsBytes, QUOTED_BYTES - kept);
            System.arraycopy(lastWords, wordsBytes - before, lastWords, 0, before);
            System.arraycopy(some, count - kept, lastWords, before, kept);
            wordsBytes = before + kept;
        }
    }

    /** Returns the end of the reader's output in one line. A JVM that crashes begins its lines with a sign. */
    private String lastWords() {
        synchronized (lastWords) {
            return new String(lastWords, 0, wordsBytes, StandardCharsets.UTF_8)
                    .replaceAll("(?m)^#", " ")
                    .strip()
                    .replaceAll("\\s+", " ")
                    .replaceAll("\\p{Cntrl}", "?");
        }
    }

    private void awaitStart() {
        try {
            started.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while a reader started")
                    .exception();
        }
        IOException reason = notStarted;
        if (reason != null) {
            kill();
            throw failure("cannot start a reader", reason).remedy("check its Java and the machine's limits");
        }
    }

    private Process running() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException("reader was not started");
        }
        return running;
    }

    /** Sends messages, without waiting for a reader that takes none. */
    void send(Stream<byte[]> messages) {
        OutputStream out = running().getOutputStream();
        Thread thread = new Thread(
                () -> {
                    try {
                        for (Iterator<byte[]> all = messages.iterator(); all.hasNext(); ) {
                            out.write(all.next());
                        }
                        out.flush();
                    } catch (IOException ended) {
                        return; // the failure is that of the answer
                    }
                },
                "larder-reader-request");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns the next answer; null after a timeout. */
    @Nullable
    Said next(long timeoutMs) throws InterruptedException {
        return said.poll(timeoutMs, TimeUnit.MILLISECONDS);
    }

    /** Returns the failure of a reader that ended too early, or sent an impossible message. */
    LarderException ended(IOException broken) {
        Process running = running();
        awaitEnd();
        if (running.isAlive()) {
            return broken instanceof EOFException
                    ? failure("a reader closed its output, and did not end", null)
                            .remedy(replace())
                    : failure("a reader broke the protocol", broken).remedy(replace());
        }
        int code = running.exitValue();
        if (code == EXIT_OUT_OF_MEMORY) {
            return failure("a reader had not enough memory", null)
                    .with("heap", heap)
                    .remedy("give it more: " + ReaderLimits.HEAP_VARIABLE
                            + "=SIZE; if the file is small, it is damaged");
        } else if (code > EXIT_BY_SIGNAL) {
            int signal = code - EXIT_BY_SIGNAL;
            return failure("a reader died", null)
                    .with("exit", code)
                    .with("signal", SIGNALS.getOrDefault(signal, String.valueOf(signal)))
                    .remedy("nothing else is affected; "
                            + (code == EXIT_BY_SIGNAL + SIGKILL
                                    ? "unless another process killed it, the machine or its cgroup ran out of memory: see dmesg"
                                    : "check the files, or report its output"));
        } else if (!(broken instanceof EOFException) && !lastWords().contains(CRASH)) {
            return failure("a reader broke the protocol", broken)
                    .with("exit", code)
                    .remedy(replace());
        }
        return failure("a reader died", null)
                .with("exit", code)
                .remedy("nothing else is affected; check the files, or report its output");
    }

    private String replace() {
        return "replace the reader " + spec.kind();
    }

    /** Starts a failure of the reader, with the end of its output. */
    Failure failure(String what, @Nullable IOException reason) {
        Failure failure = Failure.of(ErrorCode.UNEXPECTED, what).with("kind", spec.kind());
        if (reason != null) {
            failure = failure.with("reason", reason).cause(reason);
        }
        String words = lastWords();
        return words.isEmpty() ? failure : failure.with("said", "\"" + words + "\"");
    }

    /** Returns the kind of the reader, and the end of its output. */
    String describe() {
        String words = lastWords();
        return words.isEmpty() ? spec.kind() : spec.kind() + " said=\"" + words + "\"";
    }

    /** Waits a moment for a reader that is done to end by itself. */
    void awaitEnd() {
        try {
            if (running().waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                var unused = wordsEnd.await(WORDS_MS, TimeUnit.MILLISECONDS); // a child of it may hold on to the pipe
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Kills it and its children; returns false if one could not be killed. Idempotent. */
    boolean kill() {
        closed = true;
        Process running = process;
        boolean allDead = true;
        if (running != null) {
            running.destroyForcibly();
            allDead = family.kill();
            awaitEnd();
            classes.learn(folder);
        }
        Guardian guarding = guardian;
        if (guarding != null) {
            guarding.close();
        }
        return allDead;
    }

    @Override
    public void close() {
        kill();
    }
}
