package dev.larder.internal.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Answers;
import dev.larder.internal.protocol.Protocol;
import dev.larder.message.BadMessage;
import dev.larder.testing.Footprint;
import dev.larder.testing.MessageMutator;
import dev.larder.testing.ProtocolSamples;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A daemon that answers with spoiled messages: a client fails with an error of ours, in time, and keeps nothing. */
@Timeout(300)
class HostileDaemonTest {
    private static final Rounds MESSAGES = Rounds.of("spoiled answers", 8_000);
    private static final int EXCHANGES = 1_000;

    @TempDir(factory = ShortFolder.class)
    Path store;

    private final AtomicInteger hungUp = new AtomicInteger();
    private final MessageMutator mutator =
            new MessageMutator(MESSAGES.seed(), ProtocolSamples.encodeResponses(ProtocolSamples.responses()));

    @Test
    void decoderRefusesWhatItCannotRead() {
        int read = 0;
        for (int message = 0; message < MESSAGES.count(); message++) {
            byte[] bytes = mutator.next();
            try {
                assertThat(Answers.decode(ByteBuffer.wrap(bytes, 0, Math.max(0, bytes.length - 1))
                                .slice()))
                        .isNotNull();
                read++;
            } catch (BadMessage refused) {
                assertThat(refused.reason()).isNotEmpty();
            }
        }
        System.out.println(MESSAGES + " read=" + read);
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
        for (int exchange = 0; exchange < EXCHANGES; exchange++) {
            try (SocketChannel client = listener.accept()) {
                client.read(ByteBuffer.allocate(4096));
                client.write(ByteBuffer.wrap(mutator.next()));
                client.write(ByteBuffer.wrap(mutator.next()));
            } catch (IOException clientHasLeft) {
                hungUp.incrementAndGet();
            }
        }
    }
}
