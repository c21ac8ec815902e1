package dev.larder.internal.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.ResponseCodec;
import dev.larder.testing.Footprint;
import dev.larder.testing.FrameMutator;
import dev.larder.testing.ProtocolSamples;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A daemon that answers with spoiled frames: a client fails with an error of ours, in time, and keeps nothing. */
@Timeout(300)
class HostileDaemonTest {
    private static final Rounds FRAMES = Rounds.of("spoiled answers", 200_000, 6);
    private static final int EXCHANGES = 1_000;

    @TempDir(factory = ShortFolder.class)
    Path store;

    private final AtomicInteger hungUp = new AtomicInteger();
    private final FrameMutator mutator =
            new FrameMutator(FRAMES.seed(), ProtocolSamples.encodeResponses(ProtocolSamples.responses()));

    @Test
    void decoderRefusesWhatItCannotRead() {
        ResponseCodec codec = new ResponseCodec();
        int read = 0;
        for (int frame = 0; frame < FRAMES.count(); frame++) {
            byte[] bytes = mutator.next();
            byte[] body = Arrays.copyOfRange(bytes, Math.min(4, bytes.length), bytes.length);
            try {
                assertThat(codec.decode(ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN)))
                        .isNotNull();
                read++;
            } catch (LarderException refused) {
                assertThat(refused.code()).isEqualTo(ErrorCode.BAD_INPUT);
            }
        }
        System.out.println(FRAMES + " read=" + read);
    }

    @Test
    void clientFailsInTimeAndKeepsNothing() throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(Protocol.address(new StoreLayout(store).socket()), EXCHANGES);
            Thread daemon = new Thread(() -> answerWithNonsense(listener));
            daemon.start();
            ControlClient client = ControlClient.at(store).patientFor(Duration.ofMillis(100));
            Footprint before = Footprint.of(ProcessHandle.current().pid());

            for (int exchange = 0; exchange < EXCHANGES; exchange++) {
                assertFailsOrAnswers(client);
            }

            assertThat(Footprint.of(ProcessHandle.current().pid()).descriptors())
                    .isLessThan(before.descriptors() + 5);
        }
        assertThat(hungUp).hasValueLessThan(EXCHANGES);
        assertThatThrownBy(() -> ControlClient.at(store).status()).isInstanceOf(LarderException.class);
    }

    private static void assertFailsOrAnswers(ControlClient client) {
        try {
            client.list("", true);
        } catch (LarderException expected) {
            assertThat(expected.code()).isNotNull();
        }
    }

    private void answerWithNonsense(ServerSocketChannel listener) {
        byte[] welcome = ProtocolSamples.encodeResponses(
                        List.of(ProtocolSamples.responses().get(0)))
                .get(0);
        for (int exchange = 0; exchange < EXCHANGES; exchange++) {
            try (SocketChannel client = listener.accept()) {
                client.read(ByteBuffer.allocate(4096));
                client.write(ByteBuffer.wrap(exchange % 8 == 0 ? mutator.next() : welcome));
                client.write(ByteBuffer.wrap(mutator.next()));
                client.write(ByteBuffer.wrap(mutator.next()));
            } catch (IOException clientHasLeft) {
                hungUp.incrementAndGet();
            }
        }
    }
}
