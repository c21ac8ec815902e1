package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Looks at daemons that work, hang and are dead. */
class SeeingTest {
    @TempDir
    Path folder;

    private CommandProcess daemon;
    private Process reader;

    @BeforeEach
    void serveAReader() {
        daemon = CommandProcess.serve("--load", "v=" + Samples.vector(folder, "v", 5000));
        reader = Samples.reader(daemon.store().resolve("data/v/1/lease"));
    }

    @AfterEach
    void stop() throws InterruptedException {
        reader.destroyForcibly().waitFor();
        daemon.close();
    }

    private JsonArray clients() {
        return JsonParser.parseString(daemon.ask("clients", "--json").out()).getAsJsonArray();
    }

    private JsonObject top() {
        return JsonParser.parseString(daemon.ask("top", "--once", "--json").out())
                .getAsJsonObject();
    }

    @Test
    void clientsAreThoseWhoHoldSomething() throws InterruptedException {
        JsonObject client = clients().get(0).getAsJsonObject();

        assertThat(client.keySet()).containsExactly("pid", "uid", "user", "command", "datasets", "bytes", "feeds");
        assertThat(client.get("pid").getAsLong()).isEqualTo(reader.pid());
        assertThat(client.get("user").getAsString()).isEqualTo(System.getProperty("user.name"));
        assertThat(client.get("command").getAsString()).contains("python3", "lease");
        assertThat(client.get("datasets").toString()).isEqualTo("[\"v\"]");
        assertThat(client.get("bytes").getAsLong()).isGreaterThanOrEqualTo(5000);

        reader.destroyForcibly().waitFor();
        assertThat(clients()).isEmpty();
    }

    @Test
    void whoReadsARetiredVersionIsAClientStill() {
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 6000));

        JsonArray clients = clients();

        assertThat(clients).hasSize(1);
        assertThat(top().get("counters").getAsJsonObject().get("retiredBytes").getAsLong())
                .isGreaterThanOrEqualTo(0);
        assertThat(daemon.ask("clients").out()).contains(reader.pid() + "  ", "  v  ");
    }

    @Test
    void aDaemonThatWasStoppedBySignalIsShownAndItsReadersToo() {
        daemon.signal("STOP");
        await().untilAsserted(
                        () -> assertThat(top().get("daemon").getAsString()).isEqualTo("stopped"));

        assertThat(clients()).hasSize(1);
        assertThat(daemon.ask("top", "--once").out()).contains("stopped by a signal", "kill -CONT " + daemon.pid());

        daemon.signal("CONT");
        await().untilAsserted(
                        () -> assertThat(top().get("daemon").getAsString()).isEqualTo("running"));
    }

    @Test
    void aDaemonThatWasKilledIsGoneAndItsReadersAreStillSeen() {
        daemon.kill();

        assertThat(top().get("daemon").getAsString()).isEqualTo("gone");
        assertThat(top().get("pid").getAsLong()).isEqualTo(daemon.pid());
        assertThat(daemon.ask("top", "--once").out()).contains("gone; its last counters:");
        assertThat(clients()).hasSize(1);
        CommandProcess.serveOn(daemon.store()).close();
    }

    @Test
    void topTellsCountersAndClientsAndGoesOnAfterTheEndUntilItIsInterrupted() {
        try (CommandProcess top = CommandProcess.onStore(daemon.store(), "top", "--json", "--interval", "100ms")) {
            top.awaitOut("\"daemon\":\"running\"");
            daemon.signal("TERM").exitCode();
            top.awaitOut("\"daemon\":\"gone\"");
            assertThat(top.signal("INT").exitCode()).isZero();

            JsonObject first = JsonParser.parseString(
                            top.out().lines().findFirst().orElseThrow())
                    .getAsJsonObject();
            assertThat(first.get("counters").getAsJsonObject().get("arrays").getAsLong())
                    .isEqualTo(1);
            assertThat(first.get("leasedBytes").getAsLong()).isGreaterThanOrEqualTo(5000);
            assertThat(first.get("clients").getAsJsonArray()).hasSize(1);
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(chars = {3, 'q'})
    void onATerminalTopDrawsInPlaceAndGivesTheTerminalBackOnCtrlCAndOnQ(char key) throws IOException {
        Path larder = CommandProcess.script(folder);
        String drawn = Samples.onTerminal(larder + " top --interval 100ms --store " + daemon.store(), key);

        assertThat(drawn).startsWith("\u001b[?1049h\u001b[?25l").endsWith("\u001b[?25h\u001b[?1049lexit=0");
        assertThat(drawn).contains("memory  [", "resident #= ", "leased # ");
        assertThat(top().keySet()).contains("loads", "errors", "clients", "feeds", "counters");
        assertThat(drawn).contains("\u001b[Hlarder top").doesNotContain("\u001b[2J");
        assertThat(drawn.split("\u001b\\[H", -1)[1].lines().map(line -> line.replaceAll("\u001b.*", "")))
                .allMatch(line -> line.strip().length() <= 40)
                .hasSizeLessThanOrEqualTo(8);
    }

    @Test
    void errorsOfTheDaemonAreListedWithTheirCount() throws IOException {
        assertThat(daemon.ask("errors").out()).isEqualTo("No errors.\n");
        talkRubbish();
        talkRubbish();

        JsonObject error = JsonParser.parseString(daemon.ask("errors", "--json").out())
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject();
        assertThat(error.keySet()).containsExactly("count", "first", "last", "message");
        assertThat(error.get("count").getAsLong()).isEqualTo(2);
        assertThat(daemon.ask("errors").out()).startsWith("2 times, first ");
        assertThat(daemon.ask("errors", "--debug").out()).contains("at dev.larder.");
        assertThat(daemon.ask("errors", "--json", "--debug").out()).contains("\"trace\"");
    }

    @Test
    void aLoadThatFailedIsAmongTheErrors() {
        assertThat(daemon.ask("load", "absent=" + folder.resolve("absent.npy")).code())
                .isEqualTo(6);

        assertThat(daemon.ask("errors").out()).startsWith("once, ").contains("absent.npy");
    }

    private void talkRubbish() throws IOException {
        try (SocketChannel channel =
                SocketChannel.open(UnixDomainSocketAddress.of(daemon.store().resolve("control.sock")))) {
            channel.write(ByteBuffer.wrap(new byte[] {-1, -1, -1, 127, 0, 0, 0, 0}));
            while (channel.read(ByteBuffer.allocate(1024)) >= 0) {
                Thread.onSpinWait();
            }
        }
    }
}
