package dev.larder.internal.posix;

import static dev.larder.testing.RefusingPosix.before;
import static dev.larder.testing.RefusingPosix.refuse;
import static dev.larder.testing.RefusingPosix.refusing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedMemoryTest {
    private static final byte[] BYTES = {1, 2, 3, 4, 5};

    private final Posix posix = Posix.system();
    private final AtomicInteger refusals = new AtomicInteger();
    private Path file;
    private int descriptor;

    @TempDir
    Path folder;

    @BeforeEach
    void open() throws IOException {
        file = Files.write(folder.resolve("file"), BYTES);
        descriptor = posix.openForWriting(file);
    }

    @AfterEach
    void close() {
        posix.close(descriptor);
    }

    @Test
    void whatIsWrittenIsInTheFile() throws IOException {
        try (MappedMemory memory = MappedMemory.writable(posix, descriptor, BYTES.length)) {
            memory.buffer(1, 4).putInt(0, 0x0b0a0908);
        }

        assertThat(Files.readAllBytes(file)).containsExactly(1, 8, 9, 10, 11);
    }

    @Test
    void lateReadsGiveZerosWhetherTheMemoryIsWritableOrNot() {
        MappedMemory readOnly = MappedMemory.readOnly(posix, descriptor, BYTES.length);
        MappedMemory writable = MappedMemory.writable(posix, descriptor, BYTES.length);
        ByteBuffer read = readOnly.buffer(0, BYTES.length);
        ByteBuffer written = writable.buffer(0, BYTES.length);
        assertThat(read).isEqualTo(ByteBuffer.wrap(BYTES)).isEqualTo(written);

        readOnly.close();
        writable.close();

        assertThat(read).isEqualTo(ByteBuffer.allocate(BYTES.length)).isEqualTo(written);
        assertThat(readOnly.isOpen() || writable.isOpen()).isFalse();
    }

    @Test
    void lateWritesDoNotReachTheFile() throws IOException {
        MappedMemory memory = MappedMemory.writable(posix, descriptor, BYTES.length);
        ByteBuffer buffer = memory.buffer(0, BYTES.length);

        memory.close();
        buffer.put(0, (byte) 9);

        assertThat(Files.readAllBytes(file)).containsExactly(BYTES);
    }

    @Test
    void closingAgainChangesNothing() {
        MappedMemory memory = MappedMemory.writable(posix, descriptor, BYTES.length);
        ByteBuffer buffer = memory.buffer(0, BYTES.length);
        memory.close();
        buffer.put(0, (byte) 9);

        memory.close();

        assertThat(buffer.get(0)).isEqualTo((byte) 9);
    }

    @Test
    void buffersLieWithinAndAreWritableAsTheMemoryIs() {
        try (MappedMemory memory = MappedMemory.readOnly(posix, descriptor, BYTES.length)) {
            assertThatThrownBy(() -> memory.buffer(0, 4).put(0, (byte) 9)).isInstanceOf(ReadOnlyBufferException.class);
            assertThatThrownBy(() -> memory.buffer(2, 4))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessage("offset 2 length 4 of 5");
            assertThatThrownBy(() -> memory.buffer(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> memory.buffer(1, Long.MAX_VALUE)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void mappingGoesOnOnceTheCollectorHasMadeRoom() {
        refusals.set(2);

        try (MappedMemory memory = mapWritable(posix)) {
            assertThat(memory.buffer(0, BYTES.length)).isEqualTo(ByteBuffer.wrap(BYTES));
        }
        assertThat(refusals).hasValue(0);
    }

    @Test
    void mappingFailsWhereTheCollectorMakesNoRoom() {
        refusals.set(Integer.MAX_VALUE);

        assertThatThrownBy(() -> mapWritable(posix))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
    }

    @Test
    void closingGoesOnOnceTheCollectorHasMadeRoom() {
        MappedMemory memory = mapWritable(refusing("replaceWithZeros", refusals));
        ByteBuffer buffer = memory.buffer(0, BYTES.length);
        refusals.set(2);

        memory.close();

        assertThat(refusals).hasValue(0);
        assertThat(buffer).isEqualTo(ByteBuffer.allocate(BYTES.length));
    }

    @Test
    void itCountsAsClosedBeforeItReadsAsZeros() {
        AtomicReference<@Nullable MappedMemory> closing = new AtomicReference<>();
        AtomicBoolean wasOpen = new AtomicBoolean(true);
        MappedMemory memory = mapWritable(before(
                "replaceWithZeros",
                () -> wasOpen.set(Objects.requireNonNull(closing.get()).isOpen())));
        closing.set(memory);

        memory.close();

        assertThat(wasOpen).isFalse();
    }

    @Test
    void addressesAreUnmappedOnceNothingOfThemCanBeReached() {
        AtomicInteger unmapped = new AtomicInteger();
        List<ByteBuffer> buffers = new ArrayList<>(List.of(bufferOfClosed(before("unmap", unmapped::incrementAndGet))));
        System.gc();
        assertThat(buffers).containsExactly(ByteBuffer.allocate(BYTES.length));
        assertThat(unmapped).hasValue(0);

        buffers.clear();

        await().until(() -> {
            System.gc();
            return unmapped.get() == 1;
        });
    }

    /** A method of its own, because its caller's frame would keep the memory reachable. */
    private ByteBuffer bufferOfClosed(Posix system) {
        try (MappedMemory memory = mapWritable(system)) {
            return memory.buffer(0, BYTES.length);
        }
    }

    private MappedMemory mapWritable(Posix system) {
        return MappedMemory.map(
                system,
                () -> {
                    refuse(refusals);
                    return BulkIo.system().mapWritable(descriptor, 0, BYTES.length);
                },
                BYTES.length,
                true);
    }
}
