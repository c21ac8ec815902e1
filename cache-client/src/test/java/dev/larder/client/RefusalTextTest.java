package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.npy.Dtype;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.GoldenColumns;
import dev.larder.testing.StoreFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Makes the mistakes of a beginner, and reads what comes back. */
class RefusalTextTest {
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

    @Test
    @SuppressWarnings("NullAway") // what a caller without a checker of nulls does
    void aNullIsRefusedByItsName() {
        fixture.publish("d", Map.of("a", FixtureArray.ints(new int[] {1}, 1)));
        Dataset dataset = larder.dataset("d");

        Map<String, Stream<ThrowingCallable>> calls = Map.of(
                "the dataset's name is null",
                Stream.of(
                        () -> larder.dataset(null),
                        () -> larder.dataset(null, 1),
                        () -> larder.build(null),
                        () -> larder.datasetWithDigest(null, "0123456789"),
                        () -> larder.getOrCreate(null, build -> {})),
                "the array's name is null",
                Stream.of(
                        () -> larder.open(null),
                        () -> dataset.array(null),
                        () -> dataset.stored().file(null)),
                "the column's name is null",
                Stream.of(() -> dataset.strings(null), () -> dataset.index(null)),
                "the timeout is null",
                Stream.of(() -> larder.dataset("d", (Duration) null), () -> Larder.connect(fixture.store(), null)),
                "the digest is null",
                Stream.of(() -> larder.datasetWithDigest("d", null)),
                "the store is null",
                Stream.of(() -> Larder.connect((Path) null)));

        calls.forEach((message, mistakes) -> mistakes.forEach(mistake -> assertThatThrownBy(mistake)
                .isInstanceOf(NullPointerException.class)
                .hasMessage(message)));
    }

    @ParameterizedTest
    @CsvSource({
        "|u1, getString, getInt or getLong",
        "<f4, getLong, getFloat or getDouble",
        "<c8, getDouble, getReal and getImaginary",
        "|S4, getFloat, getString",
        "<M8[s], getReal, getInstant or getLong",
        "<i8, getInstant, getInt or getLong",
        "|V3, getLong, row or byteBuffer for its bytes"
    })
    void anAccessorThatDoesNotFitNamesTheArrayAndTheOneThatDoes(String dtype, String accessor, String instead) {
        fixture.publish(
                "d",
                Map.of(
                        "x",
                        FixtureArray.of(
                                dtype, Order.C, new byte[Dtype.parse(dtype).itemSize()], 1)));

        assertThatThrownBy(() -> read(larder.dataset("d").array("x"), accessor))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage(accessor + " does not read elements of this dtype: array=x dtype=" + dtype + "; use "
                        + instead);
    }

    private static Object read(ArrayView view, String accessor) {
        return switch (accessor) {
            case "getString" -> view.getString(0);
            case "getLong" -> view.getLong(0);
            case "getFloat" -> view.getFloat(0);
            case "getDouble" -> view.getDouble(0);
            case "getReal" -> view.getReal(0);
            default -> String.valueOf(view.getInstant(0));
        };
    }

    @Test
    void aColumnThatIsOpenedAsAnArrayIsNamedAsOne() {
        fixture.publish("d", GoldenColumns.arrays());

        assertThatThrownBy(() -> larder.open("d/path"))
                .hasMessageContaining("no such array: dataset=d version=1 array=path store=" + fixture.store())
                .hasMessageContaining("open it with Dataset.strings(\"path\")");
        assertThatThrownBy(() -> larder.dataset("d").array("paths"))
                .hasMessageContaining(" store=" + fixture.store() + "; ")
                .hasMessageContaining("path")
                .hasMessageNotContaining("path/bytes");
        assertThatThrownBy(() -> larder.open("d"))
                .hasMessageContaining("open it with Larder.dataset(\"d\"), which has columns");
    }

    @Test
    void theNameOfADatasetMayEndInASlash() {
        fixture.publish("d", Map.of("only", FixtureArray.ints(new int[] {1}, 1)));

        larder.open("d/").close();
        assertThatThrownBy(() -> larder.dataset("d", 7)).hasMessageContaining("store=" + fixture.store());
    }
}
