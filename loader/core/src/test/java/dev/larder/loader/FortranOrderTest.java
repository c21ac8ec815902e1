package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** An array in Fortran order gives the batches that the same array in C order gives. */
class FortranOrderTest {
    private static final int ROWS = 50;

    @ParameterizedTest
    @CsvSource({
        "|u1, 50x7",
        "|u1, 50x1",
        "|b1, 50x4x5",
        "<i2, 50x3x4x2",
        ">f4, 50x6x3",
        "<f8, 50x5",
        "<i8, 50x2x2x2x2",
        "<c16, 50x3x2",
        "|S3, 50x4x2",
        "|u1, 50x0x3",
        "<f4, 50"
    })
    void rowsOfAnyTypeAndShapeAreGatheredInCOrder(String dtype, String shape) {
        long[] sizes =
                Arrays.stream(shape.split("x")).mapToLong(Long::parseLong).toArray();
        try (Shelf shelf = both(dtype, sizes)) {
            assertThat(checksum(shelf, "fortran")).isEqualTo(checksum(shelf, "c"));
        }
    }

    private static long checksum(Shelf shelf, String array) {
        try (Loader loader = Loader.over(shelf.dataset)
                .arrays(array)
                .shuffle(3)
                .batchSize(8)
                .threads(2)
                .build()) {
            return Shelf.checksum(loader.epoch(0));
        }
    }

    private static LoaderBuilder transformed(Shelf shelf, String array) {
        return Loader.over(shelf.dataset)
                .fields(
                        Field.rows(array)
                                .as("crop")
                                .transform(new Transform()
                                        .randomCrop(6, 6, 2)
                                        .toFloat()
                                        .normalize(0.5f, 0.25f)),
                        Field.rows(array).as("plain"))
                .shuffle(3)
                .batchSize(8);
    }

    @Test
    void anArrayThatIsNeverResidentDoesNotCountAgainstTheBudget() {
        try (Shelf shelf = both("|u1", new long[] {ROWS, 8, 8, 3});
                Loader onDevice = Loader.over(shelf.dataset)
                        .arrays("c", "fortran")
                        .batchSize(8)
                        .device(new FakeDevice())
                        .deviceBudgetBytes(ROWS * 8 * 8 * 3) // for one of the two
                        .build()) {
            assertThat(onDevice.mode()).contains(DeviceMode.RESIDENT);
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void transformsAndDevicesDoTheSame(DeviceMode mode) {
        try (Shelf shelf = both("|u1", new long[] {ROWS, 8, 8, 3});
                Loader c = transformed(shelf, "c").build();
                Loader fortran = transformed(shelf, "fortran").build();
                Loader onDevice = transformed(shelf, "fortran")
                        .device(new FakeDevice())
                        .deviceMode(mode)
                        .build()) {
            long expected = Shelf.checksum(c.epoch(1));
            BatchChecksum checksum = new BatchChecksum();
            onDevice.epoch(1).forEach(checksum::update);

            assertThat(Shelf.checksum(fortran.epoch(1))).isEqualTo(expected);
            assertThat(checksum.value()).isEqualTo(expected);
        }
    }

    @Test
    void thePositionOfAnElementIsTheModels() {
        FixtureArray two = FixtureArray.of("|u1", Order.F, new byte[] {0, 1, 2, 3, 4, 5}, 2, 3);
        try (Shelf shelf = Shelf.of(Map.of("x", two));
                Loader loader =
                        Loader.over(shelf.dataset).arrays("x").batchSize(2).build()) {
            byte[] found = new byte[6];
            loader.epoch(0).iterator().next().array(0).buffer().getBytes(0, found);

            assertThat(found).containsExactly(0, 2, 4, 1, 3, 5);
        }
    }

    /** Publishes the same noise in both orders. */
    private static Shelf both(String dtype, long[] shape) {
        int item = Dtype.parse(dtype).itemSize();
        int elements = (int) Arrays.stream(shape).reduce(1, Math::multiplyExact);
        byte[] noise = Shelf.noiseBytes(elements * item);
        byte[] turned = new byte[noise.length];
        long[] index = new long[shape.length];
        for (int c = 0; c < elements; c++) {
            long at = 0;
            for (int d = shape.length - 1; d >= 0; d--) {
                at = at * shape[d] + index[d];
            }
            System.arraycopy(noise, c * item, turned, (int) at * item, item);
            for (int d = shape.length - 1; d >= 0 && ++index[d] == shape[d]; d--) {
                index[d] = 0;
            }
        }
        return Shelf.of(Map.of(
                "c", FixtureArray.of(dtype, Order.C, noise, shape),
                "fortran", FixtureArray.of(dtype, Order.F, turned, shape)));
    }
}
