package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import dev.larder.testing.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ranks that do not come to a subgroup which they have agreed on; the others would wait 5 minutes for them to join. */
@Tag("races")
class SubgroupFaultsTest {
    private static final Duration NOTICE = Duration.ofSeconds(15);

    private final OwnFolder regions = new OwnFolder();

    @AfterEach
    void removeRegions() {
        regions.close();
    }

    @Test
    void theOthersHearWithinSecondsWhoDiedOnTheWayToASubgroup() {
        try (Gang gang = Gang.of(regions.path(), "parent", 3);
                ChildJvm victim =
                        ChildJvm.start(DyingMember.class, regions.path().toString(), "parent")) {
            Future<String> first = gang.start(0, group -> messageOf(group));
            Future<String> other = gang.start(2, group -> messageOf(group));

            victim.awaitLine("dies");
            long startNs = System.nanoTime();
            String cause = "has died: rank=1 pid=" + victim.pid() + " key=parent call=subgroup/join";
            assertThat(Gang.await(first)).contains(cause);
            assertThat(Gang.await(other)).contains(cause);
            assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(NOTICE);
            assertThat(victim.awaitExit()).isEqualTo(DyingMember.EXIT_CODE);
        }
    }

    /** Both the subgroup and the group that it is made of say why. */
    private static String messageOf(ProcessGroup group) {
        try {
            group.subgroup(2, 1, 0).orElseThrow().close();
            return "came through";
        } catch (LarderException e) {
            assertThatThrownBy(group::barrier)
                    .isInstanceOf(LarderException.class)
                    .hasMessage(e.getMessage());
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void theOthersHearWhyARankCannotComeToASubgroup() {
        try (Gang gang = Gang.of(regions.path(), "parent", 2);
                Regions full = FolderRegions.in(regions.path(), spec -> {
                    if (spec.name().contains(".sub")) {
                        throw new IllegalStateException("no room for " + spec.name());
                    }
                })) {
            Future<String> other = gang.start(1, group -> {
                assertThatThrownBy(() -> group.subgroup(0, 1))
                        .isInstanceOf(LarderException.class)
                        .hasMessageContaining("a rank failed")
                        .hasMessageContaining("no room for group.parent.sub1");
                return "heard it";
            });
            try (ProcessGroup group = ProcessGroups.of(full, "parent").join(0, 2)) {
                assertThatThrownBy(() -> group.subgroup(0, 1)).hasMessage("no room for group.parent.sub1");
                assertThat(List.of(Gang.await(other))).containsExactly("heard it");
            }
        }
    }
}
