package dev.larder.loader.internal.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.HostMemory;
import java.nio.ByteBuffer;
import java.util.Map;
import org.agrona.BufferUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PageLockingTest {
    private static final int CHUNK = 8192;
    private static final int SOME_LONG = 20_000;

    private final FakeCudaDriver driver = new FakeCudaDriver();

    private PageLocking open(String... rank) {
        return PageLocking.open(driver, rank.length == 0 ? Map.of() : Map.of("LOCAL_RANK", rank[0]), CHUNK);
    }

    @Test
    void memoryIsLockedInChunksAndUnlockedTheLastFirstAndTheContextIsLeftLast() {
        HostMemory memory = open().allocate(SOME_LONG);

        assertThat(driver.locked.keySet().iterator().next()).isEqualTo(BufferUtil.address(memory.bytes()));
        memory.close();

        assertThat(driver.calls)
                .containsExactly(
                        "init",
                        "retain 0",
                        "lock 8192 flags=1",
                        "lock 8192 flags=1",
                        "lock 3616 flags=1",
                        "unlock 3616",
                        "unlock 8192",
                        "unlock 8192",
                        "release 0");
        assertThat(driver.isLeft()).isTrue();
    }

    @Test
    void memoryBeginsOnAPageAndIsZeroAndCanBeReadWhenItIsClosed() {
        HostMemory memory = open().allocate(SOME_LONG);
        ByteBuffer bytes = memory.bytes().put(SOME_LONG - 1, (byte) 7);

        memory.close();
        memory.close();

        assertThat(BufferUtil.address(bytes) % HostMemory.ALIGNMENT).isZero();
        assertThat(bytes.capacity()).isEqualTo(SOME_LONG);
        assertThat(bytes.get(0)).isZero();
        assertThat(bytes.get(SOME_LONG - 1)).isEqualTo((byte) 7);
    }

    @Test
    void theContextIsKeptFromTheFirstMemoryToTheLast() {
        PageLocking locking = open();
        HostMemory first = locking.allocate(1);
        HostMemory second = locking.allocate(1);

        first.close();
        assertThat(driver.retained).isEqualTo(1);
        second.close();
        assertThat(driver.retained).isZero();

        locking.allocate(1).close();
        assertThat(driver.calls).filteredOn("retain 0"::equals).hasSize(2);
        assertThat(driver.isLeft()).isTrue();
    }

    @Test
    void memoryOfNoBytesLocksNothing() {
        open().allocate(0).close();

        assertThat(driver.calls).containsExactly("init", "retain 0", "release 0");
    }

    @ParameterizedTest
    @CsvSource({"-1, 0", "0, 0", "1, 1", "4, 1", "x, 0", "12345678901, 0"})
    void theRankChoosesAmongTheDevices(String rank, int device) {
        driver.devices = 3;

        open(rank).allocate(1).close();

        assertThat(driver.calls).contains("retain " + device);
    }

    @Test
    void theDeviceThatTheThreadWorksWithComesBeforeTheRank() {
        driver.devices = 3;
        driver.current = 2;

        open("1").allocate(1).close();

        assertThat(driver.calls).contains("retain 2", "release 2");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aFailureHalfWayUndoesWhatWasDone(int time) {
        driver.failing("lock", time, CudaCalls.OUT_OF_MEMORY);
        PageLocking locking = open();

        assertThatThrownBy(() -> locking.allocate(SOME_LONG))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                .hasMessageContaining("call=cuMemHostRegister error=2 CUDA_ERROR_2 bytes=20000")
                .hasMessageContaining("smaller batch");

        assertThat(driver.isLeft()).isTrue();
    }

    @Test
    void aFailureOfLaterMemoryLeavesEarlierMemoryLocked() {
        driver.failing("lock", 2, CudaCalls.OUT_OF_MEMORY);
        PageLocking locking = open();
        HostMemory first = locking.allocate(1);

        assertThatThrownBy(() -> locking.allocate(1)).isInstanceOf(LarderException.class);

        assertThat(driver.locked).hasSize(1);
        first.close();
        assertThat(driver.isLeft()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "init, 100, NOT_FOUND, $CUDA_VISIBLE_DEVICES",
        "init, 34, NOT_FOUND, the driver has the real library",
        "init, 999, UNEXPECTED, nvidia-smi",
        "retain, 2, NO_SPACE, remove pinMemory()",
        "lock, 801, REFUSED, remove pinMemory()",
        "lock, 700, UNEXPECTED, CUDA is unusable",
        "lock, 719, UNEXPECTED, CUDA is unusable",
        "lock, 712, UNEXPECTED, nvidia-smi"
    })
    void everyRefusalNamesTheCallTheErrorAndWhatToDo(String call, int result, ErrorCode code, String remedy) {
        driver.failing(call, 1, result);

        assertThatThrownBy(() -> open().allocate(1))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining("error=" + result + " CUDA_ERROR_" + result)
                .hasMessageContaining(remedy);
        assertThat(driver.isLeft()).isTrue();
    }

    @Test
    void noDeviceIsAFailureThatSaysWhatToLookAt() {
        driver.devices = 0;

        assertThatThrownBy(this::open)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("nvidia-smi");
    }

    @Test
    void memoryThatTheDriverDoesNotUnlockIsKeptWithItsContextForGood() {
        driver.failing("unlock", 1, 719);
        HostMemory memory = open().allocate(SOME_LONG);

        memory.close();
        memory.close();

        assertThat(driver.calls).endsWith("unlock 3616", "unlock 8192", "unlock 8192");
        assertThat(driver.retained).isEqualTo(1);
    }

    @Test
    void withoutTheLibraryThereIsARemedy() {
        assertThatThrownBy(() -> JnaCudaDriver.load("liblarder-has-none.so.1"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("library=liblarder-has-none.so.1")
                .hasMessageContaining("remove pinMemory()");
    }
}
