package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/**
 * Lines of torchrun 2.13, from its documentation and with each of its options, after {@code larder launch} in the place of the word
 * {@code torchrun}.
 */
class TorchrunLinesTest {
    /** Those of its parser, with hyphens; each also has a spelling with underscores. */
    private static final List<String> OPTIONS = List.of(
            ("--nnodes --nproc-per-node --rdzv-backend --rdzv-endpoint --rdzv-id --rdzv-conf --standalone --max-restarts"
                            + " --monitor-interval --start-method --event-log-handler --role -m --module --no-python --run-path"
                            + " --log-dir -r --redirects -t --tee --local-ranks-filter --duplicate-stdout-filters"
                            + " --duplicate-stderr-filters --node-rank --master-addr --master-port --local-addr --logs-specs"
                            + " --numa-binding --signals-to-handle --shutdown-timeout --virtual-local-rank")
                    .split(" "));

    @TempDir
    Path folder;

    private Path script;

    @BeforeEach
    void writeScript() throws IOException {
        script = Files.writeString(folder.resolve("train.py"), """
                import os, sys
                names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK ROLE_NAME TORCHELASTIC_MAX_RESTARTS TORCHELASTIC_RUN_ID"
                sys.stdout.write(" ".join([os.environ[name] for name in names.split()] + sys.argv[1:]) + "\\n")
                """);
    }

    /** Runs the words behind torchrun. The standard input of this process is its own. */
    private Answer torchrun(String line) throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            line = line.replace("$PORT", String.valueOf(free.getLocalPort()));
        }
        line = line.replace("train.py", script.toString()).replace("$DIR", folder.toString());
        List<String> words = new ArrayList<>(
                List.of("--store", LeavesNothingBehind.newStore().toString(), "launch", "--no-stdin"));
        words.addAll(List.of(line.strip().split(" +")));
        return Answer.of(words.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--standalone --nnodes=1 --nproc-per-node=2 train.py --arg1 x | 0 2 0 2 0 default 0 [-0-9a-f]{36} --arg1 x",
                "--rdzv-backend=c10d --rdzv-endpoint=localhost:0 --nnodes=1 --nproc-per-node=2 train.py --arg1 x | 0 2 0 2 0 default 0 none --arg1 x",
                "--nnodes=1 --nproc-per-node=2 --max-restarts=3 --rdzv-id=77 --rdzv-backend=c10d --rdzv-endpoint=localhost:$PORT train.py --a | 0 2 0 2 0 default 3 77 --a",
                "--nnodes=1:4 --nproc-per-node=1 --max-restarts=3 --rdzv-id=77 --rdzv-backend=c10d --rdzv-endpoint=localhost:$PORT train.py | 0 1 0 1 0 default 3 77",
                "--nproc_per_node=2 --nnodes=1 --node_rank=0 --master_addr=127.0.0.1 --master_port=$PORT train.py --a | 0 2 0 2 0 default 0 none --a",
                "--nnodes=1 --nproc-per-node=1 --rdzv-endpoint=localhost train.py -m --standalone | 0 1 0 1 0 default 0 none -m --standalone",
                "--nproc-per-node=2 --no-python printenv RANK | 0",
                "--role=trainer --monitor-interval=0.1 --start-method=fork --rdzv-conf=timeout=60 train.py | 0 1 0 1 0 trainer 0 none",
                "--event-log-handler=null --local-addr=localhost --shutdown-timeout=5 train.py | 0 1 0 1 0 default 0 none",
                "--log-dir $DIR/logs -r 1:3 -t 0:3 --local-ranks-filter=0,1 --nproc-per-node=2 train.py | 0 2 0 2 0 default 0 none",
                "--signals-to-handle=SIGTERM,SIGINT,SIGUSR1,SIGUSR2 train.py | 0 1 0 1 0 default 0 none",
            })
    void aLineThatIsAcceptedRunsItsRanks(String line, String output) throws IOException {
        Answer answer = torchrun(line);

        assertThat(answer.code()).as(answer.err()).isZero();
        assertThat(answer.lines()).anySatisfy(rank -> assertThat(rank).matches("\\[0\\] " + output));
        assertThat(answer.err()).doesNotContain("no such", "WARN");
    }

    @Test
    void everyOptionIsKnownInBothSpellings() {
        CommandLine launch = Objects.requireNonNull(
                LarderCommand.commandLine("launch").getSubcommands().get("launch"));

        assertThat(launch.getCommandSpec().optionsMap())
                .containsKeys(OPTIONS.toArray(String[]::new))
                .containsKeys(OPTIONS.stream()
                        .map(option -> option.replaceAll("(?<=\\w)-", "_"))
                        .toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--numa-binding=node --nproc-per-node=8 train.py | option=--numa-binding; start the program by numactl: -- numactl",
                "--virtual-local-rank train.py | option=--virtual-local-rank; let the program choose its GPU by LOCAL_RANK",
                "--run-path train.py | option=--run-path; leave it out",
                "--logs-specs=mine train.py | option=--logs-specs; use --log-dir",
                "--duplicate-stdout-filters=a train.py | option=--duplicate-stdout-filters and --duplicate-stderr-filters; filter the files",
                "--duplicate_stderr_filters=a train.py | option=--duplicate-stdout-filters and --duplicate-stderr-filters; filter the files",
                "--nproc-per-node=xpu train.py | not a number of ranks: 'xpu' (it is a number, auto, cpu or gpu)",
                "--signals-to-handle=SIGALRM train.py | signal=SIGALRM; name some of SIGTERM",
                "--tee 3 train.py | --redirects and --tee need --log-dir",
                "--no-python --module train.py | --module and --no-python exclude each other",
                "--nnodes=2 --nproc-per-node=2 --rdzv-endpoint=192.0.2.1:29400 train.py | needs the run's secret",
                "--nnodes=2 train.py | machines need a place to meet: nnodes=2; give all of them the same --rdzv-endpoint",
                "--no-such-option train.py | no such option: --no-such-option",
            })
    void aLineThatIsRefusedGetsAReason(String line, String reason) throws IOException {
        Answer answer = torchrun(line);

        assertThat(answer.code()).as(answer.err()).isEqualTo(2);
        assertThat(answer.err()).startsWith("larder: ").contains(reason).hasLineCount(1);
        assertThat(answer.out()).isEmpty();
    }
}
