package dev.larder.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.agrona.IoUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs tests that leave something, of classes that say nothing of {@link LeavesNothingBehind}. */
class LeavesNothingBehindTest {
    private static final List<AutoCloseable> LEFT = new ArrayList<>();

    @AfterEach
    void clearAway() throws Exception {
        for (AutoCloseable left : LEFT) {
            left.close();
        }
        LEFT.clear();
    }

    @ParameterizedTest
    @CsvSource({
        "process, process .*sleep 600",
        "grandchild, process .*sleep 601.*process .*sleep 601.*",
        "thread, thread left-behind #\\d+",
        "store, store /dev/shm/larder-test-.*",
        "descriptor, open file \\d+ /dev/shm/larder-test-.*",
        "mapping, mapping .* /dev/shm/larder-test-.*"
    })
    void aTestFailsByWhatItLeaves(String method, String trace) {
        TestExecutionSummary summary = run(selectMethod(Leaking.class, method));

        assertThat(summary.getTestsFailedCount()).isEqualTo(1);
        assertThat(summary.getFailures().get(0).getException())
                .hasMessageStartingWith(method + "() left behind:")
                .hasMessageMatching("(?s).*\n  " + trace + "(\n.*)?");
    }

    @Test
    void aClassFailsByWhatItLeavesAfterItsLastTest() {
        TestExecutionSummary summary = run(selectClass(LeakingAtItsBegin.class));

        assertThat(summary.getTestsSucceededCount()).isEqualTo(1);
        assertThat(summary.getContainersFailedCount()).isEqualTo(1);
        assertThat(summary.getFailures().get(0).getException())
                .hasMessageMatching("(?s).*LeakingAtItsBegin left behind:\n  thread left-behind #\\d+");
    }

    @Test
    void aTestThatWaitsForWhatItStartedPasses() {
        TestExecutionSummary summary = run(selectMethod(Leaking.class, "nothing"));

        assertThat(summary.getTestsSucceededCount()).isEqualTo(1);
        assertThat(summary.getTotalFailureCount()).isZero();
    }

    private static TestExecutionSummary run(DiscoverySelector selector) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selector)
                .configurationParameter(LeavesNothingBehind.PATIENCE_SECONDS, "0")
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        return listener.getSummary();
    }

    private static Thread startThread(CountDownLatch end) {
        Thread thread = new Thread(
                () -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                "left-behind");
        thread.start();
        return thread;
    }

    private static void leaveThread() {
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = startThread(end);
        LEFT.add(() -> {
            end.countDown();
            thread.join();
        });
    }

    private static FileChannel openFile() throws IOException {
        Path folder = LeavesNothingBehind.newFolder();
        Path file = folder.resolve("file");
        FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Files.delete(file);
        Files.delete(folder);
        return channel;
    }

    /** Each leaves something; the build does not run what is called so. */
    static class Leaking {
        @Test
        void process() throws IOException {
            Process process = new ProcessBuilder("sleep", "600").start();
            LEFT.add(() -> process.destroyForcibly().waitFor());
        }

        @Test
        void grandchild() throws IOException {
            Process shell = new ProcessBuilder("sh", "-c", "sleep 601 & echo $!; wait").start();
            long child = Long.parseLong(shell.inputReader().readLine());
            LEFT.add(() -> {
                ProcessHandle.of(child).ifPresent(ProcessHandle::destroyForcibly);
                shell.waitFor();
            });
            await().until(() -> ProcessHandle.of(child)
                    .flatMap(process -> process.info().command())
                    .filter(command -> command.endsWith("sleep"))
                    .isPresent());
        }

        @Test
        void thread() {
            leaveThread();
        }

        @Test
        void store() {
            Path folder = LeavesNothingBehind.newFolder();
            LEFT.add(() -> Files.delete(folder));
        }

        @Test
        void descriptor() throws IOException {
            LEFT.add(openFile());
        }

        @Test
        void mapping() throws IOException {
            try (FileChannel file = openFile()) {
                MappedByteBuffer mapped = file.map(MapMode.READ_WRITE, 0, 4096);
                LEFT.add(() -> IoUtil.unmap(mapped));
            }
        }

        @Test
        void nothing() throws InterruptedException {
            CountDownLatch end = new CountDownLatch(1);
            Thread thread = startThread(end);
            end.countDown();
            thread.join();
        }
    }

    /** Leaves a thread that its test has found there. */
    static class LeakingAtItsBegin {
        @BeforeAll
        static void leave() {
            leaveThread();
        }

        @Test
        void nothing() {
            assertThat(LEFT).hasSize(1);
        }
    }
}
