package dev.larder.readers.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.Daemon;
import dev.larder.server.DaemonConfig;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.InstalledReaders;
import dev.larder.testing.LeavesNothingBehind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** Loads from a bucket of an S3 server in this process, behind a proxy that breaks things. */
class S3LoadTest {
    private static final int LARGE_BYTES = 20 << 20;
    private static final String SECRET = "the-secret-of-the-test";

    @TempDir
    static Path buckets;

    private static ChildJvm s3;
    private static String port;
    private static S3Client server;

    @RegisterExtension
    final InstalledReaders readers = new InstalledReaders();

    private final StoreLayout store = new StoreLayout(LeavesNothingBehind.newFolder());
    private FlakyProxy proxy;
    private Daemon daemon;

    @BeforeAll
    static void startServer() {
        s3 = ChildJvm.start(S3Server.class, buckets.toString(), "someone", SECRET);
        port = s3.awaitLine(S3Server.PORT).substring(S3Server.PORT.length());
        server = S3Client.builder()
                .endpointOverride(URI.create("http://127.0.0.1:" + port))
                .forcePathStyle(true)
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("someone", SECRET)))
                .httpClient(UrlConnectionHttpClient.create())
                .build();
        server.createBucket(request -> request.bucket("bucket"));
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
        if (s3 != null) {
            s3.close();
        }
    }

    @BeforeEach
    void start() throws IOException {
        proxy = new FlakyProxy(URI.create("http://127.0.0.1:" + port));
        writeReader("-Daws.accessKeyId=someone -Daws.secretAccessKey=" + SECRET);
        daemon = Daemon.start(new DaemonConfig(store.root(), OptionalLong.empty(), 2));
    }

    private void writeReader(String flags) throws IOException {
        readers.install(
                "s3",
                List.of(
                        "schemes=s3",
                        "as=none",
                        InstalledReaders.classPath(
                                ".*(awssdk|reactive-streams|slf4j-api).*jar|.*[/-]s3/?(target/classes)?/?"),
                        "flags=-XX:TieredStopAtLevel=1 -Daws.region=us-east-1 -Daws.disableEc2Metadata=true"
                                + " -Daws.endpointUrl=" + proxy.address() + " " + flags));
    }

    @AfterEach
    void stop() {
        if (daemon != null) { // else it did not start
            daemon.stop(false);
        }
        if (proxy != null) {
            proxy.close();
        }
        Folders.remove(store.root());
    }

    private static byte[] array(int length, int first) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = (byte) ((i + first) % 251);
        }
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(
                NpyHeader.of(Dtype.parse("|u1"), Order.C, length).encode(128).array());
        file.writeBytes(data);
        return file.toByteArray();
    }

    private static void put(String key, byte[] content) {
        server.putObject(request -> request.bucket("bucket").key(key), RequestBody.fromBytes(content));
    }

    private static void putFolder() {
        put("some data/large.npy", array(LARGE_BYTES, 0));
        put("some data/in/small.npy", array(100, 3));
        put("some data/notes.doc", new byte[100_000]);
        put("some data-not.npy", new byte[1]);
    }

    private Done load(String address) {
        return ControlClient.at(store.root())
                .load(new LoadRequest(List.of(new LoadRequest.Source("d", address)), List.of(), 0), progress -> {});
    }

    private void assertFolderIsThere() {
        try (Larder larder = Larder.connect(store.root());
                Dataset dataset = larder.dataset("d")) {
            assertThat(dataset.array("large").getInt(LARGE_BYTES - 1)).isEqualTo((LARGE_BYTES - 1) % 251);
            assertThat(dataset.array("large").getInt(8 << 20)).isEqualTo((8 << 20) % 251);
            assertThat(dataset.array("in/small").getInt(0)).isEqualTo(3);
        }
    }

    private List<String> entries(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(Path::toString).toList();
        }
    }

    @Test
    void aFolderIsFetchedOnceWhateverBreaksAndNotAgainWhileItIsUnchanged() throws IOException {
        putFolder();
        proxy.busy.set(3);
        proxy.cut.set(2);

        assertThat(load("s3://bucket/some data").message()).contains("skipped 1 file of no known kind");
        assertFolderIsThere();
        assertThat(entries(store.incoming())).isEmpty();
        assertThat(proxy.gets()).allMatch(get -> get.startsWith("/bucket/some%20data/"));

        int gets = proxy.gets().size();
        long bytes = proxy.bytes.get();
        assertThat(load("s3://bucket/some data").message()).contains("its sources look unchanged");
        assertThat(proxy.gets()).hasSize(gets);
        ControlClient.at(store.root()).evict("d");
        List<CompletableFuture<Void>> openers = IntStream.range(0, 8)
                .mapToObj(opener -> CompletableFuture.runAsync(this::assertFolderIsThere))
                .toList();
        openers.forEach(CompletableFuture::join);
        assertThat(proxy.gets()).hasSize(gets + 4); // three parts of one, and the other
        assertThat(proxy.bytes.get() - bytes).isBetween((long) LARGE_BYTES, LARGE_BYTES + 20_000L);
    }

    @Test
    @Tag("slow")
    void eightProcessesThatWantTheSameFetchOneCopy() {
        putFolder();
        ControlClient.at(store.root())
                .load(
                        new LoadRequest(List.of(new LoadRequest.Source("d", "s3://bucket/some data")), List.of(), 0)
                                .withRegisterOnly(true),
                        progress -> {});
        List<ChildJvm> openers = IntStream.range(0, 8)
                .mapToObj(
                        opener -> ChildJvm.start(OpenProgram.class, store.root().toString(), "d", "large"))
                .toList();
        for (ChildJvm opener : openers) {
            assertThat(opener.awaitLine(OpenProgram.LAST)).isEqualTo(OpenProgram.LAST + (LARGE_BYTES - 1) % 251);
            opener.close();
        }
        assertThat(proxy.gets().stream().filter(get -> get.startsWith("/bucket/some%20data/")))
                .hasSize(3 + 1); // three parts of one, and the other
        assertThat(proxy.bytes.get()).isBetween((long) LARGE_BYTES, LARGE_BYTES + 20_000L);
    }

    @Test
    @Tag("slow")
    void anObjectThatIsWrittenMeanwhileIsRefused() throws IOException {
        putFolder();
        proxy.beforeData = () -> put("some data/large.npy", array(LARGE_BYTES, 1));

        assertThatThrownBy(() -> load("s3://bucket/some data/large.npy"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("file=s3://bucket/some data/large.npy")
                .hasMessageContaining("it changed while it was read");
        assertThat(entries(store.incoming())).isEmpty();
    }

    @Test
    @Tag("slow")
    void whatIsNotThereOrForbiddenIsSaidWithTheSourceOfTheCredentials() throws IOException {
        putFolder();
        assertThatThrownBy(() -> load("s3://bucket/nothing"))
                .hasMessageContaining("no object is there: bucket=bucket key=nothing credentials=system properties");
        assertThatThrownBy(() -> load("s3://nowhere/x.npy")).hasMessageContaining("NoSuchBucket");
        assertThatThrownBy(() -> load("s3://no bucket/x.npy"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT));
        writeReader("-Daws.accessKeyId=someone -Daws.secretAccessKey=wrong-and-secret");
        assertThatThrownBy(() -> load("s3://bucket/some data"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("status=403 code=SignatureDoesNotMatch credentials=system properties")
                .hasMessageNotContaining("wrong-and-secret");
        writeReader("-Duser.home=" + readers.folder("s3"));
        assertThatThrownBy(() -> load("s3://bucket/some data")).hasMessageContaining("credentials=none");
    }
}
