package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.LimitedGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Inputs of every kind that ask for more than there is, before a daemon with a small heap in a small control group: each is loaded
 * or refused with a reason, the daemon lives, and its own memory stays below a bound. {@code -Dlarder.seed=N} repeats a run.
 */
@Tag("slow")
@Timeout(900)
class HostileInputTest {
    private static final long MIB = 1L << 20;
    private static final int HEAP_MIB = 64;
    private static final long GROUP_BYTES = 600 * MIB;
    private static final long CAPACITY_BYTES = 48 * MIB;

    /** What SECURITY.md says of the memory that a load takes beside the heap. */
    private static final long BESIDE_HEAP_MIB = 160;

    @TempDir
    Path sources;

    private LimitedGroup limited;
    private ServedStore served;

    @BeforeEach
    void create() {
        limited = LimitedGroup.of(GROUP_BYTES);
        served = ServedStore.create();
    }

    @AfterEach
    void close() {
        if (limited != null) { // else the test is skipped
            served.close();
            limited.close();
        }
    }

    @Test
    void eachIsLoadedOrRefusedWithAReasonAndTheDaemonStaysSmall() throws IOException, InterruptedException {
        long seed = Long.getLong("larder.seed", System.nanoTime());
        System.err.println("hostile inputs: seed=" + seed);
        ChildJvm daemon = served.startProcessIn(
                limited, List.of("-Xmx" + HEAP_MIB + "m", "-XX:+UseSerialGC"), Long.toString(CAPACITY_BYTES));
        AnonymousPeak peak = AnonymousPeak.watch(daemon.pid());

        for (HostileInputs.Input input : new HostileInputs(sources, new Random(seed)).all()) {
            String outcome = load(input);
            System.err.println("  " + input.what() + " " + input.as() + " peakMiB=" + peak.mib() + ": " + outcome);
            assertThat(daemon.isAlive()).as(input.what()).isTrue();
            served.control().list("", true);
            if (outcome.equals("loaded")) {
                served.control().evict(name(input));
            }
        }

        assertThat(limited.group().kills().orElse(0)).isZero();
        assertThat(peak.mib()).isPositive().isLessThan(HEAP_MIB + BESIDE_HEAP_MIB);
        peak.end();
    }

    private String load(HostileInputs.Input input) {
        String name = name(input);
        LoadOptions options = LoadOptions.none().withAs(input.as());
        try {
            served.control()
                    .load(
                            new LoadRequest(
                                    List.of(new LoadRequest.Source(
                                            name, input.path().toString())),
                                    options,
                                    2),
                            progress -> {});
            return "loaded";
        } catch (LarderException e) {
            String message = String.valueOf(e.getMessage());
            if (e.code() == ErrorCode.UNEXPECTED) {
                assertThat(message).as(input.what()).contains("the daemon's heap is too small", "LARDER_DAEMON_HEAP=");
                assertThat(served.control().errors())
                        .as(input.what())
                        .anyMatch(row -> row.message().contains("the daemon's heap is too small"));
            } else {
                assertThat(e.code()).as(input.what()).isIn(ErrorCode.BAD_INPUT, ErrorCode.NO_SPACE);
            }
            return message.substring(0, Math.min(160, message.length())).replace('\n', ' ');
        }
    }

    private static String name(HostileInputs.Input input) {
        return input.what().replaceAll("[^a-z]", "");
    }

    /** Watches what only a process itself has, from a thread of its own. */
    private static final class AnonymousPeak {
        private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(2);

        private final Path status;
        private final Thread thread = new Thread(this::watch, "peak");
        private volatile long kib;
        private volatile boolean ended;

        private AnonymousPeak(long pid) {
            status = Path.of("/proc/" + pid + "/status");
        }

        static AnonymousPeak watch(long pid) {
            AnonymousPeak peak = new AnonymousPeak(pid);
            peak.thread.setDaemon(true);
            peak.thread.start();
            return peak;
        }

        private void watch() {
            while (!ended) {
                try {
                    for (String line : Files.readAllLines(status)) {
                        if (line.startsWith("RssAnon:")) {
                            kib = Math.max(kib, Long.parseLong(line.replaceAll("[^0-9]", "")));
                        }
                    }
                } catch (IOException gone) {
                    return;
                }
                LockSupport.parkNanos(STEP_NS); // between two samples
            }
        }

        long mib() {
            return kib / 1024;
        }

        void end() throws InterruptedException {
            ended = true;
            thread.join();
        }
    }
}
