package dev.larder.server.store.space;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MemoryNodesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0|{0}", "0-1|{0, 1}", "0,2-4,7|{0, 2, 3, 4, 7}", "''|{}", "63-65|{63, 64, 65}"})
    void theKernelsListsAreRead(String list, String nodes) {
        BitSet read = MemoryNodes.parse(list);

        assertThat(read).hasToString(nodes);
    }

    @ParameterizedTest
    @CsvSource({
        "5578a1733000 default file=/usr/bin/head mapped=2 N0=2 kernelpagesize_kB=4, false",
        "5578a1733000 bind:0 file=/usr/bin/head mapped=2, true",
        "7f0000000000 interleave:0-1 anon=1, true",
        "'', false"
    })
    void aPolicyOfTheCallersIsSeen(String mapping, boolean hasPolicy) {
        assertThat(MemoryNodes.hasPolicy(mapping)).isEqualTo(hasPolicy);
    }
}
