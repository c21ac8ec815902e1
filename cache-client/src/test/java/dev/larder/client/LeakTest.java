package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.ChildJvm;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.Leases;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeakTest {
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

    /** A program that forgets a dataset while it keeps the larder, then waits for the lease to end by itself. */
    static final class ForgetfulReader {
        private ForgetfulReader() {}

        public static void main(String[] arguments) {
            try (Larder larder = Larder.connect(Path.of(arguments[0]))) {
                openAndForget(larder);
                awaitCollected(() -> !Leases.isLeased(Path.of(arguments[1])));
                System.out.println("free");
            }
        }

        private static void openAndForget(Larder larder) {
            if (larder.dataset("d").array("a").getInt(2) != 3) {
                throw new AssertionError();
            }
        }
    }

    @Test
    void aForgottenDatasetIsClosedByTheCollectorWithAWarningThatSaysWhereItWasOpened() {
        try (ChildJvm child =
                ChildJvm.start(ForgetfulReader.class, fixture.store().toString(), folder().toString())) {
            assertThat(child.awaitLine()).isEqualTo("free");

            assertThat(child.awaitExit()).isZero();
            assertThat(child.errors())
                    .contains("dataset was never closed: dataset=d")
                    .contains("opened here")
                    .contains("openAndForget");
        }
    }

    @Test
    void aViewThatIsInUseKeepsItsForgottenDatasetOpen() {
        try (Larder larder = Larder.connect(fixture.store())) {
            ArrayView view = larder.dataset("d").array("a");
            for (int i = 0; i < 20; i++) {
                System.gc();
                assertThat(view.getInt(2)).isEqualTo(3);
            }
            assertThat(Leases.isLeased(folder())).isTrue();
        }
        assertThat(Leases.isLeased(folder())).isFalse();
    }

    @Test
    void aBufferThatIsInUseKeepsItsForgottenDatasetOpenAndLetsItGoAfterwards() {
        try (Larder larder = Larder.connect(fixture.store())) {
            ByteBuffer slice = larder.dataset("d").array("a").byteBuffer(0, 3).slice(4, 8);
            for (int i = 0; i < 20; i++) {
                System.gc();
                assertThat((int) slice.get(0)).isEqualTo(2);
            }
            assertThat(Leases.isLeased(folder())).isTrue();
            slice = ByteBuffer.allocate(0);
            assertThat(slice.hasRemaining()).isFalse();
            awaitCollected(() -> !Leases.isLeased(folder()));
        }
    }

    @Test
    void addressesOfAClosedViewGoBackWhenNobodyCanReadThemAnyMore() {
        try (Larder larder = Larder.connect(fixture.store())) {
            ByteBuffer slice = closedSlice(larder);
            for (int i = 0; i < 20; i++) {
                System.gc();
                assertThat(slice.get(0)).isZero();
            }
        }
    }

    private static ByteBuffer closedSlice(Larder larder) {
        try (OwnedArrayView view = larder.open("d")) {
            ByteBuffer slice = view.byteBuffer(0, 3).slice(4, 8);
            assertThat((int) slice.get(0)).isEqualTo(2);
            return slice;
        }
    }

    @Test
    void thousandsOfViewsLeaveNoMappingBehind() {
        long before = mappings();
        for (int i = 0; i < 5_000; i++) {
            try (Larder larder = Larder.connect(fixture.store());
                    OwnedArrayView view = larder.open("d")) {
                assertThat(view.getInt(1)).isEqualTo(2);
            }
        }
        awaitCollected(() -> mappings() < before + 500);
    }

    private static long mappings() {
        try {
            return Files.readString(Path.of("/proc/self/maps")).lines().count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitCollected(Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
            System.gc();
            return condition.call();
        });
    }

    private Path folder() {
        return fixture.layout().version("d", 1);
    }
}
