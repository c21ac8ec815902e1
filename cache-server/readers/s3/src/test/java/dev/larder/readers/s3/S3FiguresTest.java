package dev.larder.readers.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.Daemon;
import dev.larder.server.DaemonConfig;
import dev.larder.server.reader.Readers;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads a bucket in turn with curl, which fetches the same objects over as many connections. */
@Tag("slow")
class S3FiguresTest {
    private static final int ROUNDS = 5;
    private static final int OBJECTS = 8;
    private static final int CONNECTIONS = 16;
    private static final int OBJECT_BYTES = 128 << 20;

    @TempDir
    Path folder;

    private final StoreLayout store = new StoreLayout(LeavesNothingBehind.newFolder());
    private final Path fetched = LeavesNothingBehind.newFolder();

    @Test
    void aBucketIsLoadedInTurnWithCurl() throws Exception {
        Path buckets = folder.resolve("buckets");
        Path bucket = Files.createDirectories(buckets.resolve("bucket"));
        for (int i = 0; i < OBJECTS; i++) {
            write(bucket.resolve(i + ".npy"));
        }
        try (ChildJvm s3 = ChildJvm.start(
                System.getProperty("java.class.path"),
                List.of("-XX:TieredStopAtLevel=4"),
                S3Server.class.getName(),
                buckets.toString(),
                "",
                "")) {
            String address = "http://127.0.0.1:" + s3.awaitLine(S3Server.PORT).substring(S3Server.PORT.length());
            installReader(address);
            Daemon daemon = Daemon.start(new DaemonConfig(store.root(), OptionalLong.empty(), 2));
            try {
                measure(address);
            } finally {
                daemon.stop(false);
            }
        } finally {
            System.clearProperty(Readers.FOLDER_PROPERTY);
            Folders.remove(store.root());
            Folders.remove(fetched);
        }
    }

    private void measure(String address) throws Exception {
        List<Double> loads = new ArrayList<>();
        List<Double> curls = new ArrayList<>();
        ControlClient control = ControlClient.at(store.root());
        for (int round = 0; round <= ROUNDS; round++) {
            double curl = seconds(() -> curl(address));
            double load = seconds(() -> {
                long bytes = control.load(
                                new LoadRequest(List.of(new LoadRequest.Source("d", "s3://bucket/")), List.of(), 0),
                                progress -> {})
                        .bytes();
                assertThat(bytes).isEqualTo((long) OBJECTS * OBJECT_BYTES);
            });
            control.evict("d");
            if (round > 0) { // the first of each warms the server
                curls.add(curl);
                loads.add(load);
            }
        }
        curls.sort(null);
        loads.sort(null);
        System.out.printf(
                "curl s: fastest %.2f median %.2f; load s: fastest %.2f median %.2f; ratio %.2f %.2f%n",
                curls.get(0),
                curls.get(ROUNDS / 2),
                loads.get(0),
                loads.get(ROUNDS / 2),
                curls.get(0) / loads.get(0),
                curls.get(ROUNDS / 2) / loads.get(ROUNDS / 2));
    }

    private interface Step {
        void take() throws Exception;
    }

    private static double seconds(Step step) throws Exception {
        long begin = System.nanoTime();
        step.take();
        return (System.nanoTime() - begin) / 1e9;
    }

    /** Fetches each object in two halves, into memory as a load does. */
    private void curl(String address) throws IOException, InterruptedException {
        int parts = CONNECTIONS / OBJECTS;
        List<Process> running = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            long from = (long) (i % parts) * (OBJECT_BYTES + 128) / parts;
            long end = (long) (i % parts + 1) * (OBJECT_BYTES + 128) / parts - 1;
            running.add(new ProcessBuilder(
                            "curl",
                            "-sf",
                            "-r",
                            from + "-" + end,
                            "-o",
                            fetched.resolve(String.valueOf(i)).toString(),
                            address + "/bucket/" + i / parts + ".npy")
                    .start());
        }
        for (Process process : running) {
            assertThat(process.waitFor()).isZero();
        }
        Folders.remove(fetched);
        Files.createDirectory(fetched);
    }

    private static void write(Path file) throws IOException {
        byte[] some = new byte[1 << 20];
        Arrays.fill(some, (byte) 7);
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(NpyHeader.of(Dtype.parse("|u1"), Order.C, OBJECT_BYTES)
                    .encode(128)
                    .array());
            for (int i = 0; i < OBJECT_BYTES; i += some.length) {
                out.write(some);
            }
        }
    }

    private void installReader(String address) throws IOException {
        System.setProperty(Readers.FOLDER_PROPERTY, folder.toString());
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(":"))
                .filter(entry ->
                        entry.matches(".*(awssdk|reactive-streams|slf4j-api).*jar|.*[/-]s3/?(target/classes)?/?"))
                .collect(Collectors.joining(":"));
        Files.writeString(
                Files.createDirectory(folder.resolve("s3")).resolve("reader.properties"),
                "schemes=s3\nas=none\nclasspath=" + classPath
                        + "\nflags=-Daws.region=us-east-1 -Daws.disableEc2Metadata=true -Daws.accessKeyId=someone"
                        + " -Daws.secretAccessKey=secret -Daws.endpointUrl=" + address + "\n");
    }
}
