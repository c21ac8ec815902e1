package dev.larder.distributed.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DescriptorsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void aHundredArraysAndQueuesNeedNoMoreDescriptorsThanOne() throws IOException {
        try (OwnFolder folder = new OwnFolder();
                Regions regions = folder.regions()) {
            List<AutoCloseable> open = new ArrayList<>();
            open(regions, 0, open);
            long ofOne = descriptors(folder.path());

            for (int i = 1; i < 100; i++) {
                open(regions, i, open);
            }

            assertThat(descriptors(folder.path())).isEqualTo(ofOne).isEqualTo(1);
            for (AutoCloseable each : open) {
                assertThatCode(each::close).doesNotThrowAnyException();
            }
        }
    }

    private static void open(Regions regions, int number, List<AutoCloseable> open) {
        SharedArray array = SharedArray.openOrCreate(regions, "a" + number, Dtype.parse("<f4"), 10);
        array.lock().writeLock(PATIENCE).close();
        open.add(array);
        open.add(HandleQueue.builder(regions, "q" + number)
                .buffers(1)
                .bufferBytes(8)
                .openOrCreate(PATIENCE));
    }

    private static long descriptors(Path folder) throws IOException {
        long count = 0;
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : all.toList()) {
                if (Files.isSymbolicLink(descriptor)
                        && Files.readSymbolicLink(descriptor).startsWith(folder)) {
                    count++;
                }
            }
        }
        return count;
    }
}
