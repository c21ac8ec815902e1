package dev.larder.command.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.cluster.NodeOptions;
import dev.larder.launch.process.LaunchPlan;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class NodesOptionsTest {
    @Command
    private static final class Launch {
        @Mixin
        NodesOptions nodes = new NodesOptions();
    }

    @ParameterizedTest
    @CsvSource({
        "--rdzv-endpoint=localhost:1234, 0, localhost, 1234, 0",
        "--rdzv-endpoint=localhost, 0, localhost, 29400, 0",
        "--rdzv-endpoint=localhost:1234, 7000, localhost, 1234, 7000",
        "--master-addr=127.0.0.1, 0, 127.0.0.1, 29400, 0",
        "--master-addr=127.0.0.1, 7000, 127.0.0.1, 7000, 0",
        "--master_addr=[::1], 7000, ::1, 7000, 0",
    })
    void machinesMeetAtTheEndpointOrAsWithTorchrunAtTheMaster(
            String option, int masterPort, String host, int port, int portOfRanks) {
        Launch launch = new Launch();
        new CommandLine(launch).parseArgs("--nnodes=2", option);
        LaunchPlan plan = LaunchPlan.of(1, List.of("true")).withMasterPort(masterPort);

        NodeOptions node = launch.nodes.node(plan, Path.of("/dev/shm/none"), null);

        assertThat(node.endpoint().host()).isEqualTo(host);
        assertThat(node.endpoint().port()).isEqualTo(port);
        assertThat(node.plan().masterPort()).isEqualTo(portOfRanks);
    }
}
