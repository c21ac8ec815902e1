package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Numpy;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the typed accessors return, against what numpy said of the same bytes. */
class GoldenValuesTest {
    private StoreFixture fixture;
    private Larder larder;

    @BeforeEach
    void create() {
        fixture = StoreFixture.create();
        larder = Larder.connect(fixture.store());
    }

    @AfterEach
    void close() {
        larder.close();
        fixture.close();
    }

    static List<String> lines() throws IOException {
        return new String(resource("values.tsv"), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("lines")
    void everyElementIsWhatNumpyReads(String line) throws IOException {
        List<String> words = List.of(line.split("\t"));
        byte[] file = resource(words.get(0));
        NpyHeader header = NpyHeader.read(Channels.newChannel(new ByteArrayInputStream(file)), words.get(0));
        byte[] data = Arrays.copyOfRange(file, (int) header.dataOffset(), file.length);

        try (OwnedArrayView view = open(new FixtureArray(header, data))) {
            for (int i = 1; i < words.size(); i++) {
                assertElement(view, place(header.shape(), i - 1), words.get(i));
            }
        }
    }

    /** Returns the index of an element that is counted in C order. */
    private static long[] place(long[] shape, long number) {
        long[] index = new long[shape.length];
        long rest = number;
        for (int d = shape.length - 1; d >= 0; d--) {
            index[d] = rest % shape[d];
            rest /= shape[d];
        }
        return index;
    }

    private static void assertElement(ArrayView view, long[] index, String numpy) {
        Kind kind = view.dtype().kind();
        switch (kind) {
            case BOOL, INT, UINT, DATETIME, TIMEDELTA -> assertWhole(view, index, new BigInteger(numpy));
            case FLOAT -> {
                assertThat(view.getDouble(index)).isEqualTo(hex(numpy));
                assertThat(view.getFloat(index))
                        .isEqualTo(Float.valueOf(hex(numpy).floatValue()));
            }
            case COMPLEX -> {
                assertThat(view.getReal(index)).isEqualTo(hex(numpy.substring(0, numpy.indexOf(' '))));
                assertThat(view.getImaginary(index)).isEqualTo(hex(numpy.substring(numpy.indexOf(' ') + 1)));
            }
            default ->
                assertThat(view.getString(index))
                        .isEqualTo(
                                new String(HexFormat.of().parseHex(numpy, 1, numpy.length()), StandardCharsets.UTF_8));
        }
    }

    private static void assertWhole(ArrayView view, long[] index, BigInteger numpy) {
        assertThat(view.getDouble(index)).isEqualTo(numpy.doubleValue());
        if (numpy.bitLength() < Long.SIZE) {
            assertThat(view.getLong(index)).isEqualTo(numpy.longValueExact());
        } else {
            assertThatThrownBy(() -> view.getLong(index)).isInstanceOf(ArithmeticException.class);
        }
        if (numpy.bitLength() < Integer.SIZE) {
            assertThat(view.getInt(index)).isEqualTo(numpy.intValueExact());
        }
    }

    private static Double hex(String numpy) {
        return switch (numpy) {
            case "nan" -> Double.NaN;
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(numpy);
        };
    }

    @Test
    void datesAreTheInstantsThatNumpyPrints() {
        List<String> units =
                List.of("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "25s", "3M");
        long[] counts = {0, 1, -1, 7, 123, -230, 250};
        String script =
                "import numpy as np, sys; print('\\n'.join(text for unit in sys.argv[1:] for text in np.datetime_as_string("
                        + "np.array([0, 1, -1, 7, 123, -230, 250]).view(f'<M8[{unit}]').astype('M8[ns]'))))";
        Iterator<String> numpy =
                Numpy.run(script, units.toArray(String[]::new)).lines().iterator();

        for (String unit : units) {
            try (OwnedArrayView view = open(longs("<M8[" + unit + "]", counts))) {
                for (int i = 0; i < counts.length; i++) {
                    assertThat(view.getInstant(i)).as(unit + i).isEqualTo(Instant.parse(numpy.next() + "Z"));
                }
            }
        }
        assertThat(numpy).isExhausted();
    }

    @Test
    void notATimeIsNoInstantAndImpossibleDatesAreRefused() {
        try (OwnedArrayView view = open(longs("<M8[s]", Long.MIN_VALUE, Long.MAX_VALUE))) {
            assertThat(view.getInstant(0)).isNull();
            assertThat(view.getLong(0)).isEqualTo(Long.MIN_VALUE);
            assertThatThrownBy(() -> view.getInstant(1))
                    .isInstanceOf(ArithmeticException.class)
                    .hasMessageContaining("out of range");
        }
        try (OwnedArrayView view = open(longs("<M8", 1))) {
            assertThatThrownBy(() -> view.getInstant(0)).hasMessageContaining("without a unit");
        }
    }

    @ParameterizedTest
    @CsvSource({"<f4,4", "<i8,8", "<c32,32", "|V7,7", "<f16,16", "<m8[s],8"})
    void anElementOfAnotherKindIsRefused(String dtype, int itemSize) {
        try (OwnedArrayView view = open(FixtureArray.of(dtype, Order.C, new byte[itemSize], 1))) {
            assertThatThrownBy(() -> view.getReal(0)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> view.getString(0)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> view.getInstant(0)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> view.getReal(1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void textsOfImpossibleCodePointsAreReplaced() {
        byte[] data =
                ByteBuffer.allocate(12).putInt('a').putInt(0x7fffffff).putInt(0).array();
        OwnedArrayView view = open(FixtureArray.of(">U3", Order.C, data, 1));

        assertThat(view.getString(0)).isEqualTo("a\ufffd");
        view.close();
        assertThatThrownBy(() -> view.getString(0)).isInstanceOf(IllegalStateException.class);
    }

    private static FixtureArray longs(String dtype, long... values) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        data.asLongBuffer().put(values);
        return new FixtureArray(NpyHeader.of(Dtype.parse(dtype), Order.C, values.length), data.array());
    }

    private OwnedArrayView open(FixtureArray array) {
        fixture.publish("d", Map.of("a", array));
        return larder.open("d/a");
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = GoldenValuesTest.class.getResourceAsStream("/npy/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }
}
