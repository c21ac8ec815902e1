package dev.larder.server.ingest;

import static dev.larder.server.residency.PublishedStore.sourced;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.protocol.Request;
import dev.larder.server.control.FairQueue;
import dev.larder.server.residency.PublishedStore;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Publisher;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Versions that an earlier boot left, and what the comparison with their checksums makes of them. */
@Timeout(300)
class RecheckTest {
    private static final Provenance COMPUTED = Provenance.computed(0);

    private final PublishedStore made = PublishedStore.withRoomFor(4);

    @AfterEach
    void close() {
        made.close();
    }

    /** Publishes a dataset and returns what a daemon knows that starts after a reboot. */
    private Residency afterReboot(Provenance provenance) {
        made.holdBack(made.publish("a", provenance));
        Residency residency = made.adoptAnew();
        assertThat(residency.unverified().find("a")).isPresent();
        assertThat(residency.find("a")).isEmpty();
        return residency;
    }

    private Loads loads(Residency residency) {
        return new Loads(made.store(), residency, new GroupQuota(residency, 0), 1, new FairQueue("test-load", 4, 16));
    }

    private static Throwable compare(Residency residency) {
        Recheck recheck = new Recheck(residency.unverified().find("a").orElseThrow(), residency, 1, () -> {});
        recheck.run();
        return recheck.outcome().handle((done, failure) -> failure).join();
    }

    @Test
    void aVersionThatCannotBePutInPlaceStaysHeldBackUntilItCan() throws IOException {
        Residency residency = afterReboot(COMPUTED);
        Path inTheWay = Files.createDirectories(made.layout().current("a").resolve("x"));
        Path heldBack = residency.unverified().find("a").orElseThrow().folder();

        Throwable failure = compare(residency);

        assertThat(failure)
                .hasMessageStartingWith("version cannot be verified after a restart: dataset=a version=1 reason=")
                .hasMessageEndingWith("larder wait a tries again");
        assertThat(heldBack).isDirectory();
        assertThat(made.layout().version("a", 1)).doesNotExist();
        assertThat(residency.unverified().find("a")).isPresent();

        Files.delete(inTheWay);
        Files.delete(made.layout().current("a"));
        assertThat(compare(residency)).isNull();
        assertThat(residency.require("a").version()).isEqualTo(1);
        assertThat(made.layout().current("a")).isSymbolicLink();
        assertThat(residency.unverified().all()).isEmpty();
    }

    @Test
    void aVersionThatCannotBeReadStaysHeldBackUntilItCan() throws IOException {
        Residency residency = afterReboot(sourced(0));
        Path file = residency.unverified().find("a").orElseThrow().folder().resolve("a.npy");
        Path moved = Files.move(file, file.resolveSibling("moved"));
        Files.createSymbolicLink(file, file); // which nobody can follow

        assertThat(compare(residency)).hasMessageStartingWith("version cannot be verified after a restart");
        assertThat(residency.unverified().find("a")).isPresent();
        assertThat(residency.registration("a")).isEmpty();

        Files.delete(file);
        Files.move(moved, file);
        assertThat(compare(residency)).isNull();
        assertThat(residency.require("a").version()).isEqualTo(1);
    }

    @Test
    void aVersionWithAFileThatIsTooShortIsLoadedAgain() throws IOException {
        Residency residency = afterReboot(sourced(0));
        Path file = residency.unverified().find("a").orElseThrow().folder().resolve("a.npy");
        try (RandomAccessFile shortened = new RandomAccessFile(file.toFile(), "rw")) {
            shortened.setLength(shortened.length() - 1);
        }

        assertThat(compare(residency)).hasMessageStartingWith("version was damaged while the machine was down");

        assertThat(residency.unverified().all()).isEmpty();
        assertThat(residency.registration("a")).isPresent();
    }

    @Test
    void whatWasPublishedMeanwhileStaysCurrentAndIsNotHeldUp() throws IOException {
        Residency residency = afterReboot(sourced(0));
        PublishedVersion old = residency.unverified().find("a").orElseThrow();
        PublishedVersion newer = made.publish(residency, "a", sourced(0));
        assertThat(newer.version()).isEqualTo(2);
        assertThat(residency.require("a")).isEqualTo(newer);
        assertThat(residency.retired()).containsExactly(old);

        residency.unverified().reveal(old);
        residency.unverified().reject(old);

        assertThat(residency.require("a")).isEqualTo(newer);
        assertThat(Files.readSymbolicLink(made.layout().current("a"))).hasToString("2");
        residency.removeReplaced();
        assertThat(newer.folder().resolve("a.npy")).exists();
        assertThat(old.folder()).doesNotExist();
        assertThat(made.layout().version("a", 1)).doesNotExist();
        residency.pin("a", true);
        assertThat(made.store().isPinned(newer)).isTrue();
    }

    @Test
    void whatReplacesAPinnedVersionThatIsHeldBackIsPinned() {
        PublishedVersion version = made.publish("a", sourced(0));
        made.residency().pin("a", true);
        made.holdBack(version);

        PublishedVersion newer = made.publish(made.adoptAnew(), "a", sourced(0));

        assertThat(made.store().isPinned(newer)).isTrue();
    }

    @Test
    void whoAsksBeforeTheComparisonHasBegunWaitsForIt() throws Exception {
        Residency residency = afterReboot(COMPUTED);
        Loads loads = loads(residency);
        List<Recheck> rechecks = loads.recheck(residency.unverified().all());

        assertThat(loads.tryStartUpload(
                        new Request.Create("a", Duration.ofMinutes(1), 0, true), Publisher.OWNER, () -> true))
                .isEmpty();
        assertThat(loads.recheck(residency.unverified().all())).isEmpty();
        Ingest found = loads.find("a").orElseThrow(); // which begins it
        assertThat(found).isSameAs(rechecks.get(0));
        found.outcome().get(60, TimeUnit.SECONDS);

        assertThat(residency.require("a").version()).isEqualTo(1);
        assertThat(loads.find("a")).isEmpty();
    }
}
