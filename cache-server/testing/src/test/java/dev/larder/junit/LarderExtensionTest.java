package dev.larder.junit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LarderExtension.class)
class LarderExtensionTest {
    private static final List<Path> EARLIER = new ArrayList<>();

    @BeforeEach
    void publish(TestStore store) {
        store.publish("d", Map.of("x", new int[] {7}));
    }

    @RepeatedTest(3)
    void eachTestHasAStoreOfItsOwnThatEndsWithIt(TestStore store, Larder larder) {
        assertThat(EARLIER).doesNotContain(store.path()).allSatisfy(path -> assertThat(path).doesNotExist());
        EARLIER.add(store.path());

        assertThat(larder.store()).isEqualTo(store.path());
        try (Dataset d = larder.dataset("d")) {
            assertThat(d.array("x").getInt(0)).isEqualTo(7);
            assertThat(d.version()).isEqualTo(1);
        }
    }

    @Nested
    class WithASetUpForAll {
        private static Path shared = Path.of("");

        @BeforeAll
        static void start(TestStore store) {
            shared = store.path();
        }

        @RepeatedTest(2)
        void allTestsOfTheClassShareTheStore(TestStore store) {
            assertThat(store.path()).isEqualTo(shared).exists();
        }
    }
}
