package dev.larder.server.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Data that is joined, cut and changed, as extents of files and as streams. */
class ArrayDataTest {
    @TempDir
    Path folder;

    private static ArrayData stream(byte[] bytes) {
        return () -> Channels.newChannel(new ByteArrayInputStream(bytes));
    }

    private static byte[] counting(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31);
        }
        return bytes;
    }

    private static byte[] bytes(ArrayData data) throws IOException {
        try (ReadableByteChannel channel = data.open()) {
            return Channels.newInputStream(channel).readAllBytes();
        }
    }

    private SourceArray array(String name, int byteSize) throws IOException {
        Path file = Files.write(folder.resolve(name), counting(byteSize));
        NpyHeader header = NpyHeader.of(Dtype.parse("|u1"), Order.C, byteSize);
        Extents extents = Extents.of(new Extent(file, 0, byteSize));
        return new SourceArray(
                new ArrayName("d", name), header, extents, List.of(SourceIdentity.of(file)), ColumnPart.NONE);
    }

    @ParameterizedTest
    @CsvSource({"0,200000", "1,1", "70000,100000", "199999,1", "200000,0", "65536,65536"})
    void aPartOfAStreamIsThatOfItsBytes(int first, int length) throws IOException {
        byte[] all = counting(200_000);

        byte[] part = bytes(stream(all).cut(first, length));

        assertThat(part).isEqualTo(Arrays.copyOfRange(all, first, first + length));
    }

    @Test
    void extentsStayExtentsAndAStreamBetweenThemMakesAStream() throws IOException {
        SourceArray one = array("one", 10);
        SourceArray other = array("other", 5);

        ArrayData extents = ArrayData.joined(List.of(one, one));
        ArrayData mixed = ArrayData.joined(List.of(one, other.withData(other.header(), stream(counting(5)))));

        assertThat(extents).isInstanceOf(Extents.class);
        assertThat(extents.cut(8, 4)).isInstanceOf(Extents.class);
        assertThat(bytes(extents.cut(8, 4))).containsExactly(8 * 31, 9 * 31 - 256, 0, 31);
        assertThat(mixed).isNotInstanceOf(Extents.class);
        assertThat(bytes(mixed)).hasSize(15).endsWith(counting(5));
    }

    @Test
    void whatIsDerivedReleasesWhatItIsDerivedFromAndThenItself() {
        AtomicInteger order = new AtomicInteger(1);
        ArrayData data = stream(new byte[1]).releasing(() -> order.set(order.get() * 2));

        data.releasing(() -> order.addAndGet(1)).cut(0, 1).release();

        assertThat(order).hasValue(3);
    }

    @Test
    void aFileOfALoadStaysItsOwnWhereItIsCut() {
        Extents own = Extents.of(new Extent(folder, 0, 8)).own();

        assertThat(own.releasing(() -> {}).isOwn()).isTrue();
        assertThat(own.cut(2, 3).isOwn()).isTrue();
        assertThat(Extents.of(new Extent(folder, 0, 8)).isOwn()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"3,it ends after 3 of 4 bytes of data", "5,more follows the 4 bytes of data"})
    void aStreamOfAnotherLengthIsRefusedBeforeItsLastByte(int length, String reason) throws IOException {
        Extent region = new Extent(folder.resolve("x"), 16, 4);
        try (DataChannel channel = new DataChannel(region, "a part: ", new ByteArrayInputStream(new byte[length]))) {

            assertThatThrownBy(() -> Channels.newInputStream(channel).readNBytes(4))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("a part: " + reason);
        }
    }
}
