package dev.larder.server.ingest;

import static dev.larder.server.residency.PublishedStore.VERSION_BYTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.control.FairQueue;
import dev.larder.server.control.Peer;
import dev.larder.server.residency.PublishedStore;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Texts whose size nobody knows before they have been read. */
@Timeout(60)
class UnpackedTextTest {
    private static final int ROOM_VERSIONS = 160; // 10 MiB

    @TempDir
    Path folder;

    private final PublishedStore made = PublishedStore.withRoomFor(ROOM_VERSIONS);

    @AfterEach
    void close() {
        made.close();
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(value = LoadOptions.As.class, names = "STRINGS")
    void aSmallFileThatUnpacksToMoreThanTheCapacityIsRefusedWhileItIsUnpacked(LoadOptions.As as) throws IOException {
        requireRefused(as);
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(value = LoadOptions.As.class, names = "INDEX")
    void aSmallIndexThatUnpacksToMoreIsRefused(LoadOptions.As as) throws IOException {
        requireRefused(as);
    }

    private void requireRefused(LoadOptions.As as) throws IOException {
        Path bomb = gzip("bomb.txt.gz", 1_500_000, 10);

        assertThatThrownBy(() -> load(bomb, as))
                .hasCauseInstanceOf(LarderException.class)
                .cause()
                .satisfies(cause -> assertThat(((LarderException) cause).code()).isEqualTo(ErrorCode.NO_SPACE))
                .hasMessageContaining("not enough space for the temporary data of a load: made=");

        assertThat(made.store().freeBytes(() -> 0)).isEqualTo(ROOM_VERSIONS * VERSION_BYTES);
        assertThat(made.residency().find("t")).isEmpty();
    }

    @Test
    void aTextNeedsItsRoomOnceAndNotOnceMoreWhileItIsUnpacked() throws IOException {
        Path text = gzip("text.txt.gz", 300_000, 12);

        load(text, LoadOptions.As.STRINGS);

        PublishedVersion version = made.residency().find("t").orElseThrow();
        assertThat(version.dataBytes()).isGreaterThan(ROOM_VERSIONS * VERSION_BYTES / 2);
        assertThat(made.store().freeBytes(made.residency()::usedBytes))
                .isEqualTo(ROOM_VERSIONS * VERSION_BYTES - made.residency().usedBytes());
    }

    @Test
    void aTextThatIsUnchangedGivesItsRoomBack() throws IOException {
        Path text = gzip("text.txt.gz", 100_000, 12);
        load(text, LoadOptions.As.STRINGS);

        load(text, LoadOptions.As.STRINGS);

        assertThat(made.residency().find("t").orElseThrow().version()).isEqualTo(1);
        assertThat(made.store().freeBytes(made.residency()::usedBytes))
                .isEqualTo(ROOM_VERSIONS * VERSION_BYTES - made.residency().usedBytes());
    }

    private void load(Path file, LoadOptions.As as) {
        LoadOptions none = LoadOptions.none();
        LoadOptions options = new LoadOptions(
                none.keys(), as, "", "", none.packBelowBytes(), none.strict(), none.inPlace(), none.evenIfUnchanged());
        Loads loads = new Loads(
                made.store(),
                made.residency(),
                new GroupQuota(made.residency(), 0),
                1,
                new FairQueue("test-load", 4, 16));
        LoadRequest request = new LoadRequest(List.of(new LoadRequest.Source("t", file.toString())), options, 1);
        LoadJob load = loads.start(request, Peer.thisProcess());
        try {
            load.outcome().orTimeout(50, TimeUnit.SECONDS).join();
        } finally {
            loads.close(10_000);
        }
    }

    /** Writes numbered lines of one length, packed. */
    private Path gzip(String name, int lines, int digits) throws IOException {
        Path file = folder.resolve(name);
        String format = "%0" + digits + "d\n";
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file), 1 << 16)) {
            for (int i = 0; i < lines; i++) {
                out.write(String.format(format, i).getBytes(StandardCharsets.US_ASCII));
            }
        }
        return file;
    }
}
