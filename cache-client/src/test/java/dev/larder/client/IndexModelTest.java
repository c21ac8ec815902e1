package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.IntegerIndexBuilder;
import dev.larder.internal.column.TextIndexBuilder;
import dev.larder.internal.layout.TextHash;
import dev.larder.testing.StoreFixture;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Compares indices with a HashMap on random keys; a failure names the seed. */
class IndexModelTest {
    private static final int[] CHARACTERS = {'a', 'b', '0', '_', 'ü', '\u07ff', '\u0800', '日', 0x10000, 0x1f600};

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private StoreFixture fixture;
    private Larder larder;

    @BeforeEach
    void connect() {
        fixture = StoreFixture.create();
        larder = Larder.connect(fixture.store());
    }

    @AfterEach
    void close() {
        larder.close();
        fixture.close();
    }

    @RepeatedTest(5)
    void anIndexOfTextsAnswersAsAHashMap() {
        Map<String, Long> model = new HashMap<>();
        try (TextIndexBuilder builder = new TextIndexBuilder()) {
            int keys = random.nextInt(20_000);
            for (int i = 0; i < keys; i++) {
                String key = text();
                if (model.putIfAbsent(key, (long) i) == null) {
                    builder.add(key, i);
                }
            }
            fixture.publish("d", builder.arrays("key"));
        }
        IndexColumn index = larder.dataset("d").index("key");

        assertThat(index.size()).as("seed %d", seed).isEqualTo(model.size());
        model.forEach(
                (key, row) -> assertThat(index.find(key)).as("seed %d", seed).isEqualTo(row));
        for (int i = 0; i < 10_000; i++) {
            String key = text();
            assertThat(index.find(key)).as("seed %d", seed).isEqualTo(model.getOrDefault(key, -1L));
        }
    }

    @RepeatedTest(5)
    void anIndexOfIntegersAnswersAsAHashMap() {
        Map<Long, Long> model = new HashMap<>();
        try (IntegerIndexBuilder builder = new IntegerIndexBuilder()) {
            int keys = random.nextInt(20_000);
            for (int i = 0; i < keys; i++) {
                long key = integer();
                if (model.putIfAbsent(key, (long) i) == null) {
                    builder.add(key, i);
                }
            }
            fixture.publish("d", builder.arrays("key"));
        }
        IndexColumn index = larder.dataset("d").index("key");

        model.forEach(
                (key, row) -> assertThat(index.find(key)).as("seed %d", seed).isEqualTo(row));
        for (int i = 0; i < 10_000; i++) {
            long key = integer();
            assertThat(index.find(key)).as("seed %d", seed).isEqualTo(model.getOrDefault(key, -1L));
        }
    }

    @Test
    void aTextHashesAsItsBytesDo() {
        for (int i = 0; i < 10_000; i++) {
            String key = text();
            CRC32 crc = new CRC32();
            crc.update(key.getBytes(StandardCharsets.UTF_8));
            assertThat(TextHash.of(key)).as("seed %d %s", seed, key).isEqualTo(crc.getValue());
        }
        assertThat(TextHash.of("ab\uD800c")).isEqualTo(TextHash.of("ab?c"));
    }

    @Test
    void aKeyThatStandsTwiceIsRefusedByName() {
        try (TextIndexBuilder texts = new TextIndexBuilder();
                IntegerIndexBuilder integers = new IntegerIndexBuilder()) {
            for (int i = 0; i < 1000; i++) {
                texts.add("scene" + i % 999, i);
                integers.add(i % 999 - 500, i);
            }

            assertThatThrownBy(() -> texts.arrays("scene"))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("column=scene key=scene0 secondPlace=999");
            assertThatThrownBy(() -> integers.arrays("id")).hasMessageContaining("key=-500");
        }
    }

    @Test
    void lookUpsAllocateNothing() {
        try (TextIndexBuilder texts = new TextIndexBuilder()) {
            for (int i = 0; i < 1000; i++) {
                texts.add("scène" + i, i);
            }
            fixture.publish("d", texts.arrays("scene"));
        }
        IndexColumn index = larder.dataset("d").index("scene");
        String[] keys = {"scène1", "scène999", "scène1000", "none"};
        long sum = lookUp(index, keys, 20_000);

        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        sum += lookUp(index, keys, 20_000);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(sum).isEqualTo(40_000L * (1 + 999 - 1 - 1));
        assertThat(allocated).isLessThan(1_000);
    }

    private static long lookUp(IndexColumn index, String[] keys, int times) {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            for (String key : keys) {
                sum += index.find(key);
            }
        }
        return sum;
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        int plain = random.nextInt(CHARACTERS.length) + 1;
        for (int length = random.nextInt(9); length > 0; length--) {
            text.appendCodePoint(CHARACTERS[random.nextInt(plain)]);
        }
        return text.toString();
    }

    private long integer() {
        return random.nextLong() >> random.nextInt(Long.SIZE) << random.nextInt(30);
    }
}
