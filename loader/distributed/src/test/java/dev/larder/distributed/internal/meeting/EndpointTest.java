package dev.larder.distributed.internal.meeting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "node1, node1, 29400, node1:29400",
        "node1:7, node1, 7, node1:7",
        "[::1]:7, ::1, 7, [::1]:7",
        "::1, ::1, 29400, [::1]:29400",
        "[::1], ::1, 29400, [::1]:29400"
    })
    void readsHostAndPort(String text, String host, int port, String written) {
        assertThat(Endpoint.parse(text)).isEqualTo(new Endpoint(host, port));
        assertThat(Endpoint.parse(text).text()).isEqualTo(written);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":7", "node1:", "node1:65536", "node1:x"})
    void refusesWhatIsNone(String text) {
        assertThatThrownBy(() -> Endpoint.parse(text)).isInstanceOf(LarderException.class);
    }

    /** What a machine makes of its own name, by a file of hosts. */
    static final class Debian {
        private Debian() {}

        public static void main(String[] args) throws IOException {
            Endpoint own = new Endpoint("larder-node1", 29_500);
            System.out.println(own.address().getAddress().getHostAddress());
            System.out.println(own.listenAddress(true).getAddress().isAnyLocalAddress());
            System.out.println(own.listenAddress(false).getAddress().getHostAddress());
            InetAddress told = InetAddress.getByName(NodeMeeting.ownAddress(new Endpoint("larder-node1", 29_500), 0));
            InetAddress way = Endpoint.facing(
                    new InetSocketAddress("192.0.2.1", 9), own.address().getAddress());
            System.out.println(told.equals(way));
        }
    }

    @Test
    void aNameThatLeadsAMachineToItselfAloneIsListenedAtEverywhereAndNotToldToOthers() throws Exception {
        Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.1.1 larder-node1\n");
        List<String> flags = List.of("-Djdk.net.hosts.file=" + hosts);
        try (ChildJvm debian = ChildJvm.start(System.getProperty("java.class.path"), flags, Debian.class.getName())) {
            assertThat(debian.awaitLine()).isEqualTo("127.0.1.1");
            assertThat(debian.awaitLine()).isEqualTo("true");
            assertThat(debian.awaitLine()).isEqualTo("127.0.1.1");
            assertThat(debian.awaitLine()).isEqualTo("true");
        }
    }
}
