package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import dev.larder.testing.DefaultSignals;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pods of one node: user, pid and mount namespaces of their own, over one folder that the node shares with them. */
@Tag("slow")
class PodsTest {
    private static final String NODE = "unshare --user --map-root-user --mount --pid --fork --kill-child --mount-proc";

    /** Takes the command, a dataset, and the node's folder; says one line for each thing that it sees. */
    private static final String SESSION = """
            larder=$1 data=$2 host=$3
            export LARDER_STORE=$host/shm/store
            mount --bind "$host" "$host" && mount --make-shared "$host"
            pod() { exec unshare --user --map-root-user --pid --fork --mount --mount-proc --propagation slave -- "$@"; }
            daemon() {
              pod "$larder" serve --keep --load d="$data" >>"$host/serve.log" 2>&1 &
              end=$((SECONDS + 60))
              until "$larder" ls d >/dev/null 2>&1; do ((SECONDS < end)) || exit 9; sleep 0.2; done
            }
            evict() { code=0; "$larder" evict d >/dev/null 2>&1 || code=$?; echo "evict $code"; }

            # A consumer that is older than the tmpfs of its node.
            pod bash -c '
              until [[ -e $LARDER_STORE/data/d/current ]]; do sleep 0.2; done
              exec "$1" run --hold d -- sh -c "echo held by \\$\\$ >\\"$2/held\\"; exec sleep 1000"' bash "$larder" "$host" &
            consumer=$!
            mkdir "$host/shm" && mount -t tmpfs -o size=64m tmpfs "$host/shm"
            daemon
            end=$((SECONDS + 60))
            until [[ -s $host/held ]]; do ((SECONDS < end)) || exit 9; sleep 0.1; done
            echo "pids $(($(cut -d' ' -f3 "$host/held") < 100))"
            evict
            "$larder" stop --keep >/dev/null && echo stopped
            daemon
            evict
            read -r first <"/proc/$consumer/task/$consumer/children" # of the pod's processes: all others end with it
            kill -KILL "$first"
            wait "$consumer" 2>/dev/null
            evict
            "$larder" stop >/dev/null && echo "left $(ls -A "$host/shm")"
            """;

    @TempDir
    Path folder;

    /** Runs a script in a node's namespaces, or skips the test where none can be made. */
    private String onANode(String script, Path said, String... arguments) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(NODE.split(" ", -1)));
        words.addAll(List.of("bash", "-c", script, "node"));
        words.addAll(List.of(arguments));
        Process node = new ProcessBuilder(DefaultSignals.of(words))
                .redirectOutput(said.toFile())
                .redirectError(folder.resolve("err").toFile())
                .start();
        try {
            assertThat(node.waitFor(3, TimeUnit.MINUTES)).isTrue();
        } finally {
            node.descendants().forEach(ProcessHandle::destroyForcibly);
        }
        assertThat(node.exitValue()).as(Files.readString(folder.resolve("err"))).isZero();
        return Files.readString(said);
    }

    private void requireNamespaces() throws IOException, InterruptedException {
        List<String> probe = new ArrayList<>(List.of(NODE.split(" ", -1)));
        probe.addAll(
                List.of("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount", "--mount-proc", "true"));
        try {
            Process process =
                    new ProcessBuilder(probe).redirectErrorStream(true).start();
            assumeTrue(process.waitFor() == 0, "needs user namespaces within user namespaces");
        } catch (IOException e) {
            assumeTrue(false, "needs unshare");
        }
    }

    @Test
    void aLeaseHoldsAcrossPodsAndRestartsOfTheDaemonsAndEndsWithItsPod() throws Exception {
        requireNamespaces();
        Path host = Files.createDirectory(folder.resolve("host"));
        String larder = CommandProcess.script(folder).toString();
        String data = Samples.vector(folder, "a", 40_000).toString();

        String said = onANode(SESSION, folder.resolve("out"), larder, data, host.toString());

        assertThat(said.lines())
                .as(Files.readString(folder.resolve("err")))
                .containsExactly("pids 1", "evict 7", "stopped", "evict 7", "evict 0", "left ");
    }

    /** Returns the command of the Job's container, as the kubelet expands it for a pod. */
    private static List<String> commandOf(int index, int port, Path data) throws IOException {
        JsonObject job = KubernetesManifestsTest.documents(KubernetesManifestsTest.FOLDER.resolve("train/job.yaml"))
                .get(0);
        JsonObject container = job.getAsJsonObject("spec")
                .getAsJsonObject("template")
                .getAsJsonObject("spec")
                .getAsJsonArray("containers")
                .get(0)
                .getAsJsonObject();
        List<String> words = new ArrayList<>();
        container
                .getAsJsonArray("command")
                .forEach(word -> words.add(word.getAsString()
                        .replace("$(JOB_COMPLETION_INDEX)", Integer.toString(index))
                        .replace("$(RUN)", "8f14e45f")
                        .replace(":29400", ":" + port)
                        .replace("s3://bucket/train", data.toString())));
        assertThat(words).endsWith("--", "python3", "train.py").noneMatch(word -> word.contains("$("));
        words.subList(words.size() - 2, words.size()).clear();
        words.addAll(List.of(
                "sh",
                "-c",
                "echo rank $RANK of $WORLD_SIZE node $GROUP_RANK run $TORCHELASTIC_RUN_ID at $MASTER_ADDR"));
        return words.subList(1, words.size());
    }

    @Test
    void theCommandOfTheJobMakesOneRunOfItsPods() throws Exception {
        requireNamespaces();
        Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 localhost train-0.train train-1.train\n");
        Path data = Samples.vector(folder, "a", 4_000);
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        List<String> pod = List.of(
                "unshare",
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                "mount --bind '" + hosts + "' /etc/hosts && LARDER_RDZV_SECRET=" + "0123456789abcdef".repeat(4)
                        + " exec \"$@\"",
                "pod");

        try (CommandProcess first = CommandProcess.serve();
                CommandProcess second = CommandProcess.serve();
                CommandProcess leader = CommandProcess.by(
                        pod, first.store(), commandOf(0, port, data).toArray(String[]::new));
                CommandProcess other = CommandProcess.by(
                        pod, second.store(), commandOf(1, port, data).toArray(String[]::new))) {
            assertThat(leader.exitCode()).as(leader.err()).isZero();
            assertThat(other.exitCode()).as(other.err()).isZero();
            String said = leader.out() + other.out();
            assertThat(said.lines()
                            .map(line -> line.replaceFirst("^\\[\\S+\\] ", ""))
                            .sorted())
                    .containsExactlyElementsOf(IntStream.range(0, 8)
                            .mapToObj(rank ->
                                    "rank " + rank + " of 8 node " + rank / 4 + " run 8f14e45f at train-0.train")
                            .toList());
        }
    }
}
