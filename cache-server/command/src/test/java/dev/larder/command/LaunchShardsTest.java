package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Launches ranks on two nodes, each of which has a daemon and a share of the rows. */
class LaunchShardsTest {
    private static final int ROWS = 4097;
    private static final int WIDTH = 2048;
    private static final long WHOLE_BYTES = (long) ROWS * WIDTH;

    @TempDir
    Path folder;

    private CommandProcess one;
    private CommandProcess two;

    @BeforeEach
    void serve() {
        one = CommandProcess.serve();
        two = CommandProcess.serve();
    }

    @AfterEach
    void stop() {
        two.close();
        one.close();
    }

    private Path source(String name, int salt) throws IOException {
        Path source = Files.createDirectories(folder.resolve(name));
        byte[] rows = new byte[ROWS * WIDTH];
        ByteBuffer numbers = ByteBuffer.allocate(ROWS * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int row = 0; row < ROWS; row++) {
            for (int i = 0; i < WIDTH; i++) {
                rows[row * WIDTH + i] = (byte) (row * 31 + i * salt);
            }
            numbers.putLong(row);
        }
        Files.write(source.resolve("x.npy"), npy("|u1", "(" + ROWS + ", " + WIDTH + ")", rows));
        Files.write(source.resolve("n.npy"), npy("<i8", "(" + ROWS + ",)", numbers.array()));
        return source;
    }

