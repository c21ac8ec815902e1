package dev.larder.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class UsageSamplerTest {
    private final Counters counters = Counters.unshared();
    private List<VersionUse> versions = List.of();
    private final UsageSampler sampler = new UsageSampler(counters, () -> versions);

    private static VersionUse read(String dataset, long bytes, Long... pids) {
        return new VersionUse(dataset, 1, bytes, false, false, pids.length > 0, List.of(pids));
    }

    @Test
    void bytesAreSummedByHowVersionsAreUsed() {
        versions = List.of(
                new VersionUse("a", 2, 1, false, true, false, List.of()),
                new VersionUse("a", 1, 10, true, false, true, List.of(5L)),
                new VersionUse("b", 1, 100, false, false, true, List.of())); // by somebody in another pid namespace

        sampler.sample();

        assertThat(counters.value(Counter.RESIDENT_BYTES)).isEqualTo(101);
        assertThat(counters.value(Counter.RETIRED_BYTES)).isEqualTo(10);
        assertThat(counters.value(Counter.PINNED_BYTES)).isEqualTo(1);
        assertThat(counters.value(Counter.LEASED_BYTES)).isEqualTo(110);
    }

    @Test
    void aProcessCountsOnceAsAClientWhateverItReads() {
        versions = List.of(read("a", 1, 5L, 6L), read("b", 1, 5L));

        sampler.sample();

        assertThat(counters.value(Counter.CLIENTS)).isEqualTo(2);
    }

    @Test
    void anOpenIsSampledWhenAProcessIsNewlySeenWithAVersion() {
        versions = List.of(read("a", 1, 5L));
        sampler.sample();
        sampler.sample();
        assertThat(counters.value(Counter.SAMPLED_OPENS)).isEqualTo(1);

        versions = List.of(read("a", 1, 5L, 6L), read("b", 1, 5L));
        sampler.sample();
        assertThat(counters.value(Counter.SAMPLED_OPENS)).isEqualTo(3);

        versions = List.of(read("a", 1));
        sampler.sample();
        versions = List.of(read("a", 1, 5L));
        sampler.sample();
        assertThat(counters.value(Counter.SAMPLED_OPENS)).isEqualTo(4);
    }
}
