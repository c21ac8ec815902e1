package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.WorkQueue;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(300)
@ExtendWith(LeavesNoObjects.class)
class OpenClLifetimeTest {
    private static final long MOST_BYTES_PER_BATCH = 2048;
    private static final long MOST_GROWTH_BYTES = 64L << 20;

    @Test
    void openedAndClosedAgainAndAgainLeavesNothing() throws IOException {
        int times = OpenClRig.info().kind().equals("gpu") ? 50 : 1000; // to open a GPU takes a sixth of a second
        cycle(times / 5);
        long threadsBefore = nativeThreads();
        long residentBefore = residentBytes();

        cycle(times);

        assertThat(LiveObjects.count()).isEmpty();
        assertThat(nativeThreads()).isLessThanOrEqualTo(threadsBefore + 2); // the JVM has its own that come and go
        assertThat(residentBytes() - residentBefore).isLessThan(MOST_GROWTH_BYTES);
    }

    private static void cycle(int times) {
        for (int i = 0; i < times; i++) {
            try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT);
                    HostMemory staging = backend.allocate(10_000);
                    DeviceMemory memory = backend.allocateDevice(10_000)) {
                backend.uploads().upload(staging, 0, memory, 0, 10_000);
                Rig.pass(backend.uploads(), backend.consumer());
                assertThat(Rig.read(backend, memory)[9_999]).isZero();
            }
        }
    }

    private static long nativeThreads() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return tasks.count();
        }
    }

    private static long residentBytes() throws IOException {
        System.gc();
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            String line =
                    lines.filter(each -> each.startsWith("VmRSS:")).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
        }
    }

    @Test
    void anInterruptedThreadClosesAllTheSame() {
        Rig rig = OpenClRig.open();
        rig.submit(Rig.random(rig.byteSize, 1)).close();
        Thread.currentThread().interrupt();

        rig.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(LiveObjects.count()).isEmpty();
    }

    @Test
    void aThousandUploadsStartNoThread() {
        try (Rig rig = OpenClRig.open()) {
            byte[] rows = Rig.random(rig.byteSize, 1);
            rig.run(rows);
            int before = Thread.activeCount();
            WorkQueue uploads = rig.backend.uploads();
            for (int i = 0; i < 1000; i++) {
                uploads.upload(rig.staging, 0, rig.stored, 0, rig.byteSize);
                assertThat(LeavesNoObjects.waitingThreads()).isZero();
            }
            try (Fence done = uploads.fence()) {
                done.await(Rig.SOON);
            }

            assertThat(Thread.activeCount()).isEqualTo(before);
        }
    }

    @Test
    void aBatchAllocatesNextToNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Rig rig = OpenClRig.open()) {
            batches(rig, 2000);
            long before = threads.getCurrentThreadAllocatedBytes();

            batches(rig, 1000);

            assertThat((threads.getCurrentThreadAllocatedBytes() - before) / 1000)
                    .isLessThan(MOST_BYTES_PER_BATCH);
        }
    }

    private static void batches(Rig rig, int count) {
        for (int i = 0; i < count; i++) {
            rig.backend.uploads().upload(rig.staging, 0, rig.stored, 0, rig.byteSize);
            Rig.pass(rig.backend.uploads(), rig.backend.kernels());
            rig.backend.kernels().launch(rig.call, Rig.SAMPLES);
            try (Fence done = rig.backend.kernels().fence()) {
                done.await(Rig.SOON);
            }
        }
    }

    @Test
    void eventsAreGivenBackWhileWorkGoesOn() {
        try (Rig rig = OpenClRig.open()) {
            batches(rig, 200);

            int events = LiveObjects.count().getOrDefault(LiveObjects.Kind.EVENT, 0);

            assertThat(events).isLessThan(10);
        }
    }
}
