package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.Posix;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.Leases;
import dev.larder.testing.RefusingPosix;
import dev.larder.testing.StoreFixture;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What happens in a process that has as many mappings as the system allows it. */
class MappingFailureTest {
    private final AtomicInteger refusals = new AtomicInteger();
    private final List<Dataset> forgotten = new ArrayList<>();
    private StoreFixture fixture;

    @BeforeEach
    void publish() {
        fixture = StoreFixture.create();
        fixture.publish("d", Map.of("a", FixtureArray.ints(new int[] {1, 2, 3}, 3)));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void openingGoesOnOnceTheCollectorHasMadeRoom() {
        Posix posix = refusing("mapReadOnly");
        try (Dataset dataset = open(posix)) {
            refusals.set(2);

            assertThat(dataset.array("a").getInt(2)).isEqualTo(3);
            assertThat(refusals).hasValue(0);
        }
    }

    @Test
    void openingFailsWhereTheCollectorMakesNoRoom() {
        refusals.set(Integer.MAX_VALUE);

        assertThatThrownBy(() -> open(refusing("mapReadOnly")))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
        assertThat(Leases.isLeased(folder())).isFalse();
    }

    @Test
    void aDatasetWhoseMappingsCannotBeClosedIsClosedAllTheSame() {
        Dataset dataset = open(refusing("replaceWithZeros"));
        ArrayView view = dataset.array("a");
        refusals.set(3); // all attempts for one of its two mappings

        assertThatThrownBy(dataset::close).isInstanceOf(LarderException.class).hasMessage("no room");

        assertThat(refusals).hasValue(0);
        assertThat(forgotten).containsExactly(dataset);
        assertThat(view.isOpen()).isFalse();
        assertThat(Leases.isLeased(folder())).isFalse();
    }

    private Dataset open(Posix posix) {
        Lease lease = Objects.requireNonNull(Lease.tryTake(posix, folder()));
        return Dataset.open(posix, "d", folder(), lease, forgotten::add);
    }

    private Posix refusing(String call) {
        return RefusingPosix.refusing(call, refusals);
    }

    private Path folder() {
        return fixture.layout().version("d", 1);
    }
}
