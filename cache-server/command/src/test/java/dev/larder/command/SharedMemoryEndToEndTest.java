package dev.larder.command;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.client.Larder;
import dev.larder.distributed.queue.Handle;
import dev.larder.distributed.queue.HandleQueue;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.distributed.shared.SharedArraySpec;
import dev.larder.npy.Dtype;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Shared arrays and queues as programs use them, with a daemon in a process of its own. */
class SharedMemoryEndToEndTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Dtype FLOAT = Dtype.parse("<f4");

    private CommandProcess daemon;
    private Larder larder;

    @BeforeEach
    void serve() {
        daemon = CommandProcess.serve();
        larder = Larder.connect(daemon.store());
    }

    @AfterEach
    void stop() {
        larder.close();
        daemon.close();
    }

    private static SharedArray array(Regions regions, String name) {
        SharedArraySpec spec = SharedArraySpec.of(name, FLOAT, 1000).withSpare();
        return SharedArray.openOrCreate(regions, spec, PATIENCE);
    }

    private static HandleQueue queue(Regions regions, String name) {
        return HandleQueue.builder(regions, name)
                .capacity(4)
                .buffers(2)
                .bufferBytes(64)
                .openOrCreate(PATIENCE);
    }

    @Test
    void anArrayPassesThroughAQueueAndBothGoWithTheLastWhoHasThem() {
        try (Regions one = Regions.of(larder);
                Regions other = Regions.of(larder);
                SharedArray weights = array(one, "weights");
                HandleQueue sender = queue(one, "queue");
                HandleQueue receiver = queue(other, "queue")) {
            weights.publish(state -> state.fill(0.5), PATIENCE);
            sender.putArray(weights, 3, PATIENCE);

            Handle handle = requireNonNull(receiver.take(PATIENCE));
            handle.array().addFloat(7, 1);
            handle.giveBack();

            assertThat(weights.getFloat(7)).isEqualTo(1.5f);
            assertThat(daemon.ask("regions").out()).contains("shared-array", "handle-queue");
        }
        await().atMost(PATIENCE)
                .until(() -> daemon.ask("regions", "--json").out().strip().equals("[]"));
    }

    @Test
    void manyArraysAndQueuesNeedNoMoreDescriptorsThanOne() throws Exception {
        List<AutoCloseable> open = new ArrayList<>();
        try (Regions regions = Regions.of(larder)) {
            open.add(array(regions, "a"));
            open.add(queue(regions, "q"));
            int ofOne = descriptors();

            for (int i = 0; i < 30; i++) {
                open.add(array(regions, "a" + i));
                open.add(queue(regions, "q" + i));
            }

            assertThat(descriptors()).isLessThanOrEqualTo(ofOne);
            for (AutoCloseable each : open) {
                each.close();
            }
        }
    }

    private static int descriptors() {
        return requireNonNull(new File("/proc/self/fd").list()).length;
    }
}
