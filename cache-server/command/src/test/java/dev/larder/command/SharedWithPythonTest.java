package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Larder;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.distributed.shared.SharedLock;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Shared arrays that programs in Java and Python write together. */
@Timeout(300)
class SharedWithPythonTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Dtype LONG = Dtype.parse("<i8");

    private final List<Process> pythons = new ArrayList<>();
    private CommandProcess daemon;
    private Larder larder;
    private Regions regions;

    @BeforeEach
    void serve() {
        PythonModules.requireNumpy("python3");
        daemon = CommandProcess.serve();
        larder = Larder.connect(daemon.store());
        regions = Regions.of(larder);
    }

    @AfterEach
    void stop() {
        pythons.forEach(Process::destroyForcibly);
        if (daemon != null) {
            regions.close();
            larder.close();
            daemon.close();
        }
    }

    /** Takes the lock of the array {@code a} for writing, and holds it until it is killed. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] arguments) {
            try (Larder larder = Larder.connect(Path.of(arguments[0]));
                    Regions regions = Regions.of(larder);
                    SharedArray array = SharedArray.open(regions, "a");
                    SharedLock.Hold hold = array.lock().writeLock(PATIENCE)) {
                System.out.println("held " + hold.wasAbandoned());
                while (ProcessHandle.current().parent().isPresent()) {
                    LockSupport.parkNanos(100_000_000);
                }
            }
        }
    }

    /** Starts a program that has the array {@code a} as {@code shared}. */
    private Process python(String program) throws IOException {
        String head = "import sys, time\nsys.path.insert(0, %s)\nimport larder\nshared = larder.shared('a', 'i8', 8)\n";
        ProcessBuilder python = new ProcessBuilder(
                "python3", "-B", "-W", "error", "-c", head.formatted("'" + PythonModules.TESTS + "'") + program);
        python.environment().putAll(Map.of("LARDER_STORE", daemon.store().toString(), "LARDER_START", "never"));
        Process process = python.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        pythons.add(process);
        return process;
    }

    @Test
    void bothCountUnderTheLockAndMeetAtTheBarrier() throws Exception {
        try (SharedArray array = SharedArray.openOrCreate(regions, "a", LONG, 8)) {
            Process python = python("""
                    for i in range(20):
                        shared.barrier(2)
                        for j in range(20):
                            with shared.lock(60):
                                shared.array[:] = [value + 1 for value in shared.array.tolist()]
                    last = shared.barrier(2)
                    print(shared.array.tolist(), last)
                    """);

            for (int i = 0; i < 20; i++) {
                array.barrier(2, PATIENCE);
                for (int j = 0; j < 20; j++) {
                    addUnderTheLock(array);
                }
            }
            boolean isLast = array.barrier(2, PATIENCE);

            assertThat(python.inputReader().readLine())
                    .isEqualTo("[800, 800, 800, 800, 800, 800, 800, 800] " + (isLast ? "False" : "True"));
            assertThat(python.waitFor()).isZero();
        }
    }

    private static void addUnderTheLock(SharedArray array) {
        try (SharedLock.Hold hold = array.lock().writeLock(PATIENCE)) {
            assertThat(hold.wasAbandoned()).isFalse();
            for (long i = 0; i < array.elementCount(); i++) {
                array.setLong(i, array.getLong(i) + 1);
            }
        }
    }

    @Test
    void javaLearnsOfTheDeathOfAWriterInPython() throws Exception {
        try (SharedArray array = SharedArray.openOrCreate(regions, "a", LONG, 8)) {
            Process python = python("hold = shared.lock()\nprint('held', flush=True)\ntime.sleep(600)\n");
            assertThat(python.inputReader().readLine()).isEqualTo("held");
            assertThatThrownBy(() -> array.lock().readLock(Duration.ofMillis(50)))
                    .hasMessageContaining("writerPid=" + python.pid());

            python.destroyForcibly().waitFor();

            try (SharedLock.Hold hold = array.lock().writeLock(PATIENCE)) {
                assertThat(hold.abandonedBy()).isEqualTo(python.pid());
                hold.markRepaired();
            }
        }
    }

    @Test
    void pythonLearnsOfTheDeathOfAWriterInJava() throws Exception {
        try (SharedArray array = SharedArray.openOrCreate(regions, "a", LONG, 8);
                ChildJvm holder = ChildJvm.start(Holder.class, daemon.store().toString())) {
            holder.awaitLine("held");
            holder.kill();

            Process python = python("""
                    with shared.lock(60) as hold:
                        print(hold.abandoned_by)
                        hold.mark_repaired()
                    """);

            assertThat(python.inputReader().readLine()).isEqualTo(Long.toString(holder.pid()));
            assertThat(python.waitFor()).isZero();
            try (SharedLock.Hold hold = array.lock().readLock(PATIENCE)) {
                assertThat(hold.wasAbandoned()).isFalse();
            }
        }
    }

    @Test
    void eachRefusesAnArrayOfTheOtherThatDiffers() throws Exception {
        Process python = python("print('open', flush=True)\nsys.stdin.readline()\n");
        assertThat(python.inputReader().readLine()).isEqualTo("open");

        assertThatThrownBy(() -> SharedArray.openOrCreate(regions, "a", Dtype.parse("<f8"), 8))
                .hasMessageContaining(
                        "a different shared array has this name: name=a dtype=<i8 wantedDtype=<f8 shape=[8] wantedShape=[8]");
        try (SharedArray array = SharedArray.openOrCreate(regions, "b", Dtype.parse("|b1"), 2, 3)) {
            Process other = python("""
                    print(larder.shared('b', '?', (2, 3)))
                    try:
                        larder.shared('b', 'u1', (3, 2))
                    except larder.Refused as e:
                        print(e)
                    """);
            assertThat(other.inputReader().readLine()).isEqualTo("<larder.Shared b: (2, 3) bool>");
            assertThat(other.inputReader().readLine())
                    .contains("name=b dtype=|b1 wantedDtype=|u1 shape=(2, 3) wantedShape=(3, 2) spare=False");
            assertThat(array.shape()).containsExactly(2L, 3L);
        }
    }
}
