package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The numbers of layouts, which readers in other languages have to find as well. */
class DescriptorsTest {
    @TempDir
    private Path folder;

    private static long[] of(LongUnaryOperator function, long... values) {
        return LongStream.of(values).map(function).toArray();
    }

    @Test
    void aKeyTableIsAtMostTwoThirdsFull() {
        assertThat(of(KeyTableDescriptor::capacity, 0, 1, 2, 3, 5, 6)).containsExactly(2, 2, 4, 8, 8, 16);
        assertThat(LongStream.of(0, 1, 2, 3, 4, 6, 8, Long.MIN_VALUE).filter(KeyTableDescriptor::isCapacity))
                .containsExactly(2L, 4L, 8L);
    }

    @Test
    void aKeyHasAFirstSlotAndAFingerprint() {
        assertThat(KeyTableDescriptor.shift(2)).isEqualTo(63);
        assertThat(KeyTableDescriptor.shift(8)).isEqualTo(61);
        assertThat(KeyTableDescriptor.firstSlot(1, 61)).isEqualTo(4);
        assertThat(of(KeyTableDescriptor::hash, 3, 0x1_0000_0002L, -1))
                .containsExactly(3, 0x1_0000_0003L, 0xffff_ffff_0000_0000L);
        long slot = KeyTableDescriptor.slot(5, 0x12345);
        assertThat(slot).isEqualTo(0x2345_0000_0000_0006L);
        assertThat(KeyTableDescriptor.place(slot)).isEqualTo(5);
        assertThat(of(bytes -> KeyTableDescriptor.recordLength((int) bytes), 0, 4, 5))
                .containsExactly(16, 16, 24);
    }

    @Test
    void aSlotOfARingHasItsPartsAndThenItsData() {
        assertThat(RingDescriptor.seatFile(7)).isEqualTo("consumer-07");
        assertThat(RingDescriptor.PART_LENGTH).isEqualTo(128);
        assertThat(of(arrays -> RingDescriptor.dataOffset((int) arrays), 0, 1, 3))
                .containsExactly(64, 192, 448);
        assertThat(RingDescriptor.partOffset(2)).isEqualTo(320);
        assertThat(RingDescriptor.droppedOffset(3)).isEqualTo(2072);
        assertThat(RingDescriptor.writing(5)).isEqualTo(11);
        assertThat(RingDescriptor.written(5)).isEqualTo(12);
        assertThat(of(length -> RingDescriptor.aligned(length, 64), 0, 1, 64, 65))
                .containsExactly(0, 64, 64, 128);
    }

    @Test
    void aRegionIsNamedWithItsIdWhichNumbersItsLocks() {
        assertThat(RegionDescriptor.fileName("a", 0x1000)).isEqualTo("a@0000000000001000");
        assertThat(RegionDescriptor.nameOf("a@0000000000001000")).isEqualTo("a");
        assertThat(RegionDescriptor.idOf("a@0000000000001000")).isEqualTo(4096);
        assertThat(RegionDescriptor.nameOf("a@1000")).isNull();
        assertThat(RegionDescriptor.idOf("locks")).isZero();
        assertThat(of(RegionDescriptor::idFrom, -1, 0, 4095, 4096, 0x5fff))
                .containsExactly(0x3fff_ffff_ffff_f000L, 4096, 4096, 4096, 0x5000);
        assertThat(RegionDescriptor.outlivesProcesses(RowsDescriptor.KIND)).isTrue();
        assertThat(RegionDescriptor.outlivesProcesses("array")).isFalse();
    }

    private static UnsafeBuffer counters() {
        UnsafeBuffer file =
                new UnsafeBuffer(BufferUtil.allocateDirectAligned(CountersDescriptor.FILE_LENGTH, Long.BYTES));
        CountersDescriptor.writeHeader(file, 12, 34);
        var manager = new CountersManager(CountersDescriptor.metadata(file), CountersDescriptor.values(file));
        manager.setCounterValue(manager.allocate("loads"), 7);
        manager.setCounterValue(manager.allocate("errors"), 8);
        CountersDescriptor.formatVersionRelease(file);
        return file;
    }

    private static byte[] bytes(UnsafeBuffer file) {
        byte[] bytes = new byte[file.capacity()];
        file.getBytes(0, bytes);
        return bytes;
    }

    @Test
    void countersAreReadByTheirLabels() throws IOException {
        Path file = Files.write(folder.resolve("counters"), bytes(counters()));

        CountersDescriptor.Snapshot read = CountersDescriptor.read(file);

        assertThat(read).isEqualTo(new CountersDescriptor.Snapshot(12, 34, Map.of("loads", 7L, "errors", 8L)));
        assertThat(read.counters().keySet()).containsExactly("loads", "errors");
    }

    @Test
    void countersOfADaemonThatIsNotReadyAreMissing() throws IOException {
        UnsafeBuffer fresh = counters();
        fresh.putInt(8, 0);
        Path file = Files.write(folder.resolve("counters"), bytes(fresh));
        Path header = Files.write(folder.resolve("header"), new byte[128]);

        for (Path each : new Path[] {file, header, folder.resolve("absent")}) {
            assertThatThrownBy(() -> CountersDescriptor.read(each))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON));
        }
        assertThatThrownBy(() -> CountersDescriptor.read(folder))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED));
    }

    @ParameterizedTest
    @CsvSource({"0", "8", "32", "36"})
    void countersOfAnotherLayoutAreRefused(int offset) throws IOException {
        UnsafeBuffer other = counters();
        other.putInt(offset, other.getInt(offset) + 1);
        Path file = Files.write(folder.resolve("counters"), bytes(other));
        Path cut = Files.write(folder.resolve("cut"), Arrays.copyOf(bytes(counters()), 127));
        Path longer = Files.write(
                folder.resolve("longer"), Arrays.copyOf(bytes(counters()), CountersDescriptor.FILE_LENGTH + 1));

        for (Path each : new Path[] {file, cut, longer}) {
            assertThatThrownBy(() -> CountersDescriptor.read(each))
                    .as("%s", each)
                    .hasMessageContaining("counters have an unknown layout");
        }
    }

    @Test
    void aPartOfAColumnIsTheLastLevelOfAName() {
        assertThat(ColumnPart.INDEX_SLOTS.arrayName("scene")).isEqualTo("scene/slots");
        assertThat(ColumnPart.INDEX_SLOTS.columnName("a/scene/slots")).isEqualTo("a/scene");
        assertThat(ColumnPart.INDEX_SLOTS.kind()).isEqualTo("index");
        assertThat(ColumnPart.NONE.arrayName("x"))
                .isEqualTo(ColumnPart.NONE.columnName("x"))
                .isEqualTo("x");
        assertThat(ColumnPart.NONE.kind() + ColumnPart.NONE.suffix()).isEmpty();
        for (ColumnPart part : ColumnPart.values()) {
            assertThat(ColumnPart.of(part.code())).isSameAs(part);
        }
        assertThat(ColumnPart.of(-1)).isNull();
        assertThat(ColumnPart.of(ColumnPart.values().length)).isNull();
    }

    @Test
    void onlyAnAbsolutePathOfASegmentIsOutsideOfTheStore() {
        assertThat(SegmentFile.isOutside("/data/x.npy")).isTrue();
        assertThat(SegmentFile.isOutside("a/x.npy")).isFalse();
        assertThat(SegmentFile.inStore("x.npy", 5)).isEqualTo(new SegmentFile("x.npy", 5, 0, 0));
    }
}
