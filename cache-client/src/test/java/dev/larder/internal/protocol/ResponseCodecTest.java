package dev.larder.internal.protocol;

import static dev.larder.internal.protocol.RequestCodecTest.body;
import static dev.larder.internal.protocol.RequestCodecTest.bytes;
import static dev.larder.testing.ProtocolSamples.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.sbe.ArrayRowDecoder;
import dev.larder.internal.protocol.sbe.StatusReplyDecoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class ResponseCodecTest {
    private final ResponseCodec codec = new ResponseCodec();

    static Stream<Response> responses() {
        return Stream.of(
                new Welcome(1, 0, 1, 99, Duration.ofMillis(5), "0.1.0"),
                new Problem(77, "what failed: größe=1; do this"),
                new Problem(6, "what failed", "Exception: what failed\n\tat here"),
                new Build(1L << 60, "/dev/shm/x/incoming/1-größe"),
                Done.NOTHING,
                new Done(1, 2L << 40, 3, "pid 4 (java)", "freed"),
                Progress.of(Progress.Phase.WAITING, "", ""),
                new Progress(Progress.Phase.LOADING, "mnist", 1, 2, 3, 4, "half way"),
                row(List.of(), ArrayRow.State.RESIDENT),
                row(List.of(60_000L, 28L, 28L), ArrayRow.State.RETIRED),
                row(new ArrayList<>(Collections.nCopies(64, 1L << 40)), ArrayRow.State.REGISTERED),
                new ErrorRow(3, Instant.ofEpochMilli(1), Instant.ofEpochMilli(2), "bug", "at x"),
                new RegionRow("w", "k", 4096, 5, Optional.of(Path.of("/x/w")), 7, Instant.ofEpochMilli(8)),
                new RegionRow("w", "k", 4096, 5, Optional.empty(), 7, Instant.ofEpochMilli(8)),
                new DaemonStatus(
                        "/dev/shm/x",
                        1,
                        "0.1",
                        2,
                        3,
                        4,
                        5,
                        6,
                        7,
                        8,
                        "never",
                        10,
                        11,
                        Duration.ofSeconds(9),
                        "http://127.0.0.1:1/"));
    }

    @ParameterizedTest
    @MethodSource("responses")
    void everyResponseComesBackAsItWas(Response response) {
        assertThat(codec.decode(body(codec.encode(response)))).isEqualTo(response);
    }

    @ParameterizedTest
    @MethodSource("responses")
    void aResponseCutShortAnywhereIsRefused(Response response) {
        byte[] whole = bytes(body(codec.encode(response)));

        for (int length = 0; length < whole.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(whole, 0, length).slice().order(ByteOrder.LITTLE_ENDIAN);
            assertThatThrownBy(() -> codec.decode(cut)).isInstanceOf(LarderException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ArrayRow.State.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"OTHER", "COMPUTED"})
    void everyStateHasItsCode(ArrayRow.State state) {
        assertThat(codec.decode(body(codec.encode(row(List.of(1L), state)))))
                .isInstanceOfSatisfying(
                        ArrayRow.class, row -> assertThat(row.state()).isEqualTo(state));
    }

    @ParameterizedTest
    @EnumSource(value = Progress.Phase.class, mode = EnumSource.Mode.EXCLUDE, names = "OTHER")
    void everyPhaseHasItsCode(Progress.Phase phase) {
        assertThat(codec.decode(body(codec.encode(Progress.of(phase, "", "")))))
                .isInstanceOfSatisfying(
                        Progress.class, it -> assertThat(it.phase()).isEqualTo(phase));
    }

    @Test
    void aPhaseOfALaterVersionReadsAsOther() {
        byte[] message = bytes(body(codec.encode(Progress.of(Progress.Phase.LOADING, "", ""))));
        message[MessageReader.BODY] = 100;

        assertThat(codec.decode(ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN)))
                .isInstanceOfSatisfying(
                        Progress.class, it -> assertThat(it.phase()).isEqualTo(Progress.Phase.OTHER));
    }

    @Test
    void aBlockThatALaterVersionMadeLongerIsRead() {
        byte[] message = bytes(body(codec.encode(new Problem(7, "no"))));
        byte[] longer = new byte[message.length + 8];
        int block = MessageReader.BODY + 4;
        System.arraycopy(message, 0, longer, 0, block);
        System.arraycopy(message, block, longer, block + 8, message.length - block);
        ByteBuffer buffer = ByteBuffer.wrap(longer).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putShort(0, (short) 12).putShort(6, (short) 1);

        assertThat(codec.decode(buffer)).isEqualTo(new Problem(7, "no"));
    }

    @Test
    void aRowOfTheFirstMinorIsReadAsPartOfNoColumn() {
        ArrayRow row = row(List.of(1L), ArrayRow.State.RESIDENT);
        byte[] message = bytes(body(codec.encode(row)));
        int part = MessageReader.BODY + ArrayRowDecoder.partEncodingOffset();
        byte[] older = new byte[message.length - Integer.BYTES];
        System.arraycopy(message, 0, older, 0, part);
        System.arraycopy(message, part + Integer.BYTES, older, part, older.length - part);
        ByteBuffer buffer = ByteBuffer.wrap(older).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putShort(0, (short) ArrayRowDecoder.partEncodingOffset());

        assertThatThrownBy(() -> codec.decode(buffer)).isInstanceOf(LarderException.class);

        buffer.putShort(6, (short) 0);
        assertThat(codec.decode(buffer)).isInstanceOfSatisfying(ArrayRow.class, read -> {
            assertThat(read.part()).isEqualTo(ColumnPart.NONE);
            assertThat(read.source()).isEqualTo(row.source());
        });
    }

    @Test
    void aStatusOfAnEarlierMinorHasNoStatusPage() {
        DaemonStatus status = new DaemonStatus(
                "/s", 1, "0.1", 2, 3, 4, 5, 6, 7, 8, "never", 10, 11, Duration.ofSeconds(9), "http://127.0.0.1:1/");
        byte[] message = bytes(body(codec.encode(status)));
        byte[] older = Arrays.copyOf(
                message, message.length - Short.BYTES - status.statusPage().length());
        ByteBuffer buffer = ByteBuffer.wrap(older).order(ByteOrder.LITTLE_ENDIAN);

        assertThatThrownBy(() -> codec.decode(buffer)).isInstanceOf(LarderException.class);

        buffer.putShort(6, (short) (StatusReplyDecoder.statusPageSinceVersion() - 1));
        assertThat(codec.decode(buffer)).isInstanceOfSatisfying(DaemonStatus.class, read -> {
            assertThat(read.statusPage()).isEmpty();
            assertThat(read.hugePages()).isEqualTo(status.hugePages());
        });
    }

    @Test
    void aLongMessageForPeopleIsCutAndNotRefused() {
        Response response = codec.decode(body(codec.encode(new Problem(1, "数".repeat(50_000)))));

        assertThat(response)
                .isInstanceOfSatisfying(
                        Problem.class,
                        problem -> assertThat(problem.message())
                                .startsWith("数数")
                                .endsWith("数…")
                                .hasSizeBetween(10_900, 10_923));
    }
}
