package dev.larder.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uses the archive of readers, beside an archive whose Java has only the modules that the daemon asks for. */
@Tag("slow")
class InstalledReadersTest {
    private static final Path GOLDEN = Path.of(System.getProperty("larder.root", "../.."), "cache-server/readers")
            .toAbsolutePath();

    @TempDir
    Path temporary;

    private Installed installed;

    @BeforeEach
    void unpackBoth() throws IOException {
        installed = Installed.unpack("larder.archive.with.java", temporary.resolve("readers"));
        Path archive = Path.of(System.getProperty("larder.target", "target"))
                .resolve(System.getProperty("larder.archive.readers", "none"));
        String root = installed.root().toString();
        List<String> unpack = List.of("tar", "-xzf", archive.toString(), "--strip-components=1", "-C", root);
        assertThat(Installed.run(Map.of(), unpack).code()).isZero();
    }

    @AfterEach
    void stop() {
        installed.close();
    }

    @Test
    void readersThatAreUnpackedBesideReadTheirFormats() {
        assertThat(installed.larder("readers").out())
                .containsPattern("hdf5 +hdf5 +ready")
                .containsPattern("packed +packed +ready")
                .containsPattern("tfrecord +tfrecord +ready")
                .containsPattern("zarr +zarr +ready");
        serve(
                "--load",
                "h=" + GOLDEN.resolve("hdf5/src/test/resources/golden/arrays.h5"),
                "--load",
                "t=" + GOLDEN.resolve("tfrecord/src/test/resources/golden/table"));
        assertThat(installed.larder("ls", "--json").out()).contains("\"h/layouts/lzf\"", "\"t/image/label\"");

        assertThat(installed.larder("stop").code()).isZero();
        assertThat(installed.store()).doesNotExist();
    }

    @Test
    void theSecondReaderOfAKindStartsWithTheClassesOfTheFirst() throws IOException {
        Path array = temporary.resolve("a.npy");
        Installed.writeArray(array);
        CountDownLatch mayAnswer = new CountDownLatch(1);
        HttpServer server = serverOf(array, mayAnswer);
        String place = place(server);
        try {
            serve("--load", "first=" + place + "/a.npy");
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(archives())
                            .singleElement()
                            .satisfies(file -> assertThat(Files.size(file)).isGreaterThan(1L << 20)));

            CompletableFuture<Ended> second =
                    CompletableFuture.supplyAsync(() -> installed.larder("load", "second=" + place + "/late/a.npy"));
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> isMapped(archives().get(0)));
            mayAnswer.countDown();

            assertThat(second.join())
                    .satisfies(ended -> assertThat(ended.code()).as(ended.err()).isZero());
            assertThat(installed.larder("stop").code()).isZero();
            installed.awaitArchive();
            assertThat(Installed.files(installed.root().resolve("archive")))
                    .noneMatch(name -> name.startsWith(".") || name.endsWith(".list"));
        } finally {
            mayAnswer.countDown();
            server.stop(0);
        }
    }

    @Test
    void aTableThatLiesElsewhereIsWhatItIsHere() throws IOException {
        assumeTrue(
                Pattern.compile("parquet +parquet +ready")
                        .matcher(installed.larder("readers").out())
                        .find(),
                "no JDK of 21 or later in /usr/lib/jvm");
        Path table = GOLDEN.resolve("parquet/src/test/resources/golden/plain.parquet");
        HttpServer server = serverOf(table, new CountDownLatch(0));
        try {
            serve("--load", "here=" + table, "--load", "there=" + place(server) + "/plain.parquet");

            List<Path> files = Pattern.compile("\"path\": \"([^\"]+/data/here/[^\"]+)\"")
                    .matcher(installed.larder("ls", "--json").out())
                    .results()
                    .map(found -> Path.of(found.group(1)))
                    .distinct()
                    .toList();
            assertThat(files).hasSizeGreaterThan(3);
            for (Path file : files) {
                assertThat(Path.of(file.toString().replace("/data/here/", "/data/there/")))
                        .hasSameBinaryContentAs(file);
            }
        } finally {
            server.stop(0);
        }
    }

    /** Answers every request with a file; those whose path begins with {@code /late} when they may be. */
    private static HttpServer serverOf(Path file, CountDownLatch mayAnswer) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            try (exchange) {
                if (exchange.getRequestURI().getPath().startsWith("/late")) {
                    assertThat(mayAnswer.await(60, TimeUnit.SECONDS)).isTrue();
                }
                exchange.sendResponseHeaders(200, Files.size(file));
                if (!exchange.getRequestMethod().equals("HEAD")) {
                    Files.copy(file, exchange.getResponseBody());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
        return server;
    }

    private static String place(HttpServer server) {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private void serve(String... words) {
        String[] all = new String[words.length + 2];
        all[0] = "serve";
        all[1] = "--detach";
        System.arraycopy(words, 0, all, 2, words.length);
        assertThat(installed.larder(all))
                .satisfies(ended -> assertThat(ended.code()).as(ended.err()).isZero());
    }

    private List<Path> archives() throws IOException {
        Path folder = installed.root().resolve("archive");
        return Installed.files(folder).stream()
                .filter(name -> name.startsWith("reader-http-"))
                .map(folder::resolve)
                .toList();
    }

    /** Tells whether a process has a file in its memory. */
    private static boolean isMapped(Path file) throws IOException {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                if (memory(process).contains(file.toString())) {
                    return true;
                }
            }
            return false;
        }
    }

    private static String memory(Path process) {
        try {
            return Files.readString(process.resolve("maps"));
        } catch (IOException ended) {
            return "";
        }
    }
}
