package dev.larder.server.store;

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
}