    private static byte[] npy(String descr, String shape, byte[] data) {
        String header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
        byte[] start = ("\u0093NUMPY\u0001\u0000v\u0000" + header + " ".repeat(117 - header.length()) + "\n")
                .getBytes(StandardCharsets.ISO_8859_1);
        byte[] file = java.util.Arrays.copyOf(start, start.length + data.length);
        System.arraycopy(data, 0, file, start.length, data.length);
        return file;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static CommandProcess launch(CommandProcess daemon, int node, int port, String script, String... data) {
        List<String> words = new ArrayList<>(List.of(
                "launch",
                "--nnodes=2",
                "--node-rank=" + node,
                "--rdzv-endpoint=localhost:" + port,
                "--join-timeout=60s",
                "-n=2"));
        for (String each : data) {
            words.add("--data=" + each);
        }
        words.addAll(List.of("--", "sh", "-c", script));
        return CommandProcess.onStore(daemon.store(), words.toArray(String[]::new));
    }

    private static long readBytes(CommandProcess daemon) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + daemon.pid() + "/io")).stream()
                .filter(line -> line.startsWith("rchar: "))
                .mapToLong(line -> Long.parseLong(line.substring("rchar: ".length())))
                .sum();
    }

    private void launchBoth(String... data) throws IOException {
        int port = freePort();
        try (CommandProcess first = launch(one, 0, port, "true", data);
                CommandProcess second = launch(two, 1, port, "true", data)) {
            assertThat(first.exitCode()).as(first.err()).isZero();
            assertThat(second.exitCode()).as(second.err()).isZero();
        }
    }

    @Test
    void eachNodeReadsItsRowsOnceAndAllAgreeOnTheWhole() throws IOException {
        Path source = source("source", 7);
        long before = readBytes(one) + readBytes(two);

        launchBoth("train=" + source + ",shard");
        long read = readBytes(one) + readBytes(two) - before;
        launchBoth("train=" + source + ",shard");
        long readAgain = readBytes(one) + readBytes(two) - before - read;

        assertThat(read).isBetween(WHOLE_BYTES, WHOLE_BYTES + (6 << 20)); // with classes; two copies would be more
        assertThat(readAgain).isLessThan(1 << 20);
        assertThat(one.ask("load", "whole=" + source).code()).isZero();
        try (Larder larder = Larder.connect(one.store());
                Dataset whole = larder.dataset("whole");
                Dataset shard = larder.dataset("train")) {
            assertThat(shard.stored().wholeDigest()).isEqualTo(whole.digest());
            assertThat(shard.stored().shards()).isEqualTo(2);
            assertThat(shard.array("x").shape()).containsExactly(ROWS / 2 + 1, WIDTH);
            assertThat(Files.readString(shard.stored().folder().resolve("manifest.json")))
                    .contains("\"shard\": {\"of\":\"" + whole.digest()
                            + "\",\"index\":0,\"count\":2,\"rows\":{\"n\":[0,2049," + ROWS + "],");
        }
    }

    @Tag("slow")
    @Test
    void columnsAreCutIntoShardsWhoseNodesAgreeOnTheDigestOfTheWhole() throws IOException {
        Path images = folder.resolve("images");
        for (int i = 0; i < 7; i++) {
            Path image = images.resolve(i < 3 ? "cat" : "dog").resolve(i + ".png");
            Files.createDirectories(image.getParent());
            Files.writeString(image, "\u0089PNG\r\n\u001a\n" + "x".repeat(100 * i), StandardCharsets.ISO_8859_1);
        }
        Path texts = Files.writeString(folder.resolve("texts.txt"), "one\ntwo\n\nfour\nfive\n");

        launchBoth("images=" + images + ",as=images,shard", "texts=" + texts + ",as=strings,shard");

        one.ask("load", "whole=" + images, "--as", "images");
        one.ask("load", "lines=" + texts, "--as", "strings");
        try (Larder larder = Larder.connect(one.store());
                Larder other = Larder.connect(two.store())) {
            requireShards(larder.dataset("whole"), larder.dataset("images"), other.dataset("images"));
            requireShards(larder.dataset("lines"), larder.dataset("texts"), other.dataset("texts"));
            assertThat(other.dataset("images").bytes("image").byteSize(3)).isEqualTo(608);
            assertThat(other.dataset("images").strings("path").get(0)).isEqualTo("dog/3.png");
            assertThat(other.dataset("images").strings("classes").get(0)).isEqualTo("cat");
        }
    }

    private static void requireShards(Dataset whole, Dataset first, Dataset second) {
        try (whole;
                first;
                second) {
            assertThat(first.stored().wholeDigest()).isEqualTo(whole.digest());
            assertThat(second.stored().wholeDigest()).isEqualTo(whole.digest());
            assertThat(first.digest()).isNotEqualTo(second.digest());
        }
    }

    @Test
    void loadersOfAllRanksMakeEqualStepsVisitEveryRowAndResumeFromOneState() throws IOException {
        launchBoth("train=" + source("source", 7) + ",shard");

        List<Long> rows = new ArrayList<>();
        List<Integer> steps = new ArrayList<>();
        String saved = "";
        for (int rank = 0; rank < 4; rank++) {
            try (Larder larder = Larder.connect((rank < 2 ? one : two).store());
                    Dataset shard = larder.dataset("train")) {
                assertThat(shard.array("n").getLong(0)).isEqualTo(rank < 2 ? 0 : ROWS / 2);
                List<Long> visited = new ArrayList<>();
                int count = 0;
                try (Loader loader = loader(shard, rank)) {
                    for (Batch batch : loader.epoch(0)) {
                        add(batch, visited);
                        count++;
                        saved = rank == 0 && count == 3 ? batch.stateAfter().toJson() : saved;
                    }
                }
                steps.add(count);
                rows.addAll(visited);
                List<Long> rest = new ArrayList<>();
                try (Loader loader = loader(shard, rank)) {
                    for (Batch batch : loader.resume(LoaderState.parse(saved))) {
                        add(batch, rest);
                    }
                }
                assertThat(rest).isEqualTo(visited.subList(3 * 100, visited.size()));
                int wrong = (rank + 2) % 4;
                assertThatThrownBy(() -> loader(shard, wrong).close())
                        .isInstanceOf(LarderException.class)
                        .hasMessageContaining("this rank's rows are not on this node: dataset=train")
                        .hasMessageContaining("rank=" + wrong + " world=4 shard=");
            }
        }

        assertThat(steps).containsOnly(steps.get(0));
        assertThat(rows).hasSize(4 * 1025);
        assertThat(rows.stream().distinct().sorted()).hasSize(ROWS);
    }

    private static Loader loader(Dataset shard, int rank) {
        return Loader.over(shard)
                .arrays("n")
                .shuffle(42)
                .shard(rank, 4)
                .batchSize(100)
                .build();
    }

    private static void add(Batch batch, List<Long> rows) {
        for (int i = 0; i < batch.size(); i++) {
            rows.add(batch.array("n").buffer().getLong(i * Long.BYTES));
        }
    }

    @Tag("slow")
    @Test
    void aSourceThatDiffersOnOneNodeEndsTheRunWithItsNameAndTheFile() throws IOException {
        Path source = source("source", 7);
        Path other = source("other", 8);
        int port = freePort();
        try (CommandProcess first = launch(one, 0, port, "echo up", "train=" + source + ",shard");
                CommandProcess second = launch(two, 1, port, "echo up", "train=" + other + ",shard")) {
            assertThat(first.exitCode()).as(first.err()).isEqualTo(6);
            assertThat(second.exitCode()).as(second.err()).isEqualTo(6);
            assertThat(first.err())
                    .contains(
                            "larder: a node has not loaded the data: node=node 1 (",
                            "the leader's list: dataset=train" + " file=x.npy bytes=");
            assertThat(first.out() + second.out()).isEmpty();
        }
    }

    @Tag("slow")
    @Test
    void aNodeThatIsKilledWhileItsDaemonLoadsComesBackAndTheRunGoesOn() throws IOException {
        String data = "train=" + source("source", 7) + ",shard";
        int port = freePort();
        two.signal("STOP");
        try (CommandProcess first = launch(one, 0, port, "echo up", data)) {
            try (CommandProcess killed = launch(two, 1, port, "echo up", data)) {
                first.awaitErr("data: train:shard loaded");
                killed.kill();
                first.awaitErr("a node is lost: node=node 1 (");
            } finally {
                two.signal("CONT");
            }
            try (CommandProcess second = launch(two, 1, port, "echo up", data)) {
                assertThat(first.exitCode()).as(first.err()).isZero();
                assertThat(second.exitCode()).as(second.err()).isZero();
                assertThat(second.out().lines()).containsExactlyInAnyOrder("[2] up", "[3] up");
            }
        }
    }

    @Test
    void whatIsWholeAndCutAtOnceIsRefused() {
        assertThat(one.ask("launch", "--data=a=/x,shard", "--data=a=/y", "--", "true")
                        .err())
                .contains("a dataset is both whole and cut into shards: dataset=a");
        assertThat(one.ask("launch", "--data=a=/x,as=images", "--data=a=/y,as=bytes", "--", "true")
                        .err())
                .contains("the sources of a dataset are of different kinds: dataset=a");
        assertThat(one.ask("launch", "--data=a=/x,as=pictures", "--", "true").err())
                .contains("not a kind of column: 'as=pictures'");
    }
}
