package dev.larder.npy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.text.PythonText;
import dev.larder.testing.Rounds;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RandomHeaderTest {
    private static final List<String> SIMPLE = List.of(
            "|b1",
            "|i1",
            "<i2",
            ">i4",
            "<i8",
            "|u1",
            ">u2",
            "<f2",
            ">f8",
            "<f16",
            "<c8",
            ">c32",
            "|S7",
            "|S0",
            "<U3",
            "|V5",
            "<M8[ns]",
            ">m8[25us]",
            "<M8");
    private static final int[] CODE_POINTS = {
        'a', '\'', '"', '\\', '\n', '\t', 0, 0x7f, 0xa0, 0xe9, 0x3b1, 0x2028, 0xd800, 0xfeff, 0x65e5, 0x1f600, 0x10ffff
    };

    private final Rounds rounds = Rounds.of("random headers", 2_000);
    private final long seed = rounds.seed();
    private final Random random = rounds.random();

    @Test
    void whatIsWrittenReadsBackTheSame() {
        for (int i = 0; i < rounds.count(); i++) {
            Dtype dtype = Dtype.parse(random.nextBoolean() ? simple() : structure(0));
            NpyHeader header = NpyHeader.of(dtype, random.nextBoolean() ? Order.C : Order.F, shape());

            ByteBuffer encoded = header.encode(1 << random.nextInt(13));

            NpyHeader read = Bytes.header(Bytes.of(encoded), "seed " + seed);
            assertThat(read).as("seed %d", seed).isEqualTo(with(header, encoded.limit()));
            assertThat(read.byteSize()).isEqualTo(header.byteSize());
            assertThat(Dtype.parse(dtype.descr())).as("seed %d", seed).isEqualTo(dtype);
        }
    }

    private static NpyHeader with(NpyHeader header, long dataOffset) {
        return new NpyHeader(header.dtype(), header.order(), header.shape(), header.version(), dataOffset);
    }

    private String simple() {
        return SIMPLE.get(random.nextInt(SIMPLE.size()));
    }

    private String structure(int depth) {
        List<String> fields = new ArrayList<>();
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            String type = depth < 3 && random.nextInt(4) == 0 ? structure(depth + 1) : "'" + simple() + "'";
            String name = PythonText.quoted(i + word());
            String title = random.nextInt(4) == 0 ? PythonText.quoted("title" + i + word()) : null;
            fields.add("(" + (title == null ? name : "(" + title + ", " + name + ")") + ", " + type + subShape() + ")");
            if (random.nextInt(4) == 0) {
                fields.add("('', '|V" + random.nextInt(9) + "')");
            }
        }
        return "[" + String.join(", ", fields) + "]";
    }

    private String subShape() {
        return switch (random.nextInt(4)) {
            case 0 -> ", (" + random.nextInt(4) + ",)";
            case 1 -> ", (2, " + random.nextInt(4) + ")";
            default -> "";
        };
    }

    private String word() {
        return IntStream.range(0, random.nextInt(5))
                .map(i -> CODE_POINTS[random.nextInt(CODE_POINTS.length)])
                .mapToObj(Character::toString)
                .collect(Collectors.joining());
    }

    private long[] shape() {
        return random.longs(random.nextInt(6), 0, 1000).toArray();
    }
}
