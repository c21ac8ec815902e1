package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonParser;
import dev.larder.client.Larder;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.Regions;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Regions as programs use them, of a daemon in a process of its own. */
class RegionsEndToEndTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Where no other stores are: what other tests have left for a moment is not ours to remove. */
    @TempDir
    Path nowhere;

    private static final RegionSpec SPEC = new RegionSpec("weights", "test", 1 << 20);

    private CommandProcess daemon;
    private Larder larder;

    @BeforeEach
    void serve() {
        daemon = CommandProcess.serve();
        larder = Larder.connect(daemon.store());
    }

    @AfterEach
    void stop() {
        larder.close();
        daemon.close();
    }

    @Test
    void twoUsersOfARegionSeeWhatEachWrites() {
        try (Regions one = Regions.of(larder);
                Regions other = Regions.of(larder);
                Region mine = one.openOrCreate(SPEC, memory -> memory.putLong(8, 3), PATIENCE);
                Region theirs = other.open("weights", "test", PATIENCE)) {
            mine.memory().putLongVolatile(0, 42);

            assertThat(theirs.memory().getLongVolatile(0)).isEqualTo(42);
            assertThat(theirs.memory().getLong(8)).isEqualTo(3);
            assertThat(mine.tryTakeSeat(1)).isTrue();
            assertThat(theirs.isSeatTaken(1)).isTrue();
        }
    }

    @Test
    void theCommandListsAndRemovesThem() {
        try (Regions regions = Regions.of(larder);
                Region region = regions.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            JsonArray rows = JsonParser.parseString(
                            daemon.ask("regions", "--json").out())
                    .getAsJsonArray();
            assertThat(rows.get(0).getAsJsonObject().keySet())
                    .containsExactly("name", "kind", "bytes", "creatorPid", "created", "path");
            assertThat(daemon.ask("regions").out()).contains("weights", daemon.store() + "/regions/weights@");

            assertThat(daemon.ask("regions", "--remove", "weights").code()).isZero();

            assertThat(daemon.ask("regions", "--remove", "weights").code()).isEqualTo(ErrorCode.NOT_FOUND.number());
            region.memory().putLongVolatile(0, 1);
            assertThat(region.memory().getLongVolatile(0)).isEqualTo(1);
        }
    }

    @Test
    void thoseWhoHaveARegionGoOnWithoutTheDaemon() {
        try (Regions one = Regions.of(larder);
                Regions other = Regions.of(larder);
                Region mine = one.openOrCreate(SPEC, memory -> {}, PATIENCE);
                Region theirs = other.open("weights", "test", PATIENCE)) {
            assertThat(mine.tryTakeSeat(0)).isTrue();

            daemon.kill();

            mine.memory().putLongVolatile(0, 7);
            assertThat(theirs.memory().getLongVolatile(0)).isEqualTo(7);
            assertThat(theirs.isSeatTaken(0)).isTrue();
            assertThatThrownBy(() -> other.open("weights", "test", Duration.ZERO))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON));
        } finally {
            assertThat(Answer.of(daemon.store(), "gc", "--under", nowhere.toString())
                            .code())
                    .isZero();
            assertThat(daemon.store()).doesNotExist();
        }
    }

    @Tag("slow")
    @Test
    void aRegionGoesOnceNobodyHasIt() {
        try (Regions regions = Regions.of(larder);
                Region region = regions.openOrCreate(SPEC, memory -> {}, PATIENCE)) {
            assertThat(region.row().file()).exists();
        }

        await().atMost(PATIENCE)
                .until(() -> daemon.ask("regions", "--json").out().strip().equals("[]"));
    }
}
